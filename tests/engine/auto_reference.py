"""AutoLARC written out slowly: a dictionary of nodes, a list of pending rounds, no tricks.

The compiled engine must agree with it bit for bit, so sums are taken in the same order. Names are
those of the formulas: G and W of a bet, z = (L - alpha) / top, o for what was pending.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from oracle_constants import (
    BETS,
    COARSER,
    DEVIATIONS_PER_UNIT,
    ENOUGH_VISITS,
    FARTHEST_CELL,
    GRID_SHIFT,
    GROUP_FACTOR,
    HURRY,
    HYSTERESIS,
    INPUTS_KEPT,
    LARGEST_DEVIATION,
    LARGEST_TERM,
    LATE_BET,
    LATE_FACTOR,
    LATE_REACH,
    LEVEL_SLOPE,
    LEVELS,
    LONGER_MEMORY,
    LOOK_BACK,
    MEMORY,
    NEGLIGIBLE_WEIGHT,
    OFFSET_RATE,
    ONE_SIDED,
    OUTDATED,
    RANGE_PART,
    SMALLEST_PART,
    SQUARE,
    STAKE,
    STAKE_ALL,
    TINY_UNIT,
    VISITS_COUNTED,
    WARM,
)

INF = math.inf
MOST = math.log(LARGEST_TERM)  # of an exponent in a bet


@dataclass
class Side:
    """A bet: its gain G and cost W."""

    G: float = 0.0
    W: float = 0.0


@dataclass
class Node:
    """What is known at a node."""

    kind: str
    offset: float = 0.0
    visits: float = 0.0
    excess: float = 0.0
    pending: float = 0.0
    most: float = 0.0
    up: Side = field(default_factory=Side)
    down: Side = field(default_factory=Side)
    weight: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0
    clock: float = 0.0


@dataclass
class Late:
    """What was pending at a node when a round went out, and what of it has arrived."""

    o: float
    rem: float
    up: Side = field(default_factory=Side)
    down: Side = field(default_factory=Side)


@dataclass
class Pending:
    """A threshold that went out."""

    nodes: list[tuple[Any, float, float]]  # key, weight, factor of the learner
    late: list[Late]
    base: float
    unit: float
    floor: float
    lu: float
    ld: float
    threshold: float
    scores: int


def largest(most: float, rho: float) -> float:
    return 0.5 if most <= 0.0 else min(1.0, LATE_BET / rho) / (1.0 + most)


def exponential(v: float) -> float:
    if -1e-3 < v < 1e-3:
        return 1.0 + v * (1.0 + v * (0.5 + v * (1.0 / 6.0 + v / 24.0)))
    return math.exp(min(v, 500.0))


def wealth(side: Side, top: float) -> float:
    """(1/K) sum_k beta_k exp(beta_k G - beta_k^2 W), by doubling beta from 2^-K; or capped."""
    beta, total = 2.0**-BETS, 0.0
    best = min(top, 0.5 * side.G / side.W) if side.W else top
    if side.G > 2.0 * MOST and best * (side.G - best * side.W) > MOST:
        while beta <= top:
            total += beta * math.exp(min(beta * (side.G - beta * side.W), MOST))
            beta *= 2.0
        return total / BETS
    f = exponential(-beta * beta * side.W)
    p = exponential(beta * side.G) * f
    while beta <= top:
        total += beta * p
        f = f * f
        p = p * p * f
        f = f * f
        beta *= 2.0
    return total / BETS


def price(y: float, rho: float, late: Late, arrived: Side) -> float:
    """q: what a step y costs."""
    if late.o <= NEGLIGIBLE_WEIGHT:
        return SQUARE * y * y
    if y >= 0.0:
        return SQUARE * y * y + y * max(0.0, min(late.o, arrived.G + late.rem))
    behind = largest(late.o, rho) * arrived.W - arrived.G + LATE_REACH * rho * late.rem
    return LATE_FACTOR * abs(y) * (abs(y) + max(0.0, min(LATE_REACH * rho * late.o, behind)))


class Reference:
    """AutoLARC, one formula after the other."""

    def __init__(
        self,
        alpha: float,
        d: int,
        bound: float = 1.0,
        limits: tuple[float, float] = (-INF, INF),
        two: bool = True,
        start: float = 0.0,
    ) -> None:
        self.alpha, self.d, self.two, self.limits = alpha, d, two, limits
        self.bound, self.share, self.start = bound, alpha / bound, start
        self.top = max(alpha, bound - alpha)
        self.uninformed: list[float] = []  # losses of rounds that went out before anything
        self.rho = alpha / self.top, (bound - alpha) / self.top
        self.rate = OFFSET_RATE / math.sqrt(alpha * (bound - alpha))
        self.nodes: dict[Any, Node] = {"all": Node("all")}
        self.pending: list[Pending] = []
        self.first: list[float] = []
        self.lo = self.hi = 0.0
        self.mean, self.deviation, self.D, self.T = start, 1.0 / DEVIATIONS_PER_UNIT, 1.0, 0.0
        self.lean, self.away, self.scores, self.asked = 0.0, 1.0, 0, 0
        self.grid: list[tuple[float, float, int] | None] = [None] * d
        self.kept: list[Any] = []
        self.measured = False

    # ---- nodes -------------------------------------------------------------------------------

    def cell(self, x: Any, i: int, level: int) -> tuple[int, int, float]:
        """Scale, cell and fraction of feature i."""
        origin, width, exponent = self.grid[i] or (0.0, INF, 0)
        q = level - exponent
        y = (x[i] - origin) / width * 2.0**q + ((q + 64) * (i + 1) * GRID_SHIFT) % 1.0
        y = min(max(y, -FARTHEST_CELL), FARTHEST_CELL)
        return q, math.floor(y), y - math.floor(y)

    def hats(self, x: Any, make: bool) -> list[tuple[Any, float, float]]:
        found: list[tuple[Any, float, float]] = []
        may = True
        for level in range(LEVELS if self.measured else 0):
            factor = 2.0 ** (-LEVEL_SLOPE * level)
            known = [i for i in range(self.d) if not math.isnan(x[i])]
            cells = {i: self.cell(x, i, level) for i in known}
            if len(known) == self.d and self.d > 0:
                joint, may = self.corners(cells, level, may, make)
                found += [(key, weight, factor) for key, weight in joint]
            if self.d > 1:
                for i in known:
                    q, cell, fraction = cells[i]
                    for side, weight in enumerate((1.0 - fraction, fraction)):
                        key = "single", i, q, cell + side
                        if weight > 0.0:
                            self.touch(key, "single", make)
                            found.append((key, weight, factor / self.d))
        return found

    def corners(self, cells: Any, level: int, may: bool, make: bool) -> tuple[Any, bool]:
        """The corners of Kuhn's simplex, and whether finer ones may be made."""
        order = sorted(range(self.d), key=lambda i: -cells[i][2])
        corner = [cells[i][1] for i in range(self.d)]
        scales = tuple(cells[i][0] for i in range(self.d))
        found, last, most, visits = [], 1.0, 0.0, 0.0
        for k in range(self.d + 1):
            weight = last - (cells[order[k]][2] if k < self.d else 0.0)
            last -= weight
            key = "joint", level, scales, tuple(corner)
            if weight > 0.0 and (may or key in self.nodes):
                self.touch(key, "joint", make)
                found.append((key, weight))
            if weight > most:
                most, visits = weight, self.nodes[key].visits if key in self.nodes else 0.0
            if k < self.d:
                corner[order[k]] += 1
        return found, visits >= ENOUGH_VISITS

    def touch(self, key: Any, kind: str, make: bool) -> None:
        if make and key not in self.nodes:
            self.nodes[key] = Node(kind)

    def locate(self, x: Any, groups: list[tuple[Any, float]], make: bool) -> Any:
        found = [("all", 1.0, 1.0), *self.hats(x, make)]
        for label, weight in groups:
            self.touch(("group", label), "group", make)
            found.append((("group", label), weight, GROUP_FACTOR))
        return found

    def bets_down(self, node: Node) -> bool:
        return self.two and node.kind in ("all", "group")

    # ---- the base ----------------------------------------------------------------------------

    def memory(self) -> float:
        return MEMORY + LONGER_MEMORY * len(self.pending)

    def joints(self, located: Any) -> list[list[tuple[Node, float]]]:
        """The joint hats of a round, level by level."""
        levels: list[list[tuple[Node, float]]] = [[] for _ in range(LEVELS)]
        for key, weight, _ in located:
            if key[0] == "joint" and key in self.nodes:
                levels[key[1]].append((self.nodes[key], weight))
        return levels

    def faded(self, node: Node) -> float:
        return node.weight * math.exp((node.clock - self.T) / self.memory())

    def local(self, located: Any) -> tuple[float, float]:
        mean, deviation = self.mean, self.deviation
        for level in self.joints(located):
            total = means = deviations = 0.0
            for node, weight in level:
                total += weight * self.faded(node)
                means += weight * self.faded(node) * node.mean
                deviations += weight * self.faded(node) * node.deviation
            if total > 0.0:
                mean += (means - total * mean) / (total + COARSER)
                deviation += (deviations - total * deviation) / (total + COARSER)
        return mean, max(DEVIATIONS_PER_UNIT * deviation, SMALLEST_PART * self.D)

    def base(self, located: Any) -> tuple[float, float, float, float]:
        mean, unit = self.local(located)
        offset = 0.0
        for key, weight, _ in located:
            if key in self.nodes:
                offset += weight * self.nodes[key].offset
        free = base = mean + unit * offset
        if self.scores:
            if self.scores < WARM:
                rank = min(math.ceil((1.0 - self.share) * (self.scores + 1)), self.scores)
                free = sorted(self.first)[rank - 1]
            base = min(max(free, self.lo), self.hi)
        return mean, unit, free, min(max(base, self.limits[0]), self.limits[1])

    # ---- a round -----------------------------------------------------------------------------

    def restricted(self, node: Node) -> float:
        """The most that was ever pending at a node, if a threshold goes out now."""
        if node.pending > NEGLIGIBLE_WEIGHT and node.pending > node.most:
            return max(node.pending, 2.0 ** math.ceil(math.log2(node.pending + 1.0)) - 1.0)
        return node.most

    def bets(self, located: Any) -> tuple[float, float]:
        up = down = 0.0
        for key, weight, _ in located:
            kind = key if key == "all" else key[0]
            node = self.nodes.get(key) or Node(kind)
            most, half = self.restricted(node), 0.5 if self.two else 1.0
            share = STAKE_ALL if key == "all" else STAKE * weight
            up += share * (half * wealth(node.up, largest(most, self.rho[0])))
            if self.bets_down(node):
                down += share * (0.5 * wealth(node.down, largest(most, self.rho[1])))
        return up, down

    def knows_enough(self) -> bool:
        """Whether there is anything that a base could follow from."""
        if self.start < INF or self.scores >= WARM:
            return True
        if not self.scores:
            return self.mean < INF
        return math.ceil((1.0 - self.share) * (self.scores + 1)) <= self.scores

    def threshold(self, x: Any, groups: Any = ()) -> float:
        return self.predict(self.locate(x, list(groups), make=False)).threshold

    def predict(self, located: Any) -> Pending:
        if not self.knows_enough():
            full = self.limits[1]
            return Pending([], [], full, self.D, full, 1.0, 1.0, full, self.scores)
        _, unit, _, base = self.base(located)
        up, down = self.bets(located)
        floor, lu, ld = self.floor(base), 1.0, 1.0
        g = base + unit * (up - down)
        if g < floor:
            g, ld = floor, min(max((base + unit * up - floor) / (unit * down), 0.0), 1.0)
        elif g > self.limits[1]:
            ceiling = self.limits[1]
            g, lu = ceiling, min(max((ceiling - base + unit * down) / (unit * up), 0.0), 1.0)
        return Pending(located, [], base, unit, floor, lu, ld, g, self.scores)

    def floor(self, base: float) -> float:
        if not self.two or self.limits[0] > -INF:
            return self.limits[0]
        return 2.0 * self.lo - self.hi if self.scores else base

    def ask(self, x: Any, groups: Any = ()) -> Pending:
        located = self.locate(x, list(groups), make=True) if self.knows_enough() else []
        for key, _, _ in located:
            self.nodes[key].most = self.restricted(self.nodes[key])
        made = self.predict(located)
        for key, weight, _ in made.nodes:
            node = self.nodes[key]
            made.late.append(Late(node.pending, node.pending))
            node.pending += weight
        self.pending.append(made)
        self.measure(x)
        return made

    def tell(self, told: Pending, loss: float, score: float) -> None:
        at = next(i for i, other in enumerate(self.pending) if other is told)
        later = self.pending[at + 1 :]
        del self.pending[at]
        mean, unit, free, base = self.base(told.nodes)
        self.settle(told, (loss - self.alpha) / self.top, later)
        if not told.nodes:
            self.uninformed.append(loss)
        anchored = 0 < self.scores < WARM
        if anchored:
            self.nodes["all"].offset = (free - mean) / unit
        outdated = self.scores >= WARM and told.scores < max(WARM, OUTDATED * self.scores)
        if outdated and math.isfinite(score):
            constant = self.nodes["all"]
            now = free if told.nodes else mean + unit * constant.offset
            excess = (self.bound if score > now else 0.0) - self.alpha
            constant.offset += self.rate * excess / math.sqrt(self.scores)
        if not outdated:
            self.learn(told, mean, unit, free, base, loss - self.alpha)
        if math.isfinite(score):
            for level in self.joints(told.nodes):
                for node, weight in level:
                    node.weight = self.faded(node) + weight
                    node.clock = self.T
                    share = weight / node.weight
                    node.mean += share * (score - node.mean)
                    node.deviation += share * (abs(score - mean) - node.deviation)
        self.note(score, mean, unit)

    def forget(self, told: Pending) -> None:
        at = next(i for i, other in enumerate(self.pending) if other is told)
        later = self.pending[at + 1 :]
        del self.pending[at]
        for key, weight, _ in told.nodes:
            self.release(self.nodes[key], weight)
            self.inform(later, key, weight, Side(), Side())

    def release(self, node: Node, weight: float) -> None:
        node.pending = node.pending - weight if node.pending - weight >= NEGLIGIBLE_WEIGHT else 0.0

    def settle(self, told: Pending, z: float, later: list[Pending]) -> None:
        for (key, weight, _), late in zip(told.nodes, told.late, strict=True):
            node = self.nodes[key]
            self.release(node, weight)
            node.visits += weight
            node.excess += z * weight
            y = told.lu * z * weight
            up, down = Side(y, price(y, self.rho[0], late, late.up)), Side()
            node.up = Side(node.up.G + up.G, node.up.W + up.W)
            if node.up.G < 0.0:
                node.up = Side()
            if self.bets_down(node):
                y = -told.ld * z * weight
                down = Side(y, price(y, self.rho[1], late, late.down))
                node.down = Side(node.down.G + down.G, node.down.W + down.W)
            self.inform(later, key, weight, up, down)

    def inform(self, later: list[Pending], key: Any, weight: float, up: Side, down: Side) -> None:
        for other in later:
            for (name, _, _), late in zip(other.nodes, other.late, strict=True):
                if name == key:
                    late.rem = max(0.0, late.rem - weight)
                    late.up = Side(late.up.G + up.G, late.up.W + up.W)
                    late.down = Side(late.down.G + down.G, late.down.W + down.W)

    def learn(
        self, told: Pending, mean: float, unit: float, free: float, base: float, excess: float
    ) -> None:
        step = self.rate * excess
        bottomless = not self.scores and self.limits[0] == -INF
        if (free > base and excess > 0.0) or (excess < 0.0 and (free < base or bottomless)):
            step = 0.0
        for (key, weight, factor), late in zip(told.nodes, told.late, strict=True):
            node, o = self.nodes[key], 1.0 + late.o
            visits = (0.0 if key == "all" else 1.0) + min(node.visits, VISITS_COUNTED * o)
            node.offset += step * factor * weight / math.sqrt(visits) / o

    def note(self, score: float, mean: float, unit: float) -> None:
        pace = 1.0
        if math.isfinite(score) and self.scores >= WARM:
            r = min(max((score - mean) / unit, -LARGEST_DEVIATION), LARGEST_DEVIATION)
            share = LOOK_BACK / (1.0 + len(self.pending))
            self.lean += share * (r - self.lean)
            self.away += share * (abs(r) - self.away)
            pace = HURRY if abs(self.lean) > ONE_SIDED * self.away else 1.0
        self.T += pace
        if math.isnan(score) and self.mean == INF:
            self.mean = 0.0
        if not math.isfinite(score):
            return
        if not self.scores:
            self.mean = self.lo = self.hi = score
        if self.scores < WARM:
            self.first.append(score)
        share = max(1.0 / (self.scores + 1.0), pace / self.memory())
        self.deviation += share * (abs(score - self.mean) - self.deviation)
        self.mean += share * (score - self.mean)
        self.lo, self.hi, self.scores = min(self.lo, score), max(self.hi, score), self.scores + 1
        self.D = max(DEVIATIONS_PER_UNIT * self.deviation, (self.hi - self.lo) / RANGE_PART)
        if self.D < TINY_UNIT:
            self.D = abs(score) if abs(score) > TINY_UNIT else 1.0

    # ---- units of features -------------------------------------------------------------------

    def measure(self, x: Any) -> None:
        t = self.asked
        row = t
        if t >= INPUTS_KEPT:
            r = t * 0x9E3779B97F4A7C15 % 2**64
            r = (r ^ (r >> 31)) * 0xBF58476D1CE4E5B9 % 2**64
            row = (r ^ (r >> 29)) % (t + 1)
        if row < len(self.kept):
            self.kept[row] = list(x)
        elif row < INPUTS_KEPT:
            self.kept.append(list(x))
        self.asked = t = t + 1
        if t >= WARM and t & (t - 1) == 0:
            self.measured = True
            for i in range(self.d):
                self.set_grid(i, sorted(v[i] for v in self.kept if not math.isnan(v[i])))

    def set_grid(self, i: int, values: list[float]) -> None:
        if not values:
            return
        tail = (len(values) - 1) // 10
        low, high = values[tail], values[-1 - tail]
        width, origin = 1.25 * (high - low), low - 0.125 * (high - low)
        if width <= 0.0:
            width, origin = values[-1] - values[0], values[0]
        grid = self.grid[i]
        if width > 0.0 and grid is None:
            self.grid[i] = origin, width, 0
        elif width > 0.0 and grid is not None:
            octaves = math.log2(width / grid[1])
            if abs(octaves - grid[2]) > HYSTERESIS:
                self.grid[i] = grid[0], grid[1], round(octaves)
