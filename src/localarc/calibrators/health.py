"""Health: what a run gets wrong without any error, and which number to change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.guarantees.chance import FIRST_LOOK, deviation
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray

Key: TypeAlias = Literal["risk", "slow", "start", "full set", "steps", "pending", "thresholds"]

_MARGIN = 0.2  # of the target: a smaller deviation is no reason to interrupt anybody
_SHARE = 0.05  # of the typical distance: a step that suits a rate that does not decay
_TAIL = 0.2  # of the range: scores that are concentrated further do not define a distance
_OUTER = 0.01  # of the latest thresholds may lie anywhere, on either side


class PromiseWarning(UserWarning):
    """A run does not keep its promise, or its settings endanger it: says which number to change."""


@dataclass(frozen=True)
class Problem:
    """One thing that goes wrong, in a sentence that names the number to change."""

    key: Key
    text: str
    suggestion: float | None = None  # the value to try

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Scores:
    """The range of the scores, and the threshold that would have met the target."""

    low: float
    high: float
    wanted: float | None = None  # None if only the range is known

    @property
    def span(self) -> float:
        """The width of the range."""
        return self.high - self.low

    @property
    def typical(self) -> float:
        """The distance that a threshold has to cover: a first step of a useful size."""
        return self.span / 2.0 if self.wanted is None else self.wanted - self.low

    @property
    def reach(self) -> float:
        """A step of this size crosses the scores: their range, or less if that is of a few."""
        double = 2.0 * self.typical
        return min(self.span, double) if double > _TAIL * self.span else self.span


@dataclass(frozen=True)
class Vitals:
    """The numbers of a run from which its problems follow."""

    alpha: float
    loss_bound: float
    rounds: int
    risk: float
    recent_rounds: int  # the latest rounds, about half of all: the start is forgiven
    recent_risk: float
    first_step: float | None = None  # eta_1 and eta_t; None if there is no rate to change
    step: float = 0.0
    gain: float = 1.0  # how far a threshold moves in a step of size 1: 1 + kappa for L-ARC
    start: float = 0.0
    constant: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    floor: float = -math.inf  # of the constant
    pending: int = 0
    scores: Scores | None = None
    thresholds: tuple[float, float] | None = None  # the range of the latest ones

    @property
    def decays(self) -> bool:
        """Whether steps become smaller."""
        return self.first_step is not None and self.step < 0.5 * self.first_step


def problems(run: Vitals) -> tuple[Problem, ...]:
    """What goes wrong in a run; nothing before round 128, and nothing that chance explains."""
    return tuple(_problems(run)) if run.rounds >= FIRST_LOOK else ()


def _problems(run: Vitals) -> Iterator[Problem]:
    deviates = _deviation_sign(run)
    if deviates and not _breaks_assumption(run, deviates):
        yield _diagnose(run, deviates)
    overshoot = _pending(run) or _steps(run)
    if overshoot:
        yield overshoot
    elif outside := _thresholds(run, deviates):
        yield outside


def _deviation_sign(run: Vitals) -> int:
    """1 if the risk is above the target, -1 if below; 0 if chance explains it or it is over."""
    alpha, variance = run.alpha, run.alpha * (run.loss_bound - run.alpha)
    late = run.pending * run.loss_bound  # the losses of rounds before any feedback
    limit = deviation(run.rounds, alpha, run.loss_bound) + _MARGIN * alpha + late / run.rounds
    recent = max(run.recent_rounds, 1)
    still = _MARGIN * alpha + 2.0 * math.sqrt(variance / recent) + late / recent
    if run.risk > alpha + limit and run.recent_risk > alpha + still:
        return 1
    if run.lowest <= run.floor:  # harmless rounds, which a floor is for
        return 0
    return -1 if run.risk < alpha - limit and run.recent_risk < alpha - still else 0


def _breaks_assumption(run: Vitals, sign: int) -> bool:
    """Whether thresholds beyond all scores did not help, which an `AssumptionWarning` reports."""
    if run.scores is None or (run.thresholds is None and run.gain != 1.0):
        return False
    low, high = run.thresholds or (run.constant, run.constant)
    if sign < 0:
        return high < run.scores.low  # an empty set costs less than the target
    return run.thresholds is None and low > run.scores.high  # a full set costs more


def _diagnose(run: Vitals, sign: int) -> Problem:
    """Why the risk is off: a full set that fails, a far start or a slow rate."""
    facts = (
        f"the mean loss is {run.risk:.3g} after {run.rounds:,} rounds, for a target of "
        f"{run.alpha:g}, and chance does not explain it"
    )
    scores = run.scores
    if sign > 0 and scores and run.thresholds and run.thresholds[0] >= scores.high:
        alpha = _digits(run.recent_risk)
        text = f"{facts}: even thresholds above every score lose that much. Try alpha={alpha:g}."
        return Problem("full set", _capital(text), alpha)
    if run.first_step is None:
        return Problem("risk", f"{_capital(facts)}. Check the calibrator's settings.")
    if scores and _gap(run.start, scores) > scores.span:
        start = float(f"{scores.low + scores.typical:.4g}")
        return Problem(
            "start",
            f"initial_threshold={run.start:g} is far from scores between {scores.low:.4g} and "
            f"{scores.high:.4g}: {facts}. Try initial_threshold={start:g}.",
            start,
        )
    return _slow(run, sign, facts)


def _gap(value: float, scores: Scores) -> float:
    return max(scores.low - value, value - scores.high, 0.0)


def _slow(run: Vitals, sign: int, facts: str) -> Problem:
    """The rate is too small for what thresholds have to cover, from the start or by now."""
    first = run.first_step or run.step
    rate = _digits(max(_suitable(run) or _extrapolated(run, sign), 2.0 * first))
    reached = run.constant - run.lowest if sign > 0 else run.highest - run.constant
    if reached >= 0.9 * (run.highest - run.lowest):
        where = (
            f" for scores between {run.scores.low:.4g} and {run.scores.high:.4g}"
            if run.scores
            else f", thresholds are still {'rising' if sign > 0 else 'falling'}"
        )
        return Problem("slow", f"rate={first:g} is small{where}: {facts}. Try rate={rate:g}.", rate)
    text = f"{facts}: its steps are too small to follow the stream. Try rate={rate:g}."
    return Problem("risk", f"rate={first:g}: {text}", rate)


def _suitable(run: Vitals) -> float | None:
    """A rate in proportion to the scores, where they are known."""
    if run.scores is None or run.scores.typical <= 0.0:
        return None
    return run.scores.typical * (1.0 if run.decays else _SHARE)


def _extrapolated(run: Vitals, sign: int) -> float:
    """A rate for unknown scores, as if losses became rarer exponentially with the threshold."""
    covered = abs(run.constant - run.start)
    if sign < 0 or covered == 0.0:
        return 4.0 * (run.first_step or run.step)
    now = min(run.recent_risk / run.loss_bound, 0.95)
    distance = covered * math.log(run.loss_bound / run.alpha) / -math.log(now)
    return distance * (1.0 if run.decays else _SHARE)


def _pending(run: Vitals) -> Problem | None:
    """The losses that are pending move the threshold together, further than scores reach."""
    if not (run.pending and run.first_step and run.scores and run.scores.span > 0.0):
        return None
    together = (run.pending + 1) * run.step * run.loss_bound * run.gain
    if together <= run.scores.span:
        return None
    rate = _digits(min(_rate_when_late(run, run.scores), 0.5 * run.first_step))
    return Problem(
        "pending",
        f"rate={run.first_step:g} is large for {run.pending} pending losses: together they move a "
        f"threshold by up to {together:.3g}, and scores span {run.scores.span:.3g}. "
        f"Try rate={rate:g}.",
        rate,
    )


def _rate_when_late(run: Vitals, scores: Scores) -> float:
    """A rate with which the first losses, which arrive together, cover the scores once.

    With a rate `eta / sqrt(t)`, the first D + 1 steps add up to `2 eta sqrt(D + 1)`.
    """
    distance = scores.span if scores.wanted is None else scores.typical or scores.span
    late = run.pending + 1
    return distance / run.gain / (2.0 * math.sqrt(late) if run.decays else late)


def _steps(run: Vitals) -> Problem | None:
    """A single loss moves the threshold across the whole range of the scores."""
    if not (run.first_step and run.scores and run.scores.span > 0.0):
        return None
    reach = run.step * run.loss_bound * run.gain
    if reach < run.scores.reach:
        return None
    rate = _digits(min(_suitable(run) or math.inf, 0.5 * run.first_step))
    return Problem(
        "steps",
        f"rate={run.first_step:g} is large for scores between {run.scores.low:.4g} and "
        f"{run.scores.high:.4g}: after {run.rounds:,} rounds, one loss still moves a threshold by "
        f"{reach:.3g}. Try rate={rate:g}.",
        rate,
    )


def _thresholds(run: Vitals, deviates: int) -> Problem | None:
    """The latest thresholds lie outside the scores by more than their range."""
    if not run.scores or run.scores.span <= 0.0 or deviates:
        return None
    if run.thresholds is None and run.gain != 1.0:  # the constant alone is no threshold
        return None
    low, high = run.thresholds or (run.constant, run.constant)
    scores = run.scores
    text = (
        f"thresholds lie between {low:.3g} and {high:.3g}, far outside scores between "
        f"{scores.low:.4g} and {scores.high:.4g}"
    )
    below, above = scores.low - low, high - scores.high
    if above > max(below, scores.span):
        if run.first_step is None:
            return Problem("thresholds", f"{_capital(text)}. Check the scores.")
        rate = _digits(run.first_step * scores.span / (scores.span + above))
        return Problem("thresholds", f"rate={run.first_step:g}: {text}. Try rate={rate:g}.", rate)
    if run.thresholds is None or below <= scores.span:  # a broken assumption is reported elsewhere
        return None
    floor = float(f"{scores.low:.4g}")
    return Problem(
        "thresholds",
        f"{_capital(text)}: rounds that cannot fail lower them. Try floor={floor:g}.",
        floor,
    )


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _digits(value: float) -> float:
    """The number with two digits, as one types it."""
    return float(f"{value:.2g}")


# ---- the vitals of a calibrator --------------------------------------------------------------


def vitals(
    settings: Settings,
    constant: RunningConstant,
    recent_rounds: int,
    recent_losses: float,
    *,
    pending: int = 0,
    scores: Scores | None = None,
    thresholds: tuple[float, float] | None = None,
) -> Vitals:
    """The vitals of ARC or L-ARC; scores and thresholds where they are known, else as stated."""
    if scores is None and settings.score_range is not None:
        scores = Scores(*settings.score_range)
    kernel_scale = 0.0 if settings.kernel is None else settings.kernel.scale
    return Vitals(
        alpha=settings.alpha,
        loss_bound=settings.loss_bound,
        rounds=constant.rounds,
        risk=constant.risk,
        recent_rounds=recent_rounds,
        recent_risk=recent_losses / recent_rounds if recent_rounds else constant.risk,
        first_step=settings.rate(1),
        step=1.0 / constant.inverse_rate if constant.inverse_rate else settings.rate(1),
        gain=1.0 + (kernel_scale or 0.0),
        start=constant.start,
        constant=constant.constant,
        lowest=constant.lowest,
        highest=constant.highest,
        floor=settings.limits[1],
        pending=pending,
        scores=scores,
        thresholds=thresholds,
    )


def outcome(
    alpha: float,
    loss_bound: float,
    thresholds: FloatArray,
    losses: FloatArray,
    curves: LossCurves | None = None,
    may_be_low: bool = False,
) -> Vitals:
    """The vitals of any calibrator: the outcome of a run, without a rate to change.

    A low risk `may_be_low` without a problem: only the other side is promised, or rounds were
    harmless.
    """
    recent = losses[len(losses) // 2 :]
    return Vitals(
        alpha=alpha,
        loss_bound=loss_bound,
        rounds=len(losses),
        risk=float(losses.mean()) if len(losses) else math.nan,
        recent_rounds=len(recent),
        recent_risk=float(recent.mean()) if len(recent) else math.nan,
        scores=None if curves is None else scores_of(curves, alpha, loss_bound),
        thresholds=latest_range(thresholds),
        floor=math.inf if may_be_low else -math.inf,
    )


def scores_of(curves: LossCurves, alpha: float, loss_bound: float) -> Scores | None:
    """The scores of a stream whose curves are known; None if nothing depends on the threshold."""
    steps = curves.breakpoints[np.isfinite(curves.breakpoints)]
    if not len(steps):
        return None
    low, high = float(steps.min()), float(steps.max())
    starts, ends = curves.offsets[:-1], curves.offsets[1:]
    costly = np.add.reduceat(curves.losses > alpha, starts, dtype=np.int64)
    meets = costly < ends - starts  # some threshold meets the target
    wanted = np.full(len(starts), high)
    wanted[meets] = np.clip(curves.breakpoints[(starts + costly)[meets]], low, high)
    rank = min(len(wanted) - 1, int((1.0 - alpha / loss_bound) * len(wanted)))
    return Scores(low, high, float(np.partition(wanted, rank)[rank]))


def latest_range(thresholds: FloatArray) -> tuple[float, float] | None:
    """The range of the latest half of the thresholds, but for one percent on either side."""
    latest = thresholds[len(thresholds) // 2 :]
    latest = latest[np.isfinite(latest)]
    if not len(latest):
        return None
    first = math.floor(_OUTER * len(latest))
    last = len(latest) - 1 - first
    parted = np.partition(latest, (first, last))
    return float(parted[first]), float(parted[last])
