"""A panel: one calibrator per key, all in one object and updated in one call."""

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
from localarc.curves import Curves
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.certificate import with_unmet
from localarc.memory.base import Arrays
from localarc.panel.arguments import check_curves, checked_losses, checked_points
from localarc.panel.keys import Key, KeyIndex, Keys, as_key, as_keys
from localarc.panel.local_parts import LocalParts, local_parts
from localarc.panel.running_constants import RunningConstants
from localarc.panel.state import StoredPanel
from localarc.record import Record
from localarc.validation import FloatArray, IntArray


class Panel:
    """Many ARC or L-ARC streams, identified by key, each with its own constant and local part.

    Every key is calibrated exactly, to the last bit, as a separate calibrator with the prototype's
    settings would be. A key is added with its first loss. Events of one key in one call are applied
    in order.

    Parameters
    ----------
    prototype : ARC or LARC
        A new calibrator, whose settings every key uses. It is copied.

    Examples
    --------
    >>> from localarc import ARC, Panel
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
        self._start(KeyIndex(), None, None, {})

    def _start(
        self, index: KeyIndex, constants: FloatArray | None, dimension: int | None, arrays: Arrays
    ) -> None:
        self._index = index
        self._constants = RunningConstants(self.settings, constants)
        self._ignores_inputs = self.settings.kernel is None
        # Created when the first input shows its dimension.
        self._local = None if dimension is None else local_parts(self.settings, dimension, arrays)

    # ---- the algorithm -----------------------------------------------------------------------

    def thresholds(self, keys: Keys, X: ArrayLike | None = None) -> FloatArray:
        """Return the threshold of each event for its key and input; changes nothing.

        Parameters
        ----------
        keys : sequence of str or int
            The key of each event. Unknown keys get the threshold of a new calibrator.
        X : array_like of shape (n, d), optional
            The input of each event. ARC ignores inputs, so it may be None there.

        Returns
        -------
        ndarray of shape (n,)
            The thresholds, in units of the score.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> Panel(ARC(alpha=0.1, initial_threshold=0.5)).thresholds(["ann", "bob"])
        array([0.5, 0.5])
        """
        names = as_keys(keys)
        points = self._points(X, names)
        rows = self._index.find(names)
        constants = self._constants.constants(rows)
        if self._local is None or points is None:
            return constants
        return constants + self._local.evaluate(rows, points)

    def update(self, keys: Keys, X: ArrayLike | None, losses: ArrayLike) -> Self:
        """Learn the loss of each event, in order; all of them or, if any is invalid, none.

        Parameters
        ----------
        keys : sequence of str or int
            The key of each event. New keys are added.
        X : array_like of shape (n, d) or None
            The input of each event; None for ARC.
        losses : array_like of shape (n,)
            The loss of each event, between 0 and the loss bound.

        Returns
        -------
        Panel
            The panel itself.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> panel = Panel(ARC(alpha=0.1)).update(["ann", "ann"], None, losses=[1.0, 0.0])
        >>> panel.rounds_of(["ann", "bob"])
        array([2, 0])
        """
        names = as_keys(keys)
        points = self._points(X, names)
        costs = checked_losses(losses, names, self.settings.loss_bound)
        rows, new = self._plan(names)
        rates = self._constants.rates(self.settings.rate, rows)
        local = self._local_for(points)
        before = np.zeros(len(rows))
        if local is not None and points is not None:
            before = local.learn(rows, points, rates, rates * (costs - self.settings.alpha))
        # Nothing can fail from here on.
        self._constants.learn(rows, rates, costs, before)
        self._commit(new, local)
        return self

    def replay(self, keys: Keys, X: ArrayLike | None, curves: Curves) -> Record:
        """Run threshold, loss and update for each event, in order, with known loss curves.

        Parameters
        ----------
        keys : sequence of str or int
            The key of each event. New keys are added.
        X : array_like of shape (n, d) or None
            The input of each event; None for ARC.
        curves : Curves
            The loss of each event as a function of its threshold, e.g. `miscoverage(scores)`.

        Returns
        -------
        Record
            One row per event, with its key as the group.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> from localarc.curves import miscoverage
        >>> record = Panel(ARC(alpha=0.1)).replay(["a", "b"], None, miscoverage([0.7, -0.2]))
        >>> record.losses
        array([1., 0.])
        """
        names = as_keys(keys)
        points = self._points(X, names)
        check_curves(curves, names, self.settings.loss_bound)
        evidence = examine(curves, self.settings.alpha)
        rows, new = self._plan(names)
        rates = self._constants.rates(self.settings.rate, rows)
        local = self._local_for(points)
        if local is None or points is None:
            thresholds, losses = self._constants.play(rows, rates, curves)
        else:
            thresholds, losses = local.play(self._constants, rows, points, rates, curves)
        self._commit(new, local)
        sizes = curves.sizes_at(thresholds)
        alpha, name = self.settings.alpha, repr(self.prototype)
        return Record(thresholds, losses, sizes, tuple(names), alpha, name, evidence)

    def _points(self, X: ArrayLike | None, names: list[Key]) -> FloatArray | None:
        return None if self._ignores_inputs else checked_points(X, names, self._dimension)

    def _plan(self, names: list[Key]) -> tuple[IntArray, list[Key]]:
        """The row of each event, and the new keys, which are invisible until `_commit`."""
        rows, new = self._index.plan(names)
        self._constants.make_room(len(self._index) + len(new))
        return rows, new

    def _commit(self, new: list[Key], local: LocalParts | None) -> None:
        """Add the new keys, after their first events succeeded."""
        self._index.add(new)
        self._constants.count = len(self._index)
        self._local = local

    def _local_for(self, points: FloatArray | None) -> LocalParts | None:
        """The local parts, created for these inputs if they are the first."""
        if self._local is not None or points is None or not len(points):
            return self._local
        kernel: Any = self.settings.kernel
        kernel.matrix(points[:1], points[:1])  # raises if kernel and input do not match
        return local_parts(self.settings, points.shape[1], {})

    # ---- single streams ----------------------------------------------------------------------

    def calibrator(self, key: Key) -> AdaptiveCalibrator:
        """Return the calibrator of one key, as a copy that the panel no longer updates.

        Parameters
        ----------
        key : str or int
            A key of the panel; KeyError for others.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> Panel(ARC(alpha=0.1)).update(["ann"], None, [1.0]).calibrator("ann").threshold(None)
        0.9
        """
        row = self._index.row(as_key(key))
        local, square = (None, 0.0) if self._local is None else self._local.copy(row)
        dimension = None if local is None else self._dimension
        alone = copy.copy(self.prototype).reset()
        alone._rollback((self._constants.get(row), local, dimension, square))
        return alone

    def put(self, key: Key, calibrator: AdaptiveCalibrator) -> Self:
        """Set the state of one key to that of a calibrator with the same settings.

        Parameters
        ----------
        key : str or int
            A key, new or known.
        calibrator : ARC or LARC
            The calibrator to copy.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> panel = Panel(ARC(alpha=0.1)).put("ann", ARC(alpha=0.1).update(None, 1.0))
        >>> panel.thresholds(["ann"])
        array([0.9])
        """
        name = as_key(key)
        same = type(calibrator) is type(self.prototype) and calibrator.settings == self.settings
        if not same:
            raise ValueError(
                f"the panel holds calibrators like {self.prototype!r}, got {calibrator!r}. "
                "Put in one with the same settings."
            )
        constant, local, dimension, square = calibrator._checkpoint()
        known = self._dimension
        if known is not None and dimension not in (None, known):
            raise ValueError(
                f"inputs of this panel have {known} feature(s), the calibrator's {dimension}. "
                "Use a separate panel for streams with other features."
            )
        parts = self._local
        if parts is None and dimension is not None:
            parts = local_parts(self.settings, dimension, {})
        rows, new = self._plan([name])
        row = int(rows[0])
        if parts is not None:
            parts.put(row, local, square)
        self._commit(new, parts)
        self._constants.put(row, constant)
        return self

    def drop(self, keys: Keys) -> Self:
        """Remove keys and everything they learned; if seen again, they start anew.

        Parameters
        ----------
        keys : sequence of str or int
            Keys of the panel; KeyError, and nothing removed, if one is unknown.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> Panel(ARC(alpha=0.1)).update(["a", "b"], None, [1.0, 0.0]).drop(["a"]).keys
        ['b']
        """
        dropped = [self._index.row(as_key(name)) for name in as_keys(keys)]
        kept = np.delete(np.arange(len(self)), dropped)
        if self._local is not None:
            self._local.keep(kept)
        self._constants.keep(kept)
        self._index = KeyIndex([self._index.keys[row] for row in kept.tolist()])
        return self

    def certificate(
        self,
        key: Key,
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """Return the bound on the mean loss of one key, and the assumptions it rests on.

        Parameters
        ----------
        key : str or int
            A key of the panel.
        pending : int or None, default None
            The largest number of losses that were ever pending beside the one learned.
        evidence : Evidence, optional
            The combined evidence of all of the panel's records; it covers all keys together.
        input_bound : float, optional
            The largest norm of an input.
        losses : array_like, optional
            All losses of this key from your own log, to check the panel against.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> panel = Panel(ARC(alpha=0.1)).update(["ann"], None, [1.0])
        >>> panel.certificate("ann").rounds
        1
        """
        reasons = () if evidence is None else evidence.incomplete(int(self.rounds.sum()))
        shared = evidence and dataclasses.replace(evidence, rounds=None)
        made = self.calibrator(key).certificate(pending, shared, input_bound, losses)
        return with_unmet(made, reasons)

    def rounds_of(self, keys: Keys) -> IntArray:
        """Return how many losses each of these keys has learned, 0 for unknown keys.

        Parameters
        ----------
        keys : sequence of str or int
            Any keys.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> Panel(ARC(alpha=0.1)).rounds_of(["ann"])
        array([0])
        """
        return self._constants.rounds(self._index.find(as_keys(keys)))

    # ---- all streams -------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: object) -> bool:
        return key in self._index

    @property
    def keys(self) -> list[Key]:
        """The keys, in the order in which they were first seen."""
        return list(self._index.keys)

    @property
    def _dimension(self) -> int | None:
        return None if self._local is None else self._local.dimension

    @property
    def alpha(self) -> float:
        """The target mean loss of every key."""
        return self.settings.alpha

    @property
    def rounds(self) -> IntArray:
        """How many losses each key has learned, in the order of `keys`."""
        return self._constants.column("rounds").astype(np.int64)

    @property
    def constants(self) -> FloatArray:
        """The constant c of each key, which is ARC's threshold, in the order of `keys`."""
        return self._constants.column("constant").copy()

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each key, NaN before the first, in the order of `keys`."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self._constants.column("loss_sum") / self._constants.column("rounds"))

    @property
    def nbytes(self) -> int:
        """The size of the learned state in bytes, without keys and settings."""
        local = sum(int(array.nbytes) for array in self._local_arrays().values())
        return self._constants.values.nbytes + local

    def _local_arrays(self) -> Arrays:
        return {} if self._local is None else self._local.arrays()

    def __repr__(self) -> str:
        return f"Panel({self.prototype!r}, keys={len(self)}, rounds={self.rounds.sum()})"

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Return the whole panel as bytes: versioned, with a checksum, without pickle.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> panel = Panel(ARC(alpha=0.1)).update(["ann"], None, [1.0])
        >>> Panel.from_state(panel.state()).thresholds(["ann"])
        array([0.9])
        """
        keys, dimension, prototype = self._index.keys, self._dimension, self.prototype.state()
        values = self._constants.values
        return StoredPanel(keys, dimension, prototype, values, self._local_arrays()).encode()

    @classmethod
    def from_state(cls, data: bytes, prototype: AdaptiveCalibrator | None = None) -> Self:
        """Return the panel that `state` stored.

        Parameters
        ----------
        data : bytes
            The result of `state`.
        prototype : ARC or LARC, optional
            A new calibrator with the same settings. Required if the kernel or the rate is a
            function of yours: functions are not stored.
        """
        stored = StoredPanel.decode(data)
        return cls(prototype or stored.new_prototype())._resume(stored)

    def restore(self, data: bytes) -> Self:
        """Load a state that was saved with the same prototype.

        Parameters
        ----------
        data : bytes
            The result of `state`; StateError, and nothing changed, if the settings differ.
        """
        return self._resume(StoredPanel.decode(data))

    def _resume(self, stored: StoredPanel) -> Self:
        copy.copy(self.prototype).restore(stored.prototype)  # raises if the settings differ
        with serialization.damaged_unless_read():
            stored.require_sense(self.settings)
        self._start(KeyIndex(stored.keys), stored.constants, stored.dimension, stored.local)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # For copies and other processes: compiled functions are built again, not pickled.
        return _resume, (type(self), self.prototype, self.state())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, atomically.

        Parameters
        ----------
        path : path-like
            The file, replaced if it exists.
        """
        atomic_write.write(path, self.state())

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], prototype: AdaptiveCalibrator | None = None
    ) -> Self:
        """Return the panel that `save` wrote.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote.
        prototype : ARC or LARC, optional
            As for `from_state`.
        """
        try:
            return cls.from_state(serialization.read(path), prototype)
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error


def _resume(kind: type[Panel], prototype: AdaptiveCalibrator, data: bytes) -> Panel:
    return kind(prototype).restore(data)
