"""Run-time warnings: each problem is named once, with a number to try; healthy runs are silent."""

import sys
import warnings
from dataclasses import replace as with_changes

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Constant, Mondrian, PromiseWarning, replay
from localarc.calibrators.health import Problem, Scores, Vitals, problems, scores_of
from localarc.curves import from_table, miscoverage

CALM = Vitals(
    alpha=0.1,
    loss_bound=1.0,
    rounds=4096,
    risk=0.1,
    recent_rounds=2048,
    recent_risk=0.1,
    first_step=1.0,
    step=1.0 / 64.0,
    constant=0.9,
    highest=1.0,
    scores=Scores(0.0, 1.0, 0.9),
    thresholds=(0.85, 0.95),
)


def found(**changes: object) -> list[Problem]:
    return list(problems(with_changes(CALM, **changes)))  # type: ignore[arg-type]


def keys(**changes: object) -> list[str]:
    return [problem.key for problem in found(**changes)]


def test_a_calm_run_has_no_problem() -> None:
    assert keys() == []


def test_nothing_is_said_before_round_128() -> None:
    assert keys(rounds=127, risk=1.0, recent_risk=1.0, recent_rounds=64) == []
    assert keys(rounds=128, risk=1.0, recent_risk=1.0, recent_rounds=64) != []


def test_a_risk_that_chance_explains_is_no_problem() -> None:
    assert keys(rounds=128, recent_rounds=64, risk=0.2, recent_risk=0.25) == []


def test_a_bad_start_that_is_over_is_no_problem() -> None:
    assert keys(risk=0.2, recent_risk=0.11) == []


def test_a_threshold_that_still_rises_asks_for_a_rate_as_large_as_the_scores() -> None:
    slow = Scores(0.3, 140.0, 35.0)
    (problem,) = found(risk=0.3, recent_risk=0.2, constant=30.0, highest=30.0, scores=slow)
    assert problem.key == "slow"
    assert problem.suggestion == 35.0
    assert problem.text == (
        "rate=1 is small for scores between 0.3 and 140: the mean loss is 0.3 after 4,096 rounds, "
        "for a target of 0.1, and chance does not explain it. Try rate=35."
    )


def test_a_rate_that_does_not_decay_is_replaced_by_a_smaller_one() -> None:
    slow = Scores(0.0, 140.0, 40.0)
    (problem,) = found(
        risk=0.3,
        recent_risk=0.2,
        constant=9.0,
        highest=9.0,
        scores=slow,
        first_step=0.01,
        step=0.01,
    )
    assert problem.suggestion == 2.0


def test_a_risk_that_is_off_without_a_drift_is_named_too() -> None:
    (problem,) = found(risk=0.3, recent_risk=0.3, constant=0.4)
    assert problem.key == "risk"
    assert "Try rate=2." in problem.text


def test_a_start_far_from_all_scores_is_named() -> None:
    (problem,) = found(
        risk=1.0, recent_risk=1.0, scores=Scores(1000.0, 1001.0, 1000.9), thresholds=(50.0, 90.0)
    )
    assert (problem.key, problem.suggestion) == ("start", 1001.0)


def test_a_full_set_that_fails_asks_for_another_target() -> None:
    (problem,) = found(risk=0.3, recent_risk=0.31, thresholds=(2.0, 3.0))
    assert (problem.key, problem.suggestion) == ("full set", 0.31)


def test_a_broken_assumption_is_left_to_its_own_warning() -> None:
    low = {"risk": 0.0, "recent_risk": 0.0}
    assert keys(**low, thresholds=None, constant=-0.5, lowest=-0.5) == []
    assert keys(**low, thresholds=(-0.6, -0.5), constant=-0.5, lowest=-0.6) == []
    assert keys(risk=0.5, recent_risk=0.5, thresholds=None, constant=1.5, highest=1.5) == []


def test_a_step_across_all_scores_asks_for_a_smaller_rate() -> None:
    (problem,) = found(first_step=100.0, step=100.0 / 64.0)
    assert (problem.key, problem.suggestion) == ("steps", 0.9)


def test_pending_losses_that_move_a_threshold_beyond_all_scores_ask_for_a_smaller_rate() -> None:
    assert keys(pending=24) == []  # 25 / 64 of the range
    (problem,) = found(pending=24, rounds=256, step=1.0 / 16.0)
    assert (problem.key, problem.suggestion) == ("pending", 0.09)
    assert keys(pending=24, rounds=1024, step=1.0 / 32.0, gain=2.0) == ["pending"]


@pytest.mark.parametrize("late", [4, 24, 96])
@pytest.mark.parametrize("rate", [1.0, Constant(0.1)])
def test_the_rate_suggested_for_late_losses_brings_thresholds_back(
    late: int, rate: float | Constant
) -> None:
    scores = np.random.default_rng(0).random(2000)

    def play(cal: ARC) -> np.ndarray:
        tickets = []
        for t in range(2000):
            tickets.append(cal.ask(None))
            if t >= late:
                ticket = tickets[t - late]
                cal.tell(ticket, float(scores[t - late] > ticket.threshold))
        return np.array([ticket.threshold for ticket in tickets[1000:]])

    first = ARC(alpha=0.1, rate=rate, score_range=(0.0, 1.0))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        before = play(first)
    if not first.warnings:
        assert before.max() < 1.5
        return
    eta = float(first.warnings[0].split("Try rate=")[1].rstrip("."))
    second = ARC(alpha=0.1, rate=eta if rate == 1.0 else Constant(eta), score_range=(0.0, 1.0))
    after = play(second)  # warnings are errors here
    assert np.abs(after - 0.9).mean() < 0.1 < np.abs(before - 0.9).mean()


def test_thresholds_far_outside_the_scores_ask_for_a_smaller_rate() -> None:
    (problem,) = found(thresholds=(-1.5, 3.0))
    assert (problem.key, problem.suggestion) == ("thresholds", 0.33)
    assert problem.text.endswith("Try rate=0.33.")
    assert keys(thresholds=(-0.9, 1.9)) == []
    assert keys(thresholds=None, constant=3.0) == ["thresholds"]
    assert keys(thresholds=None, constant=3.0, gain=2.0) == []


def test_thresholds_far_below_the_scores_ask_for_a_floor() -> None:
    (problem,) = found(thresholds=(-3.0, 0.5))
    assert problem.text.endswith("rounds that cannot fail lower them. Try floor=0.")


def test_a_floor_that_is_reached_explains_a_low_risk() -> None:
    low = {"risk": 0.0, "recent_risk": 0.0, "lowest": 0.0, "constant": 0.0}
    assert keys(**low) == ["slow"]
    assert keys(**low, floor=0.0) == []


def test_scores_are_known_only_where_the_threshold_matters() -> None:
    scores = scores_of(miscoverage(np.arange(100.0)), 0.1, 1.0)
    assert scores == Scores(0.0, 99.0, 90.0)
    assert scores_of(from_table([[0.5], [0.5]], grid=[0.0]).take([]), 0.1, 1.0) is None


# ---- calibrators -----------------------------------------------------------------------------

MINUTES = np.random.default_rng(0).exponential(20.0, 7000)
INPUTS = np.random.default_rng(1).random((7000, 2))


def run(cal: ARC | LARC, scores: np.ndarray) -> list[str]:
    """Round by round; the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, score in zip(INPUTS, scores.tolist(), strict=False):
            cal.update(x, float(score > cal.threshold(x)))
    assert all(warning.category is PromiseWarning for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("cal", [ARC(alpha=0.1), LARC(alpha=0.1, kernel=RBF(0.5))])
def test_the_default_rate_on_scores_in_the_tens_is_warned_about_once(cal: ARC | LARC) -> None:
    told = run(cal, MINUTES)
    assert len(told) == 1
    assert told[0].startswith("rate=1 is small, thresholds are still rising")
    assert cal.warnings == tuple(told)


@pytest.mark.parametrize("rate", [0.1, 0.3, 1.0])
def test_the_suggested_rate_brings_the_risk_to_its_target(rate: float) -> None:
    first = ARC(alpha=0.1, rate=rate)
    with pytest.warns(PromiseWarning, match="Try rate="):
        replay(first, None, miscoverage(MINUTES))
    suggested = float(first.warnings[0].split("Try rate=")[1].rstrip("."))
    second = ARC(alpha=0.1, rate=suggested)
    record = replay(second, None, miscoverage(MINUTES))
    assert abs(record.risk - 0.1) < 0.01
    assert second.warnings == record.warnings == ()


def test_a_replay_keeps_its_warnings_in_the_record() -> None:
    with pytest.warns(PromiseWarning, match="small for scores between") as caught:
        record = replay(ARC(alpha=0.1), None, miscoverage(MINUTES))
    assert record.warnings == tuple(str(warning.message) for warning in caught)


def test_a_step_as_large_as_the_scores_is_warned_about() -> None:
    with pytest.warns(PromiseWarning, match=r"large for scores .* Try rate=0.0\d"):
        replay(ARC(alpha=0.1, rate=Constant(1.0)), None, miscoverage(MINUTES / MINUTES.max()))


def test_every_group_is_looked_at() -> None:
    groups = ["slow" if t % 2 else "fine" for t in range(7000)]
    scores = np.where(np.arange(7000) % 2, MINUTES, MINUTES / MINUTES.max())
    cal = Mondrian(lambda: ARC(alpha=0.1))
    with pytest.warns(PromiseWarning) as caught:
        record = replay(cal, INPUTS, miscoverage(scores), groups)
    assert len(caught) == 1
    assert len(record.warnings) == 1
    assert record.warnings[0].startswith("Group slow: rate=1 is small")


def test_a_user_s_own_calibrator_is_judged_by_its_risk() -> None:
    class Fixed:
        alpha = 0.1

        def threshold(self, x: object) -> float:
            return 5.0

        def update(self, x: object, loss: float) -> None:
            """Learns nothing."""

    with pytest.warns(PromiseWarning, match="The mean loss is 0.7"):
        record = replay(Fixed(), INPUTS, miscoverage(MINUTES))
    assert len(record.warnings) == 1


def test_warnings_start_afresh_after_a_reset() -> None:
    cal = ARC(alpha=0.1)
    assert run(cal, MINUTES)
    assert cal.reset().warnings == ()


def test_a_restored_calibrator_looks_again() -> None:
    cal = ARC(alpha=0.1)
    run(cal, MINUTES[:1000])
    again = ARC.from_state(cal.state())
    assert run(again, MINUTES) != []


def test_looking_changes_no_threshold() -> None:
    quiet, loud = ARC(alpha=0.1), ARC(alpha=0.1)
    quiet._next_look = sys.maxsize
    run(quiet, MINUTES)
    run(loud, MINUTES)
    assert quiet.state() == loud.state()


def healthy(seed: int) -> tuple[ARC | LARC, np.ndarray, np.ndarray]:
    """A stream of a random kind and scale, and a calibrator whose rate suits it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 4000))
    X = rng.random((n, int(rng.integers(1, 3))))
    noise = (rng.random(n), rng.exponential(0.3, n), np.abs(rng.normal(size=n)))[seed % 3]
    drift = 1.0 + 0.5 * np.sin(np.arange(n) * 2 * np.pi / rng.integers(200, 2000))
    scores = noise * drift * (0.5 + X[:, 0])
    alpha = float(rng.choice([0.05, 0.1, 0.2]))
    unit = float(np.quantile(scores, 1 - alpha)) * 10.0 ** rng.uniform(-0.3, 0.3)
    rate = Constant(0.05 * unit) if seed % 5 == 0 else unit
    cal = ARC(alpha, rate) if seed % 2 else LARC(alpha, RBF(0.3), rate)
    return cal, X, scores


def test_healthy_streams_are_silent() -> None:
    for seed in range(60):
        cal, X, scores = healthy(seed)
        replay(cal, X, miscoverage(scores))
        for x, score in zip(X, scores.tolist(), strict=True):
            cal.update(x, float(score > cal.threshold(x)))
        assert cal.warnings == (), seed


def test_auto_larc_is_judged_by_its_outcome() -> None:
    rng = np.random.default_rng(0)
    fine = replay(AutoLARC(0.1), rng.random((2000, 1)), miscoverage(rng.random(2000)))
    assert fine.warnings == ()
    with pytest.warns(PromiseWarning, match="the mean loss is 1|The mean loss is 1"):
        doomed = replay(
            AutoLARC(0.1, limits=(0.0, 0.5)), rng.random((500, 1)), miscoverage(2 + rng.random(500))
        )
    assert len(doomed.warnings) == 1
