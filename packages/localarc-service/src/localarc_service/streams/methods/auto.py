"""AutoLARC: groups overlap, losses come with scores, and predictions have tickets."""

from __future__ import annotations

from typing import Any

from localarc import AutoLARC, validation
from localarc.betting import AutoCertificate
from localarc.calibrators.auto.settings import AutoSettings
from localarc.guarantees import Bound, Evidence
from localarc.guarantees.assumptions import Lateness
from localarc_client.wire.config import AutoConfig
from localarc_client.wire.config_parts import NodesMemory
from localarc_service.stored.format import Group, Pending, Score
from localarc_service.streams.methods.base import Method

# ---- from a config, and back -----------------------------------------------------------------

_SHARED = "limits", "promise", "evenness", "loss_bound", "unit", "initial_threshold"


def build(config: AutoConfig) -> AutoLARC:
    """The calibrator of a config."""
    if config.score_range is not None:
        validation.ascending_pair(config.score_range)  # the certificate's, not the calibrator's
    return AutoLARC(config.alpha, max_bytes=config.memory.max_bytes, **_shared(config))


def config_of(settings: AutoSettings, features: int, names: list[str] | None) -> AutoConfig:
    """The config of calibrators with these settings."""
    memory = NodesMemory(settings.max_bytes)
    about = {"features": features, "feature_names": names, **_shared(settings)}
    return AutoConfig(settings.alpha, memory=memory, **about)


def _shared(source: Any) -> dict[str, Any]:
    """What configs and settings have by the same names."""
    return {name: getattr(source, name) for name in _SHARED}


# ---- in use ----------------------------------------------------------------------------------


class AutoMethod(Method[AutoLARC]):
    """Thresholds for every place and group, with nothing to tune."""

    config: AutoConfig

    def is_informed(self, group: Group) -> bool:
        """Whether enough scores are known for a threshold."""
        return self.calibrator.is_informed

    @property
    def uninformed(self) -> tuple[int, float]:
        """How many losses are no part of the promise, and their sum."""
        return self.calibrator.uninformed

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss and its score."""
        if score is None and self.calibrator.requires_scores:
            raise ValueError(
                "method auto learns from scores. Send score with the loss, the smallest threshold "
                "whose loss is at most alpha, or, if the stream has a set, the outcome instead of "
                "the loss. To learn from losses alone, create a stream with unit, a typical "
                "difference between scores, and limits, such as [0.0, null]; or with method arc."
            )
        super().learn(pending, loss, score)

    @property
    def _stated(self) -> Evidence | None:
        """The range of scores that the config states."""
        return self.config.score_range and Evidence(self.config.score_range)

    def certificate(self, late: Lateness) -> AutoCertificate:
        """Theorem E, given the stated range of scores; tickets know what was pending."""
        return self.calibrator.certificate(evidence=self._stated)

    def found(self) -> list[str]:
        """What the calibrator reveals, given the stated range of scores."""
        return self.calibrator.problems(self._stated)

    def bound(self, certificate: Any) -> Bound:
        """Theorem E on both sides, or the side that is guaranteed."""
        both: Bound = certificate.bound
        return both if both.holds and self.config.promise == "both" else certificate.above
