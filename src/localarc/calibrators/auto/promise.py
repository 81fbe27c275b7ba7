"""What an engine's bettors have seen, and theorem E about it: of AutoLARC, Safeguard, LabelSets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.betting.certificate import AutoCertificate, certify, certify_place
from localarc.betting.node_certificate import Place
from localarc.betting.sums import Sums
from localarc.calibrators.auto.groups import GroupNames
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.pending_limit import LimitedPending
from localarc.calibrators.exclusive import Exclusive
from localarc.calibrators.role import Point
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.places import Hat, hats_at
from localarc.guarantees import Evidence
from localarc.guarantees.bounds import checked_evidence
from localarc.validation import FloatArray

_ROUNDING = 1e-9
_NO_ROUNDS = np.zeros(layout.FIRST)


class Promised(LimitedPending, Exclusive):
    """An object with an engine: what it counts, and what is guaranteed about it."""

    _own_base = True  # whether the engine makes the base threshold, too
    _names: GroupNames

    @property
    def _numbers(self) -> Any:
        return _NO_ROUNDS if self._engine is None else self._engine.numbers

    @property
    def engine(self) -> AutoEngine:
        """The engine; a new one before the first round."""
        return self._engine or AutoEngine(self.settings.rules(self._own_base), 0)

    def _prepared(self, dimensions: int, groups: int, tickets: int) -> AutoEngine:
        """The engine, with room for so many groups per round, and so many more tickets."""
        engine = self._engine
        if engine is None or engine.dimensions != dimensions:
            engine = self._engine = AutoEngine(self.settings.rules(self._own_base), dimensions)
        if tickets or groups > engine.groups:
            self._reserve(engine, groups, tickets)
        return engine

    @property
    def rounds(self) -> int:
        """The number of losses told."""
        return int(self._numbers[layout.ROUNDS])

    @property
    def loss_sum(self) -> float:
        """The sum of the losses told."""
        return float(self._numbers[layout.LOSS_SUM])

    @property
    def uninformed(self) -> tuple[int, float]:
        """How many losses are no part of the promise, and their sum.

        They are of rounds that went out before enough scores were known: the full set.
        """
        numbers = self._numbers
        return int(numbers[layout.UNINFORMED]), float(numbers[layout.UNINFORMED_LOSSES])

    @property
    def risk(self) -> float:
        """The mean loss so far, NaN before the first, without uninformed rounds."""
        return layout.risk(self._numbers)

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return self.settings.loss_bound

    @property
    def nbytes(self) -> int:
        """The size of the tables, in bytes."""
        return 0 if self._engine is None else self._engine.nbytes

    @property
    def consistent(self) -> bool:
        """Whether the bettors saw the losses that were summed up."""
        if self._engine is None:
            return True
        rounds, losses = self.uninformed
        promised = self.loss_sum - losses
        seen = self._numbers[layout.TOP] * self._engine.nodes[-1, layout.EXCESS]
        gap = abs(promised - self.settings.alpha * (self.rounds - rounds) - seen)
        return bool(gap <= _ROUNDING * (1.0 + self.rounds * self.loss_bound))

    def problems(self, evidence: Evidence | None = None) -> list[str]:
        """Why a guarantee was withdrawn, and whether the table of nodes is too small.

        Parameters
        ----------
        evidence : Evidence or None, default None
            A stated score range, as for the certificate.
        """
        if not self.rounds:
            return []
        made = self.certificate(evidence=evidence)
        reasons = dict.fromkeys((*made.above.unmet, *made.below.unmet))
        withdrawn = [f"The guarantee is withdrawn: {reason}." for reason in reasons]
        return [*withdrawn, *full_table(made, "group", self.settings.max_bytes)]

    def certificate(
        self,
        *,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> AutoCertificate:
        """What is guaranteed about the mean loss, of everyone and of each group: theorem E.

        Parameters
        ----------
        evidence : Evidence or None, default None
            A stated score range, of which the largest score is used. What `replay` observed adds
            nothing to the scores that the calibrator has seen.
        input_bound : float or None, default None
            Ignored: theorem E does not depend on it.
        losses : array of shape (n,) or None, default None
            All losses so far, from a log of your own, to check the calibrator against.
        """
        engine = self.engine
        return certify(_sums(engine, evidence), engine.node(), self._nodes(engine), losses)

    def localized_bound(self, x: Point) -> tuple[Place, ...]:
        """What was seen and is guaranteed around an input: its nearest hat on each level.

        Parameters
        ----------
        x : array of shape (d,)
            The input, with all features.

        Returns
        -------
        tuple of Place
            From the coarsest to the finest place that had any rounds; none before the 16th.
        """
        point, missing = features(x, self.dimension)
        if missing or self._engine is None:
            return ()
        with self._exclusive():
            nearest: dict[int, Hat] = {}
            for hat in hats_at(self._engine, point):
                best = nearest.get(hat.level)
                if None not in hat.centre and (best is None or hat.weight > best.weight):
                    nearest[hat.level] = hat
            return self._certified(nearest.values())

    def places(self, count: int = 10, min_weight: float = 20.0) -> tuple[Place, ...]:
        """The places where the losses were farthest above the target, worst first.

        Places are looked for around 128 inputs that were drawn uniformly from all so far.

        Parameters
        ----------
        count : int, default 10
            How many places to return, at most.
        min_weight : float, default 20.0
            The weight of rounds without which a place is left out.
        """
        validation.integer("count", count, 1, "It is the number of places to return.")
        least = validation.not_negative("min_weight", min_weight, "It is a number of rounds.")
        engine = self._engine
        if engine is None:
            return ()
        with self._exclusive():
            hats: dict[int, Hat] = {}
            for x in engine.inputs():
                if not np.isnan(x).any():
                    hats.update((hat.slot, hat) for hat in hats_at(engine, x))
            found = self._certified(hats.values())
        heavy = [place for place in found if place.weight >= least]
        return tuple(sorted(heavy, key=lambda place: -place.deviation)[:count])

    def _certified(self, hats: Iterable[Hat]) -> tuple[Place, ...]:
        assert self._engine is not None
        sums = Sums.of(self._engine)
        return tuple(
            certify_place(sums, hat.node, hat.centre, hat.width)
            for hat in hats
            if hat.node[layout.VISITS] > 0.0
        )

    @property
    def dimension(self) -> int | None:
        """The number of features, once a threshold was returned."""
        engine = self._engine
        return engine.dimensions if engine is not None and engine.started else None

    def _nodes(self, engine: AutoEngine) -> dict[Hashable, FloatArray]:
        """The node of each group."""
        present = self._names.present(engine.keys)
        return {label: engine.node(key) for label, key in present.items()}


def _sums(engine: AutoEngine, evidence: Evidence | None) -> Sums:
    """The sums of an engine, with the largest score if it is stated."""
    stated = checked_evidence(evidence)
    if stated.score_range is None or stated.rounds is not None:
        return Sums.of(engine)  # what a replay observed, the sums know better
    return Sums.of(engine, stated.score_range[1])


def full_table(certificate: AutoCertificate, what: str, max_bytes: int) -> list[str]:
    """What a table of nodes without room for all groups costs, and the size to try."""
    refused = certificate.refused["groups"]
    if not refused:
        return []
    return [
        f"{refused} times a {what} had no place in the full table of nodes, and no guarantee. Try "
        f"max_bytes={2 * max_bytes}."
    ]
