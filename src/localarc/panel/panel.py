"""A panel: one calibrator for each key, all of them in one object and updated in one call."""

from __future__ import annotations

import copy
import dataclasses
import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import atomic_write, serialization
from localarc._replay import examine
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.curves import Curves
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.certificate import with_unmet
from localarc.memory.base import Arrays
from localarc.panel.arguments import check_curves, checked_losses, checked_points
from localarc.panel.keys import Key, Rows, key, listed
from localarc.panel.local_parts import LocalParts, local_parts
from localarc.panel.running_constants import Traces
from localarc.record import Record
from localarc.validation import FloatArray, IntArray

_LOCAL = "local "


class Panel:
    """Many ARC or L-ARC streams, told apart by a key, each with its own constant and local part.

    Every key is calibrated as an ordinary calibrator with the prototype's settings would be, to
    the last bit. A key is new until its first loss; events of one key in one call are applied in
    order. Keys are text or whole numbers.

    >>> panel = Panel(ARC(alpha=0.1))
    >>> panel.update(["ann", "bob", "ann"], None, losses=[1.0, 0.0, 1.0])
    Panel(ARC(alpha=0.1, rate=InverseSqrt(eta=1.0), rounds=0), keys=2, rounds=3)
    >>> panel.thresholds(["ann", "bob", "eve"], None).round(3)
    array([ 1.536, -0.1  ,  0.   ])
    >>> panel.calibrator("bob").rounds
    1
    """

    def __init__(self, prototype: AdaptiveCalibrator) -> None:
        if not isinstance(prototype, AdaptiveCalibrator) or prototype.rounds:
            raise TypeError(
                f"the prototype of a panel must be a new ARC or LARC, got {prototype!r}. "
                "For example ARC(alpha=0.1)."
            )
        self.prototype = copy.copy(prototype).reset()
        self.settings = prototype.settings
        self._start(Rows(), None, None, {})

    def _start(
        self, rows: Rows, traces: FloatArray | None, dimension: int | None, arrays: Arrays
    ) -> None:
        self._rows = rows
        self._traces = Traces(self.settings.initial_threshold, traces)
        self._blind = self.settings.kernel is None  # then inputs are not looked at
        # Made when the first input tells its dimension.
        self._local = None if dimension is None else local_parts(self.settings, dimension, arrays)

    # ---- the algorithm -----------------------------------------------------------------------

    def thresholds(self, keys: Any, X: ArrayLike | None = None) -> FloatArray:
        """The threshold of each event for its key and input; changes nothing.

        ARC does not look at inputs: X may be None. Keys that were never seen get the threshold
        that a new calibrator starts with.
        """
        names = listed(keys)
        points = self._points(X, names)
        rows = self._rows.find(names)
        constants = self._traces.constants(rows)
        if self._local is None or points is None:
            return constants
        return constants + self._local.evaluate(rows, points)

    def update(self, keys: Any, X: ArrayLike | None, losses: ArrayLike) -> Self:
        """Learn the loss of each event, in order; all of them or, if anything is wrong, none."""
        names = listed(keys)
        points = self._points(X, names)
        costs = checked_losses(losses, names, self.settings.loss_bound)
        rows, fresh = self._planned(names)
        rates = self._traces.rates(self.settings.rate, rows)
        local = self._local_for(points)
        if local is not None and points is not None:
            local.learn(rows, points, rates, rates * (costs - self.settings.alpha))
        self._traces.learn(rows, rates, costs, self.settings.alpha)  # from here on nothing fails
        self._learnt(fresh, local)
        return self

    def replay(self, keys: Any, X: ArrayLike | None, curves: Curves) -> Record:
        """Threshold, loss and update for each event, in order: what a threshold costs is known.

        The record has a row for each event, with its key as the group.
        """
        names = listed(keys)
        points = self._points(X, names)
        check_curves(curves, names, self.settings.loss_bound)
        evidence = examine(curves, self.settings.alpha)
        rows, fresh = self._planned(names)
        rates = self._traces.rates(self.settings.rate, rows)
        local = self._local_for(points)
        if local is None or points is None:
            thresholds, losses = self._traces.play(rows, rates, curves, self.settings.alpha)
        else:
            thresholds, losses = local.play(self._traces, rows, points, rates, curves)
        self._learnt(fresh, local)
        sizes = curves.sizes_at(thresholds)
        alpha, name = self.settings.alpha, repr(self.prototype)
        return Record(thresholds, losses, sizes, tuple(names), alpha, name, evidence)

    def _points(self, X: ArrayLike | None, names: list[Key]) -> FloatArray | None:
        return None if self._blind else checked_points(X, names, self._dimension)

    def _planned(self, names: list[Key]) -> tuple[IntArray, list[Key]]:
        """The row of each event, and keys that are new; the rows stay out of sight until learnt."""
        rows, fresh = self._rows.plan(names)
        self._traces.make_room(len(self._rows) + len(fresh))
        return rows, fresh

    def _learnt(self, fresh: list[Key], local: LocalParts | None) -> None:
        """New keys are there, now that their first events worked."""
        self._rows.add(fresh)
        self._traces.count = len(self._rows)
        self._local = local

    def _local_for(self, points: FloatArray | None) -> LocalParts | None:
        """The local parts, made for these inputs if they are the first."""
        if self._local is not None or points is None or not len(points):
            return self._local
        kernel: Any = self.settings.kernel
        kernel.matrix(points[:1], points[:1])  # raises where kernel and input do not fit
        return local_parts(self.settings, points.shape[1], {})

    # ---- single streams ----------------------------------------------------------------------

    def calibrator(self, key: Key) -> AdaptiveCalibrator:
        """The calibrator of one key, to go on alone: the panel no longer moves it."""
        row = self._row(key)
        local, square = (None, 0.0) if self._local is None else self._local.copy(row)
        dimension = None if local is None else self._dimension
        alone = copy.copy(self.prototype).reset()
        alone._rollback((self._traces.get(row), local, dimension, square))
        return alone

    def put(self, key: Key, calibrator: AdaptiveCalibrator) -> Self:
        """Let a key go on from where a calibrator stands, which must have the same settings."""
        name = _key(key)
        same = type(calibrator) is type(self.prototype) and calibrator.settings == self.settings
        if not same:
            raise ValueError(
                f"the panel holds calibrators like {self.prototype!r}, got {calibrator!r}. "
                "Put in one with the same settings."
            )
        trace, local, dimension, square = calibrator._checkpoint()
        known = self._dimension
        if known is not None and dimension not in (None, known):
            raise ValueError(
                f"inputs of this panel have {known} feature(s), the calibrator's {dimension}. "
                "Put streams with other features into a panel of their own."
            )
        parts = self._local
        if parts is None and dimension is not None:
            parts = local_parts(self.settings, dimension, {})
        rows, fresh = self._planned([name])
        row = int(rows[0])
        if parts is not None:
            parts.put(row, local, square)
        self._learnt(fresh, parts)
        self._traces.put(row, trace)
        return self

    def drop(self, keys: Any) -> Self:
        """Forget these keys and all that they learnt; seen again, they start anew."""
        dropped = [self._row(name) for name in listed(keys)]
        kept = np.delete(np.arange(len(self)), dropped)
        if self._local is not None:
            self._local.keep(kept)
        self._traces.keep(kept)
        self._rows = Rows([self._rows.keys[row] for row in kept.tolist()])
        return self

    def certificate(
        self,
        key: Key,
        outstanding: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What can be promised about the mean loss of one key, whose own `losses` may be audited.

        `evidence` is that of the panel's records, of all of them: it is of all keys together.
        """
        reasons = () if evidence is None else evidence.incomplete(int(self.rounds.sum()))
        shared = evidence and dataclasses.replace(evidence, rounds=None)
        made = self.calibrator(key).certificate(outstanding, shared, input_bound, losses)
        return with_unmet(made, reasons)

    def rounds_of(self, keys: Any) -> IntArray:
        """How many losses each of these keys has learnt, 0 for keys that were never seen."""
        return self._traces.rounds(self._rows.find(listed(keys)))

    def _row(self, key: Key) -> int:
        return self._rows.of(_key(key))

    # ---- all streams -------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Any) -> bool:
        return key in self._rows

    @property
    def keys(self) -> list[Key]:
        """The keys, in the order in which they were first seen."""
        return list(self._rows.keys)

    @property
    def _dimension(self) -> int | None:
        return None if self._local is None else self._local.dimension

    @property
    def alpha(self) -> float:
        """The target of every key."""
        return self.settings.alpha

    @property
    def rounds(self) -> IntArray:
        """How many losses each key has learnt, in the order of `keys`."""
        return self._traces.column("rounds").astype(np.int64)

    @property
    def constants(self) -> FloatArray:
        """The constant c of each key, which is all of ARC's threshold, in the order of `keys`."""
        return self._traces.column("constant").copy()

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each key, NaN before the first, in the order of `keys`."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self._traces.column("loss_sum") / self._traces.column("rounds"))

    @property
    def nbytes(self) -> int:
        """The size of what is remembered, without keys and settings."""
        local = {} if self._local is None else self._local.arrays()
        return self._traces.values.nbytes + sum(int(array.nbytes) for array in local.values())

    def __repr__(self) -> str:
        return f"Panel({self.prototype!r}, keys={len(self)}, rounds={self.rounds.sum()})"

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """All of the panel, to be stored: small, versioned, sealed, without pickle."""
        local = {} if self._local is None else self._local.arrays()
        content = {"keys": self._rows.keys, "dimension": self._dimension}
        arrays = {
            "prototype": np.frombuffer(self.prototype.state(), np.uint8),
            "traces": self._traces.values,
            **{_LOCAL + name: array for name, array in local.items()},
        }
        return serialization.encode("Panel", content, arrays)

    @classmethod
    def from_state(cls, data: bytes, prototype: AdaptiveCalibrator | None = None) -> Self:
        """The panel whose `state` this was.

        Functions (a user's kernel or rate) are not stored: hand in a prototype with the same ones.
        """
        prototypes: dict[str, type[ARC | LARC]] = {"ARC": ARC, "LARC": LARC}
        stored = _decoded(data)[1]["prototype"].tobytes()
        kind = serialization.decode(stored)[0]
        if prototype is None and kind not in prototypes:
            raise serialization.StateError(
                f"the panel holds calibrators of kind {kind!r}. "
                "Hand in a new one: Panel.from_state(data, prototype=...)."
            )
        return cls(prototype or prototypes[kind].from_state(stored)).restore(data)

    def restore(self, data: bytes) -> Self:
        """Take over a state that was saved with the same prototype."""
        content, arrays = _decoded(data)
        copy.copy(self.prototype).restore(arrays["prototype"].tobytes())  # or it raises
        local = {
            name.removeprefix(_LOCAL): array
            for name, array in arrays.items()
            if name.startswith(_LOCAL)
        }
        self._start(Rows(content["keys"]), arrays["traces"], content["dimension"], local)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # For copies and other processes: compiled functions inside are made again, not sent.
        return _resumed, (type(self), self.prototype, self.state())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, all of it or nothing."""
        atomic_write.write(path, self.state())

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], prototype: AdaptiveCalibrator | None = None
    ) -> Self:
        """The panel that `save` wrote."""
        try:
            return cls.from_state(serialization.read(path), prototype)
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error


def _resumed(kind: type[Panel], prototype: AdaptiveCalibrator, data: bytes) -> Panel:
    return kind(prototype).restore(data)


_key = key  # methods have an argument of that name


def _decoded(data: bytes) -> tuple[dict[str, Any], Any]:
    kind, content, arrays = serialization.decode(data)
    if kind != "Panel":
        raise serialization.StateError(f"the state is of kind {kind}, not Panel. Use {kind}.load.")
    return content, arrays
