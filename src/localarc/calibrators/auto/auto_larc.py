"""AutoLARC: thresholds for every place and group, with nothing to tune."""

from __future__ import annotations

from typing import Self

from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import GroupNames
from localarc.calibrators.auto.guarded import GuardedCalibrator
from localarc.calibrators.auto.settings import BYTES, MOST_PENDING, checked_settings


class AutoLARC(GuardedCalibrator):
    """Online risk control without settings: for everyone, every group and every place at once.

    The threshold is a base that follows the scores around an input, in units of their spread, plus
    bets. Bettors sit on overlapping nodes (everyone, groups, hats on grids of the features); each
    wins when the losses at its node drift away from `alpha`, and what they win moves the threshold.
    So the mean loss at every node stays near `alpha` for any data: theorem E.

    Parameters
    ----------
    alpha : float
        The target: the average loss that is accepted in the long run, in (0, `loss_bound`).
    limits : (float or None, float or None), default (None, None)
        Thresholds that are never crossed, below and above, in the units of the score.
    promise : "both" or "at most", default "both"
        Whether the risk is kept near `alpha` from both sides, or only from above.
    evenness : float, default 1.0
        How strongly places are evened out. More makes local risks more equal and sets larger.
    loss_bound : float, default 1.0
        B, the largest loss that a round may have.
    unit : float or None, default None
        A typical difference between scores, required only if scores are never passed.
    initial_threshold : float or None, default None
        The threshold before the first score, in the units of the score. None: infinite (the
        ceiling, if `limits` state one), so that the set is the full one, until `1/alpha - 1` scores
        are known, but at most 16. Such rounds are counted apart, see `certificate().uninformed`: no
        bettor is charged for them. If a loss without a score arrives before any score, no
        scores are expected, and thresholds start at 0.
    max_bytes : int, default 9000000
        Bounds the table of nodes. A full table adds no nodes until it can drop idle ones.
    max_pending : int, default 1000000
        The most tickets that may be pending. `ask` then fails until `tell` or `forget` frees one.

    Examples
    --------
    >>> cal = AutoLARC(alpha=0.1)
    >>> scores = [0.3, 0.1, 0.7, 0.2, 0.5]
    >>> for score in scores:
    ...     loss = float(score > cal.threshold([0.0], groups="left"))
    ...     _ = cal.update([0.0], loss, score, groups="left")
    >>> cal.threshold([0.0], groups="left") > 0.5
    True

    References
    ----------
    Orabona and Pal, *Coin betting and parameter-free online learning*, NeurIPS 2016.
    Podkopaev, Xu and Lee, *Adaptive conformal inference by betting*, ICML 2024.
    Zecchin and Simeone, *Localized adaptive risk control*, NeurIPS 2024.
    """

    def __init__(
        self,
        alpha: float,
        *,
        limits: tuple[float | None, float | None] = (None, None),
        promise: str = "both",
        evenness: float = 1.0,
        loss_bound: float = 1.0,
        unit: float | None = None,
        initial_threshold: float | None = None,
        max_bytes: int = BYTES,
        max_pending: int = MOST_PENDING,
    ) -> None:
        self._start(
            checked_settings(
                alpha=alpha,
                limits=limits,
                promise=promise,
                evenness=evenness,
                loss_bound=loss_bound,
                unit=unit,
                initial_threshold=initial_threshold,
                max_bytes=max_bytes,
                max_pending=max_pending,
            )
        )

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """The calibrator whose `state` this was, with its pending tickets.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        found = stored.decode(cls.__name__, data, cls._own_base)
        new = cls.__new__(cls)
        new._start(found.settings)
        new._continue(found.engine, GroupNames(found.labels))
        return new

    def restart_units(self) -> Self:
        """Relearn where scores lie, as after a change of the model; the promise continues.

        The sums of theorem E are kept, so that it holds for the rounds before and after together.
        Nothing may be pending: tell or forget tickets first.
        """
        if self.pending:
            raise RuntimeError(
                f"{len(self.pending)} tickets are pending, in the units of earlier scores. Tell "
                "their losses, or forget them, first."
            )
        with self._exclusive():
            if self._engine is not None:
                self._engine.restart_units()
        return self
