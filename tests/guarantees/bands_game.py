"""Bands beside theorem E: one instance with a single node for every series, step and level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from guarantees import verdict_oracle
from guarantees.oracle_checks import close, judgements
from guarantees.theorem_e_oracle import ALL, DOWN, UP, Play, Round, Rules, TheoremE
from guarantees.verdict_oracle import Seen
from localarc.forecasting import Bands, certificate
from localarc.forecasting.rounds import Rounds

Cell = tuple[str, int]


@dataclass(frozen=True)
class Forecasts:
    """A random stream of forecasts."""

    names: tuple[str, ...] = ("north", "South")
    horizon: int = 2
    coverage: tuple[float, ...] = (0.5, 0.8)
    rounds: int = 120
    seen: float = 1.0  # the share of outcomes that arrive each round
    spread: float = 1.0  # of the second series beside the first
    adverse: float = 0.0
    exact: float = 0.0  # the share of forecasts that come true: bands cannot be narrower
    seed: int = 7


@dataclass
class Open:
    """A forecast that waits for its outcome: by level its round, and the ends of its band."""

    cell: Cell
    number: int
    rounds: list[Round]
    ends: list[tuple[float, float]]


@dataclass
class BandsGame:
    """The same forecasts for bands and for theorem E."""

    stream: Forecasts
    patch: pytest.MonkeyPatch
    open: dict[tuple[str, int], list[Open]] = field(default_factory=dict)  # by series and time
    misses: dict[tuple[Cell, int], list[float]] = field(default_factory=dict)
    sizes: dict[int, list[tuple[str, float, float]]] = field(default_factory=dict)  # by level

    def __post_init__(self) -> None:
        stream = self.stream
        self.bands = Bands(list(stream.coverage), stream.horizon)
        self.random = np.random.default_rng(stream.seed)
        self.alphas = [1.0 - level for level in stream.coverage]
        self.cells = [(name, step) for name in stream.names for step in range(stream.horizon)]
        self.theorems = {
            (cell, level): TheoremE(Rules(alpha, cap=math.exp(300.0)))
            for cell in self.cells
            for level, alpha in enumerate(self.alphas)
        }
        self.issued = 0
        self.bets: Any = None
        ask = Rounds.ask

        def spy(rounds: Rounds, places: Any, floor: Any) -> Any:
            made = ask(rounds, places, floor)
            self.bets = rounds._open["bet"][made[0]].copy()
            return made

        self.patch.setattr(Rounds, "ask", spy)

    def play(self) -> BandsGame:
        for t in range(self.stream.rounds):
            self.predict(t)
            self.observe(t)
            if t % 40 == 17:
                self.bands.expire(t - 6)
                for key in [key for key in self.open if key[1] < t - 6]:
                    self.expire(key)
                self.check()
        self.check()
        return self

    def predict(self, t: int) -> None:
        rows = [(name, t + step) for name, step in self.cells]
        frame = pd.DataFrame(rows, columns=["unique_id", "ds"]).assign(yhat=0.0)
        out = self.bands.predict(frame)
        names = [(f"lo-{100 * c:g}", f"hi-{100 * c:g}") for c in self.stream.coverage]
        for i, cell in enumerate(self.cells):
            rounds = [
                self.sent(self.theorems[cell, level], float(self.bets[i, level]))
                for level in range(len(self.alphas))
            ]
            ends = [(float(out[low][i]), float(out[high][i])) for low, high in names]
            self.issued += 1
            made = Open(cell, self.issued, rounds, ends)
            self.open.setdefault((cell[0], t + cell[1]), []).append(made)

    @staticmethod
    def sent(theorem: TheoremE, bet: float) -> Round:
        """A bet that was played: all of it, or less of its down side at a floor."""
        free = theorem.play_above(-math.inf, {ALL: 1.0}, 0.0, 1.0)
        if bet == pytest.approx(free.threshold, rel=1e-9, abs=1e-13):  # nothing is squared here
            return theorem.ask({ALL: 1.0}, free)
        assert bet > free.threshold
        held = theorem.play_above(bet, {ALL: 1.0}, 0.0, 1.0)
        return theorem.ask({ALL: 1.0}, Play(0.0, 1.0, bet, bet, ld=held.ld))

    def observe(self, t: int) -> None:
        known = [
            key for key in self.open if key[1] <= t and self.random.random() < self.stream.seen
        ]
        if not known:
            return
        values = [self.outcome(*key) for key in known]
        rows = [(name, time, y) for (name, time), y in zip(known, values, strict=True)]
        frame = pd.DataFrame(rows, columns=["unique_id", "ds", "y"]).sample(frac=1, random_state=t)
        self.bands.observe(frame)
        told = [
            (key[1], made.number, made, y)
            for key, y in zip(known, values, strict=True)
            for made in self.open.pop(key)
        ]
        for _, _, made, y in sorted(told, key=lambda row: row[:2]):
            for level in range(len(self.alphas)):
                self.tell(made, level, y)

    def tell(self, made: Open, level: int, y: float) -> None:
        """Of a band that is unbounded, because nothing was known, nobody learns."""
        low, high = made.ends[level]
        miss = float(y > high or y < low)
        if math.isinf(high):
            self.theorems[made.cell, level].forget(made.rounds[level])
            return
        self.theorems[made.cell, level].tell(made.rounds[level], miss)
        self.misses.setdefault((made.cell, level), []).append(miss)
        self.sizes.setdefault(level, []).append((made.cell[0], abs(y), high))  # around 0

    def expire(self, key: tuple[str, int]) -> None:
        for made in self.open.pop(key):
            for level, sent in enumerate(made.rounds):
                self.theorems[made.cell, level].forget(sent)

    def outcome(self, name: str, time: int) -> float:
        """Never at an end of a band: ties are for other tests."""
        size = self.stream.spread if name == self.stream.names[-1] else 1.0
        highest = max(high for made in self.open[name, time] for _, high in made.ends)
        attacked = name == self.stream.names[-1] and self.random.random() < self.stream.adverse
        if attacked and highest < math.inf:
            return 1e-6 + 1.01 * highest
        if self.random.random() < self.stream.exact:
            return 0.0
        return float(size * self.random.normal())

    # ---- what is said ------------------------------------------------------------------------

    def check(self) -> None:
        for level, coverage in enumerate(self.stream.coverage):
            found = self.bands.certificate(coverage)
            self.check_node(found, self.cells, level)
            assert {*found.series} == {*self.stream.names}
            for name, part in found.series.items():
                self.check_node(part, [cell for cell in self.cells if cell[0] == name], level)
            several = self.stream.horizon > 1
            assert {*found.steps} == ({*range(1, self.stream.horizon + 1)} if several else set())
            for step, part in found.steps.items():
                self.check_node(part, [cell for cell in self.cells if cell[1] == step - 1], level)
            assert found.coverage == pytest.approx(coverage)
            assert found.pending == sum(map(len, self.open.values()))
            self.check_verdict(found, level)

    def check_node(self, node: Any, cells: Sequence[Cell], level: int) -> None:
        alpha = self.alphas[level]
        theorems = [self.theorems[cell, level] for cell in cells]
        misses = [miss for cell in cells for miss in self.misses.get((cell, level), [])]
        rounds, top = len(misses), max(alpha, 1.0 - alpha)
        assert (node.rounds, node.alpha) == (rounds, alpha)
        assert node.above.holds == node.below.holds == (rounds > 0)
        assert (node.above.side, node.below.side) == ("above", "below")
        if not rounds:
            assert math.isnan(node.risk)
            assert node.above.value == node.below.value == math.inf
            return
        assert node.risk == close(sum(misses) / rounds)
        assert node.excess == close(sum(misses) - alpha * rounds)
        assert node.worst_stretch == close(sum(t.at(ALL).worst_stretch for t in theorems))
        above = below = 0.0
        for theorem in theorems:
            seen = theorem.weight(ALL)
            up = theorem.gain(ALL, UP, theorem.won)
            down = theorem.gain(ALL, DOWN, theorem.won) + theorem.lost(DOWN)
            above += min(top * up, seen * (1.0 - alpha))
            below += min(top * down, seen * alpha)
        assert node.above.value == close(above / rounds)
        assert node.below.value == close(below / rounds)

    def check_verdict(self, found: Any, level: int) -> None:
        """The state, and the parts of which it is made: no path counts as several rounds."""
        most = max(self.theorems[cell, level].most[ALL] for cell in self.cells)
        independent = found.rounds / max(self.stream.horizon, 1.0 + most)
        assert found.times == pytest.approx(independent)
        share = independent / found.rounds if found.rounds else 1.0
        several = len(found.series) > 1
        parts = [Seen(share * p.rounds, p.risk) for p in found.series.values() if several]
        bound = found.bound.value if found.bound.holds else None
        rounds = math.ceil(independent)
        ratio = verdict_oracle.size_ratio(self.sizes.get(level, []), found.alpha)
        assert found.size_ratio == pytest.approx(ratio, nan_ok=True)
        expected = verdict_oracle.state(
            found.alpha, found.risk, rounds, bound, parts, size_ratio=ratio
        )
        (judged,) = judgements(self.patch, certificate, lambda: found.verdict)
        assert found.verdict.state == expected
        assert [p.rounds for p in judged["parts"]] == pytest.approx([p.rounds for p in parts])
        assert judged["bound"] == bound
