"""ARC and L-ARC: they learn from the input and the threshold that the service keeps."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from localarc import ARC, LARC
from localarc.adaptive.settings import Settings
from localarc.guarantees import Certificate, Evidence
from localarc.guarantees.assumptions import Lateness
from localarc.memory import Auto, Dictionary
from localarc_client.wire.config import ArcConfig, LarcConfig, MondrianConfig
from localarc_service.stored.events import PredictionMade
from localarc_service.stored.format import Pending, Score
from localarc_service.streams.methods import parts
from localarc_service.streams.methods.base import Asked, Method, features_of
from localarc_service.streams.size_limits import check_size
from localarc_service.streams.state import StreamState

TILE = 256  # points that a dictionary keeps beside its atoms


# ---- from a config, and back -----------------------------------------------------------------

_SHARED = "loss_bound", "score_range", "initial_threshold", "floor"


def build(config: ArcConfig | LarcConfig) -> ARC | LARC:
    """The calibrator of a config."""
    if isinstance(config, ArcConfig):
        return build_arc(config)
    check_size(config)
    return LARC(
        config.alpha,
        parts.kernel_of(config.kernel),
        parts.rate_of(config.rate),
        config.regularization,
        memory=parts.memory_of(config),
        clip=config.clip,
        **_shared(config),
    ).silence()


def build_arc(config: ArcConfig | MondrianConfig) -> ARC:
    """A calibrator with one threshold."""
    return ARC(config.alpha, parts.rate_of(config.rate), **_shared(config)).silence()


def config_of(settings: Settings, features: int, names: list[str] | None) -> ArcConfig | LarcConfig:
    """The config of calibrators with these settings, whose memory is chosen."""
    about = {"rate": parts.rate_config(settings.rate), **_shared(settings)}
    about |= {"features": features, "feature_names": names}
    if settings.kernel is None:
        return ArcConfig(settings.alpha, **about)
    return LarcConfig(
        settings.alpha,
        kernel=parts.kernel_config(settings.kernel),
        regularization=settings.regularization,
        memory=parts.memory_config(settings.memory),
        clip=settings.clip,
        **about,
    )


def with_chosen_memory(settings: Settings, features: int) -> Settings:
    """The settings with the memory that the automatic one of L-ARC becomes."""
    if settings.kernel is None or not isinstance(settings.memory, Auto):
        return settings
    return dataclasses.replace(settings, memory=settings.memory.chosen(settings.kernel, features))


def _shared(source: Any) -> dict[str, Any]:
    """What configs and settings have by the same names."""
    return {name: getattr(source, name) for name in _SHARED}


# ---- in use ----------------------------------------------------------------------------------


class AdaptiveMethod(Method[ARC | LARC]):
    """One threshold, or one threshold function."""

    def ask(self, event: PredictionMade) -> Asked:
        """The threshold, from which the service learns later; raises if it overflowed."""
        threshold = self.threshold(features_of(event), event.group)
        if not math.isfinite(threshold):
            raise ValueError(
                f"the threshold at this input is {threshold}: the scale or rate is too large."
            )
        return Asked(threshold)

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss; the score is not used."""
        x = np.frombuffer(pending.x, "<f8")
        self.calibrator.update_late(x, loss, pending.threshold)

    def forget(self, pending: Pending) -> None:
        """The calibrator does not wait for it."""

    def tickets(self) -> None:
        """There are no tickets."""

    @property
    def rounds(self) -> int:
        """The number of losses since the calibrator's last restart, as its risk counts them."""
        return self.calibrator.rounds_since_restart

    @property
    def loss_sum(self) -> float:
        """The sum of these losses."""
        return self.calibrator.risk * self.rounds if self.rounds else 0.0

    @property
    def pending(self) -> None:
        """The calibrator does not wait for losses."""

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
