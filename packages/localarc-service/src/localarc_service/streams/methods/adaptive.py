"""ARC and L-ARC: they learn from the input and the threshold that the service keeps."""

from __future__ import annotations

import numpy as np

from localarc import ARC, LARC
from localarc.adaptive.settings import Settings
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.assumptions import Lateness
from localarc.memory import Dictionary
from localarc.validation import FloatArray
from localarc_service.storage.format import Group, Pending, Score
from localarc_service.streams.methods.base import Method
from localarc_service.streams.state import StreamState

TILE = 256  # points that a dictionary keeps beside its atoms


class AdaptiveMethod(Method[ARC | LARC]):
    """One threshold, or one threshold function."""

    def threshold(self, x: FloatArray, group: Group) -> float:
        """The threshold for an input, whatever its group."""
        return float(self.calibrator.threshold(x))

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss; the score is not used."""
        x = np.frombuffer(pending.x, "<f8")
        self.calibrator.update_late(x, loss, pending.threshold)

    @property
    def rounds(self) -> int:
        """The number of losses since the calibrator's last restart, as its risk counts them."""
        return self.calibrator.rounds_since_restart

    @property
    def loss_sum(self) -> float:
        """The sum of these losses."""
        return self.calibrator.risk * self.rounds if self.rounds else 0.0

    @property
    def consistent(self) -> bool:
        """Whether the constant follows from these losses."""
        return self.calibrator.identity_holds

    def certificate(self, late: Lateness) -> Certificate:
        """Theorems A and B, and the one-sided bound with a floor."""
        return self.calibrator.certificate_of_late(late, Evidence())

    @property
    def settings(self) -> Settings:
        """The settings from which theorems A and B follow."""
        return self.calibrator.settings

    @property
    def broken_since(self) -> float:
        """The first round that broke an assumption of these theorems."""
        return self.calibrator.broken_since

    def problems(self, state: StreamState) -> list[str]:
        """What the run reveals, its latest half by what the history has of it."""
        points = state.points()
        latest = [point for point in points if 2 * point.rounds > state.rounds]
        before = points[len(points) - len(latest) - 1] if len(latest) < len(points) else None
        start = (before.rounds, before.risk * before.rounds) if before else (0, 0.0)
        found = self.calibrator.recent_problems(
            state.rounds - start[0],
            state.loss_sum - start[1],
            pending=max((point.pending for point in latest), default=0),
            thresholds=np.array([point.threshold for point in points]),
        )
        return [*found, *self.calibrator.broken_assumptions]

    @property
    def memory(self) -> str:
        """The memory of the local part."""
        return "none" if isinstance(self.calibrator, ARC) else repr(self.calibrator.memory)

    @property
    def memory_bytes(self) -> int:
        """The size of the local part; a dictionary allocates all of it at its first round."""
        cal = self.calibrator
        if isinstance(cal, LARC) and isinstance(cal.memory, Dictionary):
            size = cal.memory.max_size
            return 8 * size * (size + TILE + 3 + self.config.features)
        return cal.nbytes
