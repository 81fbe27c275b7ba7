"""AutoEngine: the arrays of an AutoLARC or Safeguard, and the compiled calls bound to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Self

import numpy as np

from localarc.engine.addresses import table_of
from localarc.engine.auto import layout, loops
from localarc.engine.auto.hats import JOINT, KIND_SHIFT
from localarc.engine.auto.restart import restart_units
from localarc.engine.auto.wealth import FRESH_BET
from localarc.engine.numba_tools import FLOAT, INTEGER, POINT, bind_state, strict_jit
from localarc.engine.step import check_shapes, require
from localarc.engine.tiles import FloatArray, IntArray

Arrays = tuple[Any, ...]
RATE = 0.6  # the step of offsets, in units of D(x), over sqrt(alpha (B - alpha))
LEVEL_SLOPE = 0.25  # level j learns 2^(-j/4) times as fast
GROUP_FACTOR = 0.5  # and a group half as fast
UNIT_PART = 1.5  # mean absolute deviations in a unit
_KEYS = POINT.copy(dtype=INTEGER)
_NOT_NEGATIVE = [
    *(layout.VISITS, layout.WEIGHT_PENDING, layout.MOST_WEIGHT, layout.LAST_ASKED),
    *(layout.UP_GAIN, layout.UP_COST, layout.UP_BET),
]
_SHARES = [layout.UP_SHARE, layout.DOWN_SHARE]


@dataclass(frozen=True)
class Rules:
    """What stays the same during a run."""

    alpha: float
    loss_bound: float = 1.0
    floor: float = -math.inf
    ceiling: float = math.inf
    two_sided: bool = True
    evenness: float = 1.0
    unit: float = 1.0
    initial_threshold: float = 0.0
    slots: int = 2**16
    own_base: bool = True

    @property
    def top(self) -> float:
        """The largest distance between a loss and the target."""
        return max(self.alpha, self.loss_bound - self.alpha)

    def numbers(self) -> dict[int, float]:
        """The settings, and the running sums that do not start at 0."""
        down, up = self.alpha, self.loss_bound - self.alpha
        return {
            layout.ALPHA: self.alpha,
            layout.BOUND: self.loss_bound,
            layout.TOP: self.top,
            layout.FLOOR: self.floor,
            layout.CEILING: self.ceiling,
            layout.TWO_SIDED: float(self.two_sided),
            layout.DROP_UP: down / self.top,
            layout.DROP_DOWN: up / self.top,
            layout.RATE: self.evenness * RATE / math.sqrt(down * up),
            layout.OWN_BASE: float(self.own_base),
            layout.MEAN: self.initial_threshold if self.own_base else 0.0,
            layout.UNIT: self.unit,
            layout.DEVIATION: self.unit / UNIT_PART,
            layout.STAKED: layout.STAKE_ALL,
            layout.AWAY: 1.0,
            layout.SMALLEST_UNIT: math.inf,
            layout.COSTLIEST: -math.inf,
        }


class AutoEngine:
    """Thresholds from bettors and a base, for inputs with a fixed number of features.

    `serve`, `tell` and `forget` are compiled calls that check nothing: callers pass float64 points
    of `dimensions` features, keys and weights of at most `groups` groups, and call `reserve` first.
    """

    def __init__(self, rules: Rules, dimensions: int, groups: int = 0, rows: int = 4) -> None:
        self.rules = rules
        self.dimensions = dimensions
        self._bind(_new_arrays(rules, dimensions, groups, rows))

    def _bind(self, arrays: Arrays) -> None:
        """Use these arrays from now on.

        Calls come first and assignments last, without a call in between: an interrupt must not
        leave a bound call with the addresses of arrays that are gone.
        """
        table = table_of(arrays)
        groups = arrays[4].shape[1] - 1 - layout.LEVELS * layout.hat_columns(self.dimensions)
        serve, tell, forget = (partial(entry, table) for entry in _entry_points())
        self.serve: Callable[..., float] = serve
        self.tell: Callable[..., bool] = tell
        self.forget: Callable[..., bool] = forget
        self._table, self.groups = table, groups
        self.numbers: FloatArray = arrays[0]
        self.keys: IntArray = arrays[2]
        self.nodes: FloatArray = arrays[3]
        self._arrays = arrays

    # ---- many rounds, each in one compiled call ----------------------------------------------

    def serve_many(
        self, mode: int, X: FloatArray, keys: IntArray, weights: FloatArray, given: FloatArray
    ) -> FloatArray:
        """Thresholds of rows; ASK issues tickets, for which there must be room."""
        thresholds = np.empty(len(X))
        none = np.empty(0)
        curves = none, none, np.empty(0, np.int64)
        _serve_many(self._table, mode, X, keys, weights, given, none, curves, thresholds, none)
        return thresholds

    def replay(
        self,
        X: FloatArray,
        keys: IntArray,
        weights: FloatArray,
        curves: Arrays,
        at_least: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known.

        Losses are those of the threshold, or of `at_least` where that is more.
        """
        thresholds, losses = np.empty((2, len(X)))
        own, least = np.full(len(X), np.nan), np.full(len(X), -np.inf)
        least = least if at_least is None else at_least
        step = loops.STEP
        _serve_many(self._table, step, X, keys, weights, own, least, curves, thresholds, losses)
        return thresholds, losses

    def tell_many(self, tickets: IntArray, losses: FloatArray, scores: FloatArray) -> int:
        """Losses of distinct tickets; or the position of one that is not pending, else -1."""
        return int(_tell_many(self._table, tickets, losses, scores))

    def forget_many(self, tickets: IntArray) -> int:
        """Distinct tickets without a loss; or the position of one that is not pending, else -1."""
        return int(_forget_many(self._table, tickets))

    # ---- room --------------------------------------------------------------------------------

    def reserve(self, groups: int, tickets: int) -> None:
        """Make room for so many groups per round, and so many more pending tickets."""
        rows = len(self._arrays[-1])
        needed = int(self.numbers[layout.PENDING]) + tickets + 1
        while rows < needed:
            rows *= 2
        if groups > self.groups or rows > len(self._arrays[-1]):
            self._bind(self._grown(max(groups, self.groups), rows))

    def _grown(self, groups: int, rows: int) -> Arrays:
        """The same state in larger arrays, which share nothing that is written here."""
        table = self.keys, self.nodes.copy()  # whose lists of pending rounds are built anew
        arrays = _new_arrays(self.rules, self.dimensions, groups, rows, *table)
        kept = layout.lasting(self.dimensions)
        arrays[0][:kept] = self.numbers[:kept]
        _place_tickets(arrays, self._pending())
        return arrays

    def _pending(self) -> tuple[Any, ...]:
        """The pending rows in order of prediction: slots, weights, late, tickets."""
        _, _, _, _, slots, weights, late, _, tickets = self._arrays
        rows = np.flatnonzero(tickets[1:, layout.NUMBER]) + 1
        rows = rows[np.argsort(tickets[rows, layout.NUMBER])]
        return slots[rows], weights[rows], late[rows], tickets[rows]

    def restart_units(self) -> None:
        """Forget where scores lie; the bettors and their sums go on. Nothing may be pending."""
        self._arrays[1][layout.PEEKED] = 0
        restart_units(self.numbers, self.keys, self.nodes, self.rules.numbers())

    # ---- what is known -----------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """How many nodes a round has, at most."""
        return int(self._arrays[4].shape[1])

    def node(self, key: int | None = None) -> FloatArray:
        """A copy of the node of a group that exists, or of the constant."""
        slot = len(self.keys) if key is None else _find_group(self._table, key)
        return self.nodes[slot].copy()  # type: ignore[no-any-return]

    def located(self) -> tuple[IntArray, FloatArray]:
        """Slots and weights of the nodes of the latest input that was peeked at."""
        return self._arrays[4][0].copy(), self._arrays[5][0].copy()

    def grid(self) -> FloatArray:
        """(3, d): origin, width and exponent of each feature's grid."""
        end = layout.GRID + 3 * self.dimensions
        return self.numbers[layout.GRID : end].reshape(3, -1)

    def inputs(self) -> FloatArray:
        """The inputs in the reservoir: a uniform sample of all so far."""
        count = min(int(self.numbers[layout.ASKED]), layout.INPUTS_KEPT)
        start = layout.GRID + 3 * self.dimensions
        kept = self.numbers[start : start + count * self.dimensions]
        return kept.reshape(count, self.dimensions).copy()

    @property
    def started(self) -> bool:
        """Whether a threshold went out."""
        return bool(self.numbers[layout.ISSUED] > 0.0)

    @property
    def last_decision(self) -> FloatArray:
        """A copy of what the last peek or step decided: base, unit, threshold; as in `layout`."""
        return self._arrays[-1][0].copy()  # type: ignore[no-any-return]

    def pending_tickets(self) -> FloatArray:
        """The tickets that are pending, in order of prediction; columns as in `layout`."""
        return self._pending()[3]  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """The size of all arrays in bytes."""
        return sum(int(array.nbytes) for array in self._arrays)

    # ---- state -------------------------------------------------------------------------------

    def copy(self) -> AutoEngine:
        """An engine that continues from here on its own."""
        new = AutoEngine.__new__(AutoEngine)
        new.__setstate__((self.rules, self.dimensions, tuple(a.copy() for a in self._arrays)))
        return new

    def __getstate__(self) -> tuple[Rules, int, Arrays]:
        return self.rules, self.dimensions, self._arrays  # compiled calls are bound again

    def __setstate__(self, state: tuple[Rules, int, Arrays]) -> None:
        self.rules, self.dimensions, arrays = state
        self._bind(arrays)

    def arrays(self) -> dict[str, Any]:
        """Everything needed to resume, bit for bit: used slots of the table, pending rounds."""
        used = np.flatnonzero(self.keys)
        slots, weights, late, tickets = self._pending()
        weights[slots < 0], late[slots < 0] = (
            0.0,
            0.0,
        )  # what an earlier round left in a row is not part of a state
        width = _used_width(slots, self.dimensions)
        kept = layout.lasting(self.dimensions)
        nodes = np.vstack([self.nodes[used], self.nodes[-1:]])
        nodes[:, layout.NEWEST] = 0.0  # follows from the tickets
        return {
            "numbers": self.numbers[:kept].copy(),
            "used": used,
            "keys": self.keys[used],
            "nodes": nodes,
            "pending_slots": slots[:, :width],
            "pending_weights": weights[:, :width],
            "pending_late": late[:, :width],
            "tickets": tickets,
        }

    def restore(self, arrays: Mapping[str, Any]) -> Self:
        """Load what `arrays` returned; rules and dimensions must be the same."""
        arrays = _with_totals(arrays)
        self._check(arrays)
        width = arrays["pending_slots"].shape[1]
        groups = width - 1 - layout.LEVELS * layout.hat_columns(self.dimensions)
        rows = 4
        while rows < len(arrays["tickets"]) + 2:
            rows *= 2
        new = _new_arrays(self.rules, self.dimensions, groups, rows)
        new[0][: len(arrays["numbers"])] = arrays["numbers"]
        new[2][arrays["used"]] = arrays["keys"]
        new[3][arrays["used"]], new[3][-1] = arrays["nodes"][:-1], arrays["nodes"][-1]
        require(bool(_is_sound(new[2])), "its table has keys that cannot be found")
        pending = (arrays["pending_slots"], arrays["pending_weights"], arrays["pending_late"])
        _place_tickets(new, (*pending, arrays["tickets"]))
        self._bind(new)
        return self

    def _check(self, arrays: Mapping[str, Any]) -> None:
        numbers, used, slots = arrays["numbers"], arrays["used"], arrays["pending_slots"]
        kept = layout.lasting(self.dimensions)
        require(slots.ndim == 2, "its pending rounds are not a table")
        count, pending, width = len(used), len(arrays["tickets"]), slots.shape[1]
        check_shapes(
            arrays,
            numbers=(kept,),
            keys=(count,),
            nodes=(count + 1, layout.COLUMNS),
            pending_slots=(pending, width),
            pending_weights=(pending, width),
            pending_late=(pending, width, layout.LATE),
            tickets=(pending, layout.TICKET),
        )
        hats = 1 + layout.LEVELS * layout.hat_columns(self.dimensions)
        require(hats <= width <= hats + 2**16, f"it has {width} nodes per round")
        size = self.rules.slots
        require(count < size, f"it has {count} nodes in a table of {size}")
        require(bool((np.diff(used) > 0).all()), "its slots are not ascending")
        require(count == 0 or bool(used[0] >= 0 and used[-1] < size), "its slots do not exist")
        require(bool((arrays["keys"] > 0).all()), "its keys are not positive")
        known = np.isin(slots, [*(-1, size), *used.tolist()])
        require(bool(known.all()), "its pending rounds name nodes that do not exist")
        issued = arrays["tickets"][:, layout.NUMBER]
        ascending = pending == 0 or bool(issued[0] >= 1 and (np.diff(issued) > 0).all())
        require(ascending, "its tickets are not in order")
        require(numbers[layout.PENDING] == pending, "it counts other pending rounds")
        require(pending == 0 or bool(issued[-1] <= numbers[layout.ISSUED]), "a ticket is too new")
        settings = _settings(self.rules)
        same = bool((numbers[: layout.SETTINGS] == settings).all())
        require(same, "it was made with other settings")
        self._check_values(arrays)

    def _check_values(self, arrays: Mapping[str, Any]) -> None:
        numbers, weights = arrays["numbers"], arrays["pending_weights"]
        finite = all(np.isfinite(arrays[name]).all() for name in ("nodes", "pending_late"))
        require(finite, "its sums are not finite")
        require(bool((arrays["nodes"][:, _NOT_NEGATIVE] >= 0.0).all()), "a node makes no sense")
        seen = arrays["pending_late"][:, :, layout.SEEN]
        require(bool((seen >= 0.0).all()), "a pending weight is < 0")
        tickets = arrays["tickets"]
        require(bool((tickets[:, layout.ITS_UNIT] > 0.0).all()), "a unit is not positive")
        for part in (weights, tickets[:, _SHARES]):
            require(bool(((part >= 0.0) & (part <= 1.0)).all()), "a share is not in [0, 1]")
        counts = numbers[[layout.ROUNDS, layout.ASKED, layout.ISSUED, layout.SCORES]]
        whole = bool((counts >= 0.0).all() and (counts == np.floor(counts)).all())
        require(whole and counts[0] <= counts[2], "its counts make no sense")
        total, most = numbers[layout.LOSS_SUM], self.rules.loss_bound * counts[0]
        require(bool(0.0 <= total <= most * (1.0 + 1e-9)), "its losses do not add up")
        require(bool(numbers[layout.LOWEST] <= numbers[layout.HIGHEST]), "its scores are reversed")
        require(bool(numbers[layout.UNIT] > 0.0), "its unit is not positive")
        kinds = (arrays["keys"] >> KIND_SHIFT) - 1
        nodes, joints = numbers[layout.NODES], numbers[layout.JOINTS]
        counted = nodes == len(kinds) and joints == int((kinds == JOINT).sum())
        require(bool(counted), "it counts other nodes")


@cache
def _entry_points() -> tuple[Callable[..., Any], ...]:
    """The compiled calls, not yet bound: the tables of all engines have the same type."""
    example = (np.zeros((9, 4), np.int64),)
    where = INTEGER, POINT, _KEYS, POINT, FLOAT, FLOAT, FLOAT, FLOAT
    bound = (
        bind_state(_serve, example, *where),
        bind_state(_tell, example, INTEGER, FLOAT, FLOAT),
        bind_state(_forget, example, INTEGER),
    )
    return tuple(call.func for call in bound)


def _with_totals(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state as it is stored now; once, rounds kept what had arrived instead of totals."""
    late = arrays["pending_late"]
    if late.ndim != 3 or late.shape[2] != 6:
        return arrays
    seen, left, sums = late[:, :, :1], late[:, :, 1:2], late[:, :, 2:]
    before = -np.concatenate([seen - left, sums], axis=2)  # since then, the totals are 0
    stored = np.concatenate([seen, before, np.zeros_like(before)], axis=2)
    return {**arrays, "pending_late": stored}


def _used_width(slots: IntArray, dimensions: int) -> int:
    """The columns that pending rounds use; room for more groups is not part of a state."""
    hats = 1 + layout.LEVELS * layout.hat_columns(dimensions)
    used = np.flatnonzero((slots >= 0).any(axis=0))
    return max(hats, int(used[-1]) + 1) if len(used) else hats


def _settings(rules: Rules) -> FloatArray:
    values = rules.numbers()
    return np.array([values[i] for i in range(layout.SETTINGS)])


def _new_arrays(
    rules: Rules,
    dimensions: int,
    groups: int,
    rows: int,
    keys: IntArray | None = None,
    nodes: FloatArray | None = None,
) -> Arrays:
    """The nine arrays, before the first round; with the table of another if one is given."""
    width = 1 + layout.LEVELS * layout.hat_columns(dimensions) + groups
    numbers = np.zeros(layout.numbers_length(dimensions, width))
    for index, value in rules.numbers().items():
        numbers[index] = value
    numbers[layout.GRID + dimensions : layout.GRID + 2 * dimensions] = np.inf  # no width yet
    start = layout.lasting(dimensions) + 2 * dimensions
    numbers[start : start + width] = _factors(dimensions, groups)
    integers = np.zeros(layout.integers_length(dimensions, groups), np.int64)
    integers[:2] = dimensions, width
    integers[layout.SALTS : layout.SALTS + dimensions] = _salts(dimensions)
    return (
        *(numbers, integers),
        np.zeros(rules.slots, np.int64) if keys is None else keys,
        _new_nodes(rules) if nodes is None else nodes,
        np.full((rows, width), -1, np.int64),
        np.zeros((rows, width)),
        np.zeros((rows, width, layout.LATE)),
        np.full((rows, width, 2), -1, np.int64),
        np.zeros((rows, layout.TICKET)),
    )


def _new_nodes(rules: Rules) -> FloatArray:
    """An empty table; its last row is the constant."""
    nodes = np.zeros((rules.slots + 1, layout.COLUMNS))
    half = 0.5 if rules.two_sided else 1.0
    nodes[-1, layout.UP_BET] = half * FRESH_BET
    nodes[-1, layout.DOWN_BET] = 0.5 * FRESH_BET if rules.two_sided else 0.0
    return nodes


def _factors(dimensions: int, groups: int) -> FloatArray:
    """How fast the node in each column learns: the constant, hats by level, groups."""
    slopes = 2.0 ** (-LEVEL_SLOPE * np.arange(layout.LEVELS))
    hats = np.repeat(slopes[:, None], layout.hat_columns(dimensions), axis=1)
    hats[:, dimensions + 1 :] /= max(dimensions, 1)
    return np.concatenate([[1.0], hats.ravel(), np.full(groups, GROUP_FACTOR)])


def _salts(dimensions: int) -> IntArray:
    """One odd multiplier per feature, for the keys of cells."""
    values = [0x9E3779B97F4A7C15 * (2 * i + 3) ** 5 % 2**64 | 1 for i in range(dimensions)]
    return np.array(values, np.uint64).view(np.int64)


def _place_tickets(arrays: Arrays, pending: tuple[Any, ...]) -> None:
    """Enter pending rounds, in order of prediction, into arrays with enough rows."""
    _, _, _, _, slots, weights, late, _, tickets = arrays
    rows = []
    for *columns, ticket in zip(*pending, strict=True):
        row = 1 + int(ticket[layout.NUMBER]) % (len(tickets) - 1)
        while tickets[row, layout.NUMBER]:
            row = 1 + row % (len(tickets) - 1)
        for target, values in zip((slots, weights, late), columns, strict=True):
            target[row, : len(values)] = values
        tickets[row] = ticket
        rows.append(row)
    _relink(table_of(arrays), np.array(rows, np.int64))


_serve: Any = strict_jit(loops.serve)
_tell: Any = strict_jit(loops.tell)
_forget: Any = strict_jit(loops.forget)
_serve_many: Any = strict_jit(loops.serve_many)
_tell_many: Any = strict_jit(loops.tell_many)
_forget_many: Any = strict_jit(loops.forget_many)
_relink: Any = strict_jit(loops.relink)
_find_group: Any = strict_jit(loops.find_group)
_is_sound: Any = strict_jit(loops.is_sound)
