"""Bounds on the distance between the mean loss and the target: ours and the paper's.

Proofs are in `docs/guarantees.md`. (A1) losses lie in [0, B]; (A2) the full set costs at most
alpha; (A3) the empty set costs at least alpha; (F) the local part stays in [-F_-, F_+]. What the
floor has lifted is observed, and adds to the two-sided bounds.
"""

from __future__ import annotations

import math

from localarc import validation
from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.guarantees.assumptions import (
    Lateness,
    broken_empty_set,
    broken_full_set,
    broken_rate,
)
from localarc.guarantees.bounds import Bound, Evidence, Side
from localarc.guarantees.drift import MOST_ROUNDS, NormSums
from localarc.rates import InverseSqrt

_A12 = ("losses in [0, B]", "full set costs <= alpha")
_A = (*_A12, "empty set costs >= alpha")
_RESTARTED = "the local part did not start at 0, after a restart"
_UNBOUNDED = "the score range is unknown: state score_range"


def observed(constant: RunningConstant) -> Bound:
    """CERT: from the running constant alone, for any data."""
    rise = (constant.constant - constant.lowest) * constant.inverse_rate
    fall = (constant.highest - constant.constant) * constant.inverse_rate + constant.lifted
    value = max(rise, fall) / constant.rounds if constant.rounds else math.inf
    unmet = (*_started(constant), *broken_rate(constant))
    return Bound("observed (CERT)", value, ("the running constant is complete",), unmet)


def theorem_a(
    settings: Settings, constant: RunningConstant, evidence: Evidence, late: Lateness
) -> Bound:
    """The range of c, divided by eta_T T: no residual, for any data.

    With a floor, c cannot fall below it, whether or not (A3) holds.
    """
    both = settings.floor is None
    value, unmet = math.inf, [*_started(constant), *_known(settings, constant, evidence, both)]
    if constant.rounds and (scores := score_range(settings, evidence)):
        low, high = _constant_range(settings, constant, scores, settings.rate(1), late.pending)
        start, low = constant.start, low if settings.floor is None else settings.floor
        reach = (max(high, start) - min(low, start)) * constant.inverse_rate
        value = (reach + constant.lifted) / constant.rounds
        unmet += _finite(value)
    assumes = (*_assumed(settings, evidence, both), "bounded local part", *late.assumes)
    return Bound("theorem A", value, assumes, tuple(unmet))


def at_most(
    settings: Settings, constant: RunningConstant, evidence: Evidence, late: Lateness
) -> Bound:
    """One-sided, with a floor: (max c - floor) / (eta_T T), without (A3)."""
    unmet = [*_started(constant), *_known(settings, constant, evidence, both=False)]
    value, scores, floor = math.inf, score_range(settings, evidence), settings.floor
    if floor is None:
        unmet.append("no floor is set")
    elif constant.rounds and scores:
        _, high = _constant_range(settings, constant, scores, settings.rate(1), late.pending)
        value = (max(high, constant.start) - floor) * constant.inverse_rate / constant.rounds
        unmet += _finite(value)
    assumes = (*_assumed(settings, evidence, both=False), "bounded local part", *late.assumes)
    return Bound("at most", value, assumes, tuple(unmet), side="above")


def theorem_b(
    settings: Settings,
    constant: RunningConstant,
    evidence: Evidence,
    norms: NormSums | None,
    late: Lateness,
) -> Bound:
    """Without lambda: the norm of g grows slowly, so c does."""
    inexact = _exact(settings, constant, late.pending)
    unmet = [*_started(constant), *_known(settings, constant, evidence), *inexact]
    value = math.inf
    if norms and constant.rounds and not inexact:
        value = norms.theorem_b_bound + constant.lifted / constant.rounds
    assumes = (*_assumed(settings, evidence), *_norm_assumptions(settings), *late.assumes)
    return Bound("theorem B", value, assumes, tuple(unmet))


def theorem_c(
    settings: Settings,
    constant: RunningConstant,
    evidence: Evidence,
    norms: NormSums | None,
    late: Lateness,
    weight_norm: float,
) -> Bound:
    """For every weight w: the mean of (loss - alpha) w(x) is at most this."""
    norm = validation.not_negative(
        "weight_norm", weight_norm, "It is the norm of the weight, sqrt(|f_w|^2 + c_w^2)."
    )
    inexact = _exact(settings, constant, late.pending)
    unmet = [*_started(constant), *_known(settings, constant, evidence), *inexact]
    if settings.radius is not None:
        unmet.append("radius projects the local part, which theorem C does not cover")
    value = math.inf
    if norms and constant.rounds and settings.radius is None and not inexact:
        lifted = constant.lifted / constant.rounds
        value = norm * (norms.theorem_b_bound + norms.regularization_cost + lifted)
    assumes = [*_assumed(settings, evidence), *_norm_assumptions(settings), *late.assumes]
    if settings.kernel is None:
        assumes.append("a constant weight, since there is no kernel")
    return Bound("theorem C", value, tuple(assumes), tuple(unmet))


def forward(
    settings: Settings, constant: RunningConstant, evidence: Evidence, late: Lateness, rounds: int
) -> Bound:
    """For the mean loss at a later round, from where c has been and where it can go.

    With a floor it is one-sided: how far the floor will lift c is not known in advance.
    """
    hint = "It must be a round that is still to come."
    rounds = validation.integer("rounds", rounds, constant.rounds + 1, hint)
    both = settings.floor is None
    value, unmet = math.inf, list(_known(settings, constant, evidence, both))
    if scores := score_range(settings, evidence):
        step = settings.rate(constant.rounds + 1)
        low, high = _constant_range(settings, constant, scores, step, late.pending, rounds)
        reach = late.pending * step  # pending losses may still push c from where it is now
        low = min(low, constant.lowest, constant.constant - reach * settings.alpha)
        up = settings.loss_bound - settings.alpha
        high = max(high, constant.highest, constant.constant + reach * up)
        low = low if settings.floor is None else settings.floor
        value = (high - low) / (settings.rate(rounds) * rounds)
        unmet += _finite(value)
    ahead = _assumed(settings, evidence, both, ahead=True)
    assumes = (*ahead, "bounded local part", *late.assumes)
    side: Side = "both" if both else "above"
    return Bound(f"forward to T = {rounds}", value, assumes, tuple(unmet), side)


def paper(
    settings: Settings,
    constant: RunningConstant,
    evidence: Evidence,
    input_bound: float | None,
    dimension: int | None,
    late: Lateness,
) -> Bound:
    """The paper's own bound: its eq. (6), corrected, without a kernel; else its theorem 2."""
    name = "paper, eq. (6) corrected" if settings.kernel is None else "paper, theorem 2"
    unmet = [*_started(constant), *_known(settings, constant, evidence)]
    if not isinstance(settings.rate, InverseSqrt):
        unmet.append("the paper's bound is for rates eta / sqrt(t)")
    if late.pending:
        unmet.append("the paper's bound requires immediate feedback")
    if constant.earlier:
        unmet.append(_RESTARTED)
    if settings.floor is not None:
        unmet.append("the paper's bound is for a constant without a floor")
    scores = score_range(settings, evidence)
    assumes = (*_assumed(settings, evidence), *late.assumes)
    if unmet or scores is None:
        return Bound(name, math.inf, assumes, tuple(unmet))
    # c_1 must lie in the range, and (A2), (A3) hold for every larger one: take it in.
    start = constant.start
    span = max(scores[1], start) - min(scores[0], start)
    eta, B = settings.rate(1), settings.loss_bound
    root = math.sqrt(constant.rounds)
    if settings.kernel is None:
        return Bound(name, (span / eta + B) / root, assumes)
    rho = settings.kernel.lipschitz(dimension or 1)
    unmet += _exact(settings, constant, 0)
    return _theorem_2(settings, name, assumes, unmet, span / eta, root, input_bound, rho)


def _theorem_2(
    settings: Settings,
    name: str,
    assumed: tuple[str, ...],
    unmet: list[str],
    start: float,
    root: float,
    input_bound: float | None,
    rho: float | None,
) -> Bound:
    assumes = (*assumed, "inputs of norm <= D", "the printed proof, which takes |x| beyond D")
    kernel, B = settings.kernel, settings.loss_bound
    if not kernel or kernel.scale is None or rho is None:
        unmet.append("the kernel's scale and Lipschitz constant are unknown")
    if input_bound is None:
        unmet.append("the largest input norm D is unknown: state input_bound")
    if settings.regularization == 0:
        unmet.append("regularization is 0")
    if unmet or kernel is None or kernel.scale is None or rho is None or input_bound is None:
        return Bound(name, math.inf, assumes, tuple(unmet))
    kappa = kernel.scale
    local = 4.0 * B * math.sqrt(rho * kappa * input_bound)
    local /= settings.rate(1) * settings.regularization
    value = (start + local + 2.0 * B * (2.0 * kappa + 1.0)) / root + kappa * B
    return Bound(name, value, assumes)


def score_range(settings: Settings, evidence: Evidence) -> tuple[float, float] | None:
    """The range that the user stated, else the one observed."""
    return settings.score_range or evidence.score_range


def _constant_range(
    settings: Settings,
    constant: RunningConstant,
    scores: tuple[float, float],
    step: float,
    pending: int,
    rounds: int | None = None,
) -> tuple[float, float]:
    """Where c can be: a loss above alpha cannot come while the set is full, nor below if empty."""
    below, above = local_range(settings, rounds or constant.rounds, constant.earlier)
    steps = (pending + 1) * step  # with D losses pending, D more may still push outwards
    low = scores[0] - above - steps * settings.alpha
    high = scores[1] + below + steps * (settings.loss_bound - settings.alpha)
    return low, high


def local_range(settings: Settings, rounds: int, earlier: int = 0) -> tuple[float, float]:
    """(F_-, F_+): the local part of a threshold lies in [-F_-, F_+] in this number of rounds."""
    kernel = settings.kernel
    if kernel is None or kernel.scale == 0:
        return 0.0, 0.0
    down, up = settings.alpha, settings.loss_bound - settings.alpha
    if not kernel.nonnegative:
        down = up = max(down, up)
    kappa = math.inf if kernel.scale is None else kernel.scale * (1.0 + settings.memory.excess)
    reach = _reach(settings, rounds, earlier)
    limit = math.inf if settings.clip is None else settings.clip
    if settings.radius is not None:
        limit = min(limit, settings.radius * math.sqrt(kappa))
    return min(kappa * down * reach, limit), min(kappa * up * reach, limit)


def _reach(settings: Settings, rounds: int, earlier: int) -> float:
    """f is at most kappa (B - alpha) times this: the sum of its steps, as far as they are kept."""
    memory = settings.memory
    if not memory.exact and memory.window is None:
        return math.inf  # a projection may be larger than what it projects
    reach = settings.rate.sum_bound(min(rounds, memory.window or rounds))
    if earlier:  # the steps of earlier segments are not known; each is at most the first
        reach = settings.rate(1) * min(memory.window or math.inf, earlier + rounds)
    return min(reach, 1.0 / settings.regularization) if settings.regularization else reach


def _started(constant: RunningConstant) -> tuple[str, ...]:
    return () if constant.rounds else ("no round has been seen",)


def _assumed(
    settings: Settings, evidence: Evidence, both: bool = True, ahead: bool = False
) -> tuple[str, ...]:
    """(A1), (A2), for both sides (A3), and the range of scores with where it comes from."""
    scores, assumed = score_range(settings, evidence), _A if both else _A12
    if scores is None:
        return (*assumed, "bounded scores")
    seen = "as seen so far, also from now on" if ahead else "as seen"
    source = "as stated" if settings.score_range else seen
    return (*assumed, f"scores in [{scores[0]:.4g}, {scores[1]:.4g}], {source}")


def _known(
    settings: Settings, constant: RunningConstant, evidence: Evidence, both: bool = True
) -> tuple[str, ...]:
    """Which of (A2), for both sides (A3), bounded scores and a falling rate are known to fail."""
    unmet = list(evidence.violations(constant.rounds, both))
    if not evidence.full_set_fails:
        unmet += broken_full_set(constant)
    if both and not evidence.empty_set_passes:
        unmet += broken_empty_set(constant)
    unmet += broken_rate(constant)
    stated, seen = settings.score_range, evidence.score_range
    if stated is None and seen is None:
        unmet.append(_UNBOUNDED)
    if stated and seen and not (stated[0] <= seen[0] and seen[1] <= stated[1]):
        unmet.append(f"scores in {seen} leave the stated score_range {stated}")
    return tuple(unmet)


def _exact(settings: Settings, constant: RunningConstant, pending: int) -> tuple[str, ...]:
    """Why the norm argument of theorems B and C does not apply, if it does not."""
    unmet = []
    if settings.kernel is not None:
        if constant.earlier:
            unmet.append(_RESTARTED)
        if settings.kernel.scale is None:
            unmet.append("the kernel's scale is unknown: use Custom(function, scale=...)")
        if not settings.memory.exact:
            unmet.append(f"{settings.memory!r} does not keep every term")
        if settings.clip is not None:
            unmet.append("clip changes thresholds but not the local part")
    if pending:
        unmet.append(f"{pending} loss(es) may be pending")
    if constant.rounds > MOST_ROUNDS:
        unmet.append(f"its sums are not computed beyond {MOST_ROUNDS:,} rounds")
    return tuple(unmet)


def _norm_assumptions(settings: Settings) -> tuple[str, ...]:
    """What the norm argument needs of the kernel and its memory."""
    assumed = None if settings.kernel is None else settings.kernel.assumption
    return "every term kept", "feedback in order", *(() if assumed is None else (assumed,))


def _finite(value: float) -> list[str]:
    return [] if math.isfinite(value) else ["the local part is not bounded: set clip or radius"]
