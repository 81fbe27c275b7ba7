"""AutoEngine: the arrays of an AutoLARC or Safeguard, and the compiled calls bound to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localarc.betting.compiled.pending import Pending, gathered, place
from localarc.betting.compiled.wealth import FRESH_BET
from localarc.constants import (
    DEVIATIONS_PER_UNIT,
    GROUP_FACTOR,
    INPUTS_KEPT,
    LEVEL_SLOPE,
    LEVELS,
    OFFSET_RATE,
    STAKE_ALL,
)
from localarc.engine.addresses import table_of
from localarc.engine.auto import layout, loops, stored
from localarc.engine.auto.base import too_little_known
from localarc.engine.auto.restart import restart_units
from localarc.engine.numba_tools import FLOAT, INTEGER, POINT, bind_state, strict_jit
from localarc.engine.step import require
from localarc.engine.tiles import FloatArray, IntArray

Arrays = tuple[Any, ...]
_KEYS = POINT.copy(dtype=INTEGER)


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
            layout.RATE: self.evenness * OFFSET_RATE / math.sqrt(down * up),
            layout.OWN_BASE: float(self.own_base),
            layout.START: self.initial_threshold if self.own_base else 0.0,
            layout.MEAN: self.initial_threshold if self.own_base else 0.0,
            layout.UNIT: self.unit,
            layout.DEVIATION: self.unit / DEVIATIONS_PER_UNIT,
            layout.STAKED: STAKE_ALL,
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
        groups = len(arrays[4]) - 1 - LEVELS * layout.hat_columns(self.dimensions)
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
        out: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds, in `out` if it is given, and losses of rounds whose curves are known.

        Losses are those of the threshold, or of `at_least` where that is more.
        """
        thresholds, losses = np.empty((2, len(X)))
        thresholds = thresholds if out is None else out
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

    def reserve(self, groups: int, tickets: int) -> bool:
        """Make room for `groups` per round and `tickets` more tickets; return whether it grew."""
        _, _, _, _, slots, _, _, rows, _, links, _ = self._arrays
        most = max(groups, self.groups)
        needed = int(self.numbers[layout.PENDING]) + tickets + 1
        used = int(links[0, layout.USED]) + 1
        entries = used + tickets * (len(slots) - self.groups + most)
        if groups <= self.groups and needed <= len(rows) and entries <= len(links):
            return False
        self._bind(self._grown(most, _doubled(len(rows), needed), _doubled(len(links), entries)))
        return True

    def _grown(self, groups: int, rows: int, entries: int) -> Arrays:
        """The same state in larger arrays, which share nothing that is written here."""
        table = self.keys, self.nodes.copy()  # whose trees of pending rounds are built anew
        arrays = _new_arrays(self.rules, self.dimensions, groups, rows, entries, *table)
        kept = layout.lasting(self.dimensions)
        arrays[0][:kept] = self.numbers[:kept]
        place(arrays, self._pending())
        return arrays

    def _pending(self) -> Pending:
        """The pending rounds in order of prediction."""
        return gathered(self._arrays, self._rows())

    def _rows(self) -> IntArray:
        """The rows of pending tickets, in order of prediction."""
        numbers = self._arrays[7][1:, layout.NUMBER]
        rows = np.flatnonzero(numbers)
        return 1 + rows[np.argsort(numbers[rows])]

    def restart_units(self) -> None:
        """Forget where scores lie; the bettors and their sums go on. Nothing may be pending."""
        self._arrays[1][layout.PEEKED] = 0
        restart_units(self.numbers, self.keys, self.nodes, self.rules.numbers())

    # ---- what is known -----------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """How many nodes a round has, at most."""
        return len(self._arrays[4])

    def node(self, key: int | None = None) -> FloatArray:
        """A copy of the node of a group that exists, or of the constant."""
        slot = len(self.keys) if key is None else _find_group(self._table, key)
        return self.nodes[slot].copy()  # type: ignore[no-any-return]

    def located(self) -> tuple[IntArray, FloatArray]:
        """Slots and weights of the nodes of the latest input that was peeked at."""
        return self._arrays[4].copy(), self._arrays[5].copy()

    def grid(self) -> FloatArray:
        """(3, d): origin, width and exponent of each feature's grid."""
        end = layout.GRID + 3 * self.dimensions
        return self.numbers[layout.GRID : end].reshape(3, -1)

    def inputs(self) -> FloatArray:
        """The inputs in the reservoir: a uniform sample of all so far."""
        count = min(int(self.numbers[layout.ASKED]), INPUTS_KEPT)
        start = layout.GRID + 3 * self.dimensions
        kept = self.numbers[start : start + count * self.dimensions]
        return kept.reshape(count, self.dimensions).copy()

    @property
    def is_informed(self) -> bool:
        """Whether our own base follows from anything."""
        return not too_little_known(self.numbers)

    @property
    def started(self) -> bool:
        """Whether a threshold went out."""
        return bool(self.numbers[layout.ISSUED] > 0.0)

    @property
    def last_decision(self) -> FloatArray:
        """A copy of what the last peek or step decided: base, unit, threshold; as in `layout`."""
        return self._arrays[7][0].copy()  # type: ignore[no-any-return]

    def pending_tickets(self) -> FloatArray:
        """The tickets that are pending, in order of prediction; columns as in `layout`."""
        return self._arrays[7][self._rows()]  # type: ignore[no-any-return]

    @property
    def pending_bytes(self) -> int:
        """The size of what is known about pending rounds, in bytes."""
        entries = int(self._arrays[9][0, layout.USED]) * layout.ENTRY_BYTES
        return entries + int(self.numbers[layout.PENDING]) * 8 * (layout.TICKET + 1)

    @property
    def ticket_bytes(self) -> int:
        """The size of one more pending round, in bytes: at most, if all of its nodes exist.

        A round that goes out before enough is known is charged to no node.
        """
        charged = self.is_informed or not self.numbers[layout.OWN_BASE]
        return charged * self.columns * layout.ENTRY_BYTES + 8 * (layout.TICKET + 1)

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
        kept = layout.lasting(self.dimensions)
        nodes = np.vstack([self.nodes[used], self.nodes[-1:]])
        nodes[:, layout.NEWEST] = 0.0  # follows from the tickets
        return {
            "numbers": self.numbers[:kept].copy(),
            "used": used,
            "keys": self.keys[used],
            "nodes": nodes,
            **self._pending()._asdict(),
        }

    def restore(self, arrays: Mapping[str, Any]) -> Self:
        """Load what `arrays` returned; rules and dimensions must be the same."""
        arrays = stored.upgraded(arrays)
        stored.check(arrays, self.rules, self.dimensions)
        pending = Pending(*(arrays[name] for name in Pending._fields))
        hats = 1 + LEVELS * layout.hat_columns(self.dimensions)
        groups = max(0, int(pending.pending_columns.max(initial=0)) + 1 - hats)
        rows = _doubled(4, len(pending.tickets) + 2)
        entries = 1 + len(pending.pending_slots)
        new = _new_arrays(self.rules, self.dimensions, groups, rows, entries)
        new[0][: len(arrays["numbers"])] = arrays["numbers"]
        new[2][arrays["used"]] = arrays["keys"]
        new[3][arrays["used"]], new[3][-1] = arrays["nodes"][:-1], arrays["nodes"][-1]
        require(bool(_is_sound(new[2])), "its table has keys that cannot be found")
        place(new, pending, arrays.get(stored.SHARES))
        self._bind(new)
        return self


@cache
def _entry_points() -> tuple[Callable[..., Any], ...]:
    """The compiled calls, not yet bound: the tables of all engines have the same type."""
    example = (np.zeros((11, 4), np.int64),)
    where = INTEGER, POINT, _KEYS, POINT, FLOAT, FLOAT, FLOAT, FLOAT
    bound = (
        bind_state(_serve, example, *where),
        bind_state(_tell, example, INTEGER, FLOAT, FLOAT),
        bind_state(_forget, example, INTEGER),
    )
    return tuple(call.func for call in bound)


def _new_arrays(
    rules: Rules,
    dimensions: int,
    groups: int,
    rows: int,
    entries: int = 1,
    keys: IntArray | None = None,
    nodes: FloatArray | None = None,
) -> Arrays:
    """The eleven arrays, before the first round; with the table of another if one is given."""
    width = 1 + LEVELS * layout.hat_columns(dimensions) + groups
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
        np.full(width, -1, np.int64),
        np.zeros(width),
        np.zeros((width, layout.LATE)),
        np.zeros((rows, layout.TICKET)),
        np.zeros(rows, np.int64),
        _no_links(entries),
        np.zeros((entries, layout.ENTRY)),
    )


def _no_links(entries: int) -> NDArray[np.int32]:
    """Entries that were never used; memory that is not written to yet takes none."""
    links = np.zeros((entries, layout.LINKS), np.int32)
    links[0, layout.UNUSED] = 1
    return links


def _doubled(size: int, needed: int) -> int:
    """A size, doubled until it is enough."""
    while size < needed:
        size *= 2
    return size


def _new_nodes(rules: Rules) -> FloatArray:
    """An empty table; its last row is the constant."""
    nodes = np.zeros((rules.slots + 1, layout.COLUMNS))
    half = 0.5 if rules.two_sided else 1.0
    nodes[-1, layout.UP_BET] = half * FRESH_BET
    nodes[-1, layout.DOWN_BET] = 0.5 * FRESH_BET if rules.two_sided else 0.0
    return nodes


def _factors(dimensions: int, groups: int) -> FloatArray:
    """How fast the node in each column learns: the constant, hats by level, groups."""
    slopes = 2.0 ** (-LEVEL_SLOPE * np.arange(LEVELS))
    hats = np.repeat(slopes[:, None], layout.hat_columns(dimensions), axis=1)
    hats[:, dimensions + 1 :] /= max(dimensions, 1)
    return np.concatenate([[1.0], hats.ravel(), np.full(groups, GROUP_FACTOR)])


def _salts(dimensions: int) -> IntArray:
    """One odd multiplier per feature, for the keys of cells."""
    values = [0x9E3779B97F4A7C15 * (2 * i + 3) ** 5 % 2**64 | 1 for i in range(dimensions)]
    return np.array(values, np.uint64).view(np.int64)


_serve: Any = strict_jit(loops.serve)
_tell: Any = strict_jit(loops.tell)
_forget: Any = strict_jit(loops.forget)
_serve_many: Any = strict_jit(loops.serve_many)
_tell_many: Any = strict_jit(loops.tell_many)
_forget_many: Any = strict_jit(loops.forget_many)
_find_group: Any = strict_jit(loops.find_group)
_is_sound: Any = strict_jit(loops.is_sound)
