"""A panel: one calibrator per key, all in one object and updated in one call."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from localarc import atomic_write, serialization
from localarc.adaptive.settings import Settings
from localarc.algorithms import Algorithm
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.tickets import Ticket
from localarc.calibrators.undo import Undo
from localarc.curves import Curves
from localarc.curves.evidence import examine
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.certificate import with_unmet
from localarc.many.panel.adaptive_streams import AdaptiveStreams
from localarc.many.panel.arguments import check_curves, checked_losses
from localarc.many.panel.keys import Key, KeyIndex, Keys, as_key, as_keys
from localarc.many.panel.kinds import Prototype, is_auto
from localarc.many.panel.late import LateEvents
from localarc.many.panel.state import StoredPanel
from localarc.many.panel.streams import Streams
from localarc.running.record import Record
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.betting import AutoCertificate
    from localarc.calibrators.auto.settings import AutoSettings

T = TypeVar("T")


class Panel:
    """Many ARC, L-ARC or AutoLARC streams, identified by key, each with a state of its own.

    Every key is calibrated exactly, to the last bit, as a separate calibrator with the settings of
    `panel.prototype` would be. A key is added with its first loss. Events of one key in one call
    are applied in order.

    Parameters
    ----------
    prototype : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses. It is copied. An AutoLARC with the default
        `max_bytes` gets a table of 1,024 nodes per key, at most 0.2 MB instead of 8 MB: beyond two
        features, or after thousands of rounds per key, fine places share a coarser threshold.

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

    algorithm = Algorithm()

    def __init__(self, prototype: Prototype) -> None:
        self._streams = _streams(prototype)
        self._index = KeyIndex()
        self._prototype: bytes | None = None

    @property
    def prototype(self) -> Prototype:
        """A new calibrator with the settings of every key."""
        found: Prototype = self._streams.prototype
        return found

    @property
    def settings(self) -> Settings | AutoSettings:
        """The settings of every key."""
        return self.prototype.settings

    @property
    def ignores_inputs(self) -> bool:
        """Whether thresholds do not depend on X, which may then be None: ARC."""
        return self._streams.ignores_inputs

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
        points = self._streams.points(X, len(names))
        return self._streams.thresholds(self._index.find(names), points)

    def update(
        self, keys: Keys, X: ArrayLike | None, losses: ArrayLike, scores: ArrayLike | None = None
    ) -> Self:
        """Learn the loss of each event, in order; all of them or, if any is invalid, none.

        Parameters
        ----------
        keys : sequence of str or int
            The key of each event. New keys are added.
        X : array_like of shape (n, d) or None
            The input of each event; None for ARC.
        losses : array_like of shape (n,)
            The loss of each event, between 0 and the loss bound.
        scores : array_like of shape (n,), optional
            AutoLARC only: the least threshold of each event whose loss is at most `alpha`, for
            miscoverage the score of the true outcome; None where it is unknown.

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
        points = self._streams.points(X, len(names))
        costs = checked_losses(losses, names, self.prototype.loss_bound)
        rows, new = self._index.plan(names)
        self._whole(new, lambda: self._streams.learn(rows, points, costs, scores))
        return self

    def ask(self, keys: Keys, X: ArrayLike | None = None) -> list[Ticket]:
        """Return a ticket with a threshold for each event, whose loss may come late: AutoLARC.

        Parameters
        ----------
        keys : sequence of str or int
            The key of each event. New keys are added.
        X : array_like of shape (n, d), optional
            The input of each event.

        Returns
        -------
        list of Ticket
            The threshold of each event, and a number that is unique for its key.

        Examples
        --------
        >>> from localarc import AutoLARC, Panel
        >>> panel = Panel(AutoLARC(alpha=0.1))
        >>> first, second = panel.ask(["ann", "ann"])
        >>> panel.tell(["ann"], [second], losses=[1.0], scores=[0.5]).rounds_of(["ann"])
        array([1])
        """
        names = as_keys(keys)
        points = self._streams.points(X, len(names))
        rows, new = self._index.plan(names)
        return self._whole(new, lambda: self._streams.ask(rows, points))

    def tell(
        self,
        keys: Keys,
        tickets: Sequence[Ticket | int],
        losses: ArrayLike,
        scores: ArrayLike | None = None,
    ) -> Self:
        """Learn the losses of tickets, in any order; all of them or, if any is invalid, none.

        Parameters
        ----------
        keys : sequence of str or int
            The key that each ticket was issued for; KeyError for unknown ones.
        tickets : sequence of Ticket or int
            What `ask` returned, or their ids.
        losses : array_like of shape (n,)
            The loss of each ticket, between 0 and the loss bound.
        scores : array_like of shape (n,), optional
            The score of each ticket, as in `update`.

        Examples
        --------
        >>> from localarc import AutoLARC, Panel
        >>> panel = Panel(AutoLARC(alpha=0.1))
        >>> tickets = panel.ask(["ann", "bob"])
        >>> panel.tell(["bob", "ann"], tickets[::-1], [0.0, 1.0], [0.2, 0.7]).rounds
        array([1, 1])
        """
        names = as_keys(keys)
        rows = np.array([self._index.row(name) for name in names], np.int64)
        costs = checked_losses(losses, names, self.prototype.loss_bound)
        self._whole([], lambda: self._streams.tell(rows, tickets, costs, scores))
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
        check_curves(curves, names, self.prototype.loss_bound)
        evidence = examine(curves, self.alpha)
        events = LateEvents.each_its_own(self._streams.points(X, len(names)), curves)
        rows, new = self._index.plan(names)
        answers = self._whole(new, lambda: self._streams.serve(rows, events))
        thresholds, name = answers.thresholds, repr(self.prototype)
        sizes = curves.sizes_at(thresholds)
        return Record(thresholds, answers.losses, sizes, tuple(names), self.alpha, name, evidence)

    # ---- single streams ----------------------------------------------------------------------

    def calibrator(self, key: Key) -> Prototype:
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
        found: Prototype = self._streams.calibrator(self._index.row(as_key(key)))
        return found

    def put(self, key: Key, calibrator: Prototype) -> Self:
        """Set the state of one key to that of a calibrator with the same settings.

        Parameters
        ----------
        key : str or int
            A key, new or known.
        calibrator : ARC, LARC or AutoLARC
            The calibrator to copy.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> panel = Panel(ARC(alpha=0.1)).put("ann", ARC(alpha=0.1).update(None, 1.0))
        >>> panel.thresholds(["ann"])
        array([0.9])
        """
        name = as_key(key)
        mine = self.prototype
        if type(calibrator) is not type(mine) or calibrator.settings != mine.settings:
            raise ValueError(
                f"the panel holds calibrators like {mine!r}, got {calibrator!r}. "
                "Put in one with the same settings."
            )
        dimension, known = calibrator.dimension, self.dimension
        if known is not None and dimension not in (None, known):
            raise ValueError(
                f"inputs of this panel have {known} feature(s), the calibrator's {dimension}. "
                "Use a separate panel for streams with other features."
            )
        rows, new = self._index.plan([name])
        self._whole(new, lambda: self._streams.put(int(rows[0]), calibrator))
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
        index = KeyIndex([self._index.keys[row] for row in kept.tolist()])

        def call() -> None:
            self._streams.keep(kept)
            self._use(index)

        self._whole([], call)
        return self

    def rename(self, keys: Mapping[Key, Key]) -> Self:
        """Give keys other names; what they learned stays.

        Parameters
        ----------
        keys : mapping of str or int
            The new name of each key that gets one; names that are no keys are ignored. ValueError,
            and nothing changed, if two keys would have the same name.

        Examples
        --------
        >>> from localarc import ARC, Panel
        >>> Panel(ARC(alpha=0.1)).update(["a", "b"], None, [1.0, 0.0]).rename({"a": "c"}).keys
        ['c', 'b']
        """
        index = KeyIndex([keys.get(key, key) for key in self._index.keys])
        self._whole([], lambda: self._use(index))
        return self

    def _use(self, index: KeyIndex) -> None:
        """Rows have other keys from now on."""
        self.undo.note(setattr, self, "_index", self._index)
        self._index = index

    def _whole(self, new: list[Key], call: Callable[[], T]) -> T:
        """Make a call that may add keys: it changes everything or nothing."""

        def whole() -> T:
            result = call()
            self._index.add(new, self.undo)
            return result

        return self.undo.unless_done(whole)

    def certificate(
        self,
        key: Key,
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate | AutoCertificate:
        """Return the bound on the mean loss of one key, and the assumptions it rests on.

        Parameters
        ----------
        key : str or int
            A key of the panel.
        pending : int or None, default None
            The largest number of losses that were ever pending beside the one learned.
        evidence : Evidence, optional
            The combined evidence of all of the panel's records; it covers all keys together.
            AutoLARC ignores it, because each key remembers its own scores.
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
        calibrator = self.calibrator(key)
        if not isinstance(calibrator, ARC | LARC):
            return calibrator.certificate(losses=losses)
        reasons = () if evidence is None else evidence.incomplete(int(self.rounds.sum()))
        shared = evidence and dataclasses.replace(evidence, rounds=None)
        made = calibrator.certificate(pending, shared, input_bound, losses)
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
        rows = self._index.find(as_keys(keys))
        return np.append(self.rounds, 0)[rows]  # row -1 is the 0 at the end

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
    def index(self) -> KeyIndex:
        """The row of each key, to look up; only the panel changes it."""
        return self._index

    @property
    def dimension(self) -> int | None:
        """The number of features of every input, once known; None for ARC."""
        return self._streams.dimension

    @property
    def undo(self) -> Undo:
        """Where an object around the panel notes its changes, to be undone with the panel's."""
        return self._streams.undo

    @property
    def alpha(self) -> float:
        """The target mean loss of every key."""
        return self.prototype.alpha

    @property
    def rounds(self) -> IntArray:
        """How many losses each key has learned, in the order of `keys`."""
        return self._streams.rounds

    @property
    def constants(self) -> FloatArray:
        """The constant c of each key, which is ARC's threshold; AutoLARC has none."""
        return self._streams.constants

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each key, NaN before the first, in the order of `keys`.

        Without the rounds of an AutoLARC that went out before enough scores were known.
        """
        return self._streams.risks

    @property
    def nbytes(self) -> int:
        """The size of the learned state in bytes, without keys and settings."""
        return self._streams.nbytes

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
        return self.stored().encode()

    def stored(self) -> StoredPanel:
        """Return what `state` contains, for a state of which the panel is a part."""
        prototype, arrays = self._prototype_state(), self._streams.arrays()
        return StoredPanel(self._index, self.dimension, prototype, arrays)

    def _prototype_state(self) -> bytes:
        """The state of the prototype, which never changes."""
        if self._prototype is None:
            self._prototype = self.prototype.state()
        return self._prototype

    @classmethod
    def from_state(cls, data: bytes, prototype: Prototype | None = None) -> Self:
        """Return the panel that `state` stored.

        Parameters
        ----------
        data : bytes
            The result of `state`.
        prototype : ARC, LARC or AutoLARC, optional
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

    def resumed(self, stored: StoredPanel) -> Self:
        """Return another panel with this one's prototype, which continues from what was stored.

        Parameters
        ----------
        stored : StoredPanel
            The result of `stored`; StateError if the settings differ.
        """
        other = object.__new__(type(self))
        other._streams, other._prototype = self._streams, self._prototype_state()
        return other._resume(stored)

    def _resume(self, stored: StoredPanel) -> Self:
        if stored.prototype != self._prototype_state():
            copy.copy(self.prototype).restore(stored.prototype)  # raises if the settings differ
        with serialization.damaged_unless_read():
            streams = copy.copy(self._streams).resume(stored)
        self._streams, self._index = streams, stored.index
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
    def load(cls, path: str | os.PathLike[str], prototype: Prototype | None = None) -> Self:
        """Return the panel that `save` wrote.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote, or a Parquet file of keyed streams.
        prototype : ARC, LARC or AutoLARC, optional
            As for `from_state`.
        """
        try:
            data = serialization.read(path)
            if data[:4] == b"PAR1":
                return cls._from_parquet(data, prototype)
            return cls.from_state(data, prototype)
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error

    @classmethod
    def _from_parquet(cls, data: bytes, prototype: Prototype | None) -> Self:
        from localarc.many.panel import table

        made, stored = table.stored_panel(table.read_parquet(data), prototype)
        return cls(made)._resume(stored)


def _resume(kind: type[Panel], prototype: Prototype, data: bytes) -> Panel:
    return kind(prototype).restore(data)


def _streams(prototype: Prototype) -> Streams:
    """No streams yet, of the prototype's kind."""
    if is_auto(prototype) and not prototype.rounds:
        from localarc.many.panel.auto_streams import AutoStreams

        return AutoStreams(prototype)
    if isinstance(prototype, ARC | LARC) and not prototype.rounds:
        return AdaptiveStreams(prototype)
    raise TypeError(
        f"the prototype of a panel must be a new ARC, LARC or AutoLARC, got {prototype!r}. "
        "For example ARC(alpha=0.1)."
    )
