"""The monitor: statuses, their changes, and figures that agree with them."""

import math
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.monitoring import Monitor
from localarc.monitoring.bets import Sums, log_evidence
from localarc.monitoring.change import start_money


def misses(risk: float, rounds: int, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [float(rng.random() < risk) for _ in range(rounds)]


def fed(monitor: Monitor, losses: Iterable[float]) -> list[tuple[int, str]]:
    """The changes of status, each with its round, counted from 1."""
    changes = [(t, monitor.update(loss)) for t, loss in enumerate(losses, start=1)]
    return [(t, change) for t, change in changes if change is not None]


def test_a_stream_at_its_target_is_ok() -> None:
    monitor = Monitor(target=0.1)
    assert fed(monitor, misses(0.1, 20_000)) == []
    health = monitor.health()
    assert (health.status, health.since_round, health.rounds) == ("ok", 0, 20_000)
    assert health.at_least < 0.1 < health.risk + 0.01  # type: ignore[operator]
    assert "not above 0.12" in health.why


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.2, 0.05])
def test_few_streams_at_the_limit_of_the_tolerance_raise_an_alarm_of_any_kind(level: float) -> None:
    monitors = [Monitor(target=0.1, level=level) for _ in range(100)]
    for seed, monitor in enumerate(monitors):
        fed(monitor, misses(0.12, 2000, seed))
    alarms = sum(monitor.health().since_round > 0 for monitor in monitors)
    assert alarms <= 100 * level
    assert level < 0.1 or alarms > 0  # the level is used, not only kept


def test_a_risk_that_is_moved_against_the_bets_breaks_no_promise_that_it_keeps() -> None:
    """The mean of the risks is at most 0.12 after each round; an adversary saves and spends."""
    broken = 0
    for seed in range(100):
        rng, monitor, saved, losses = random.Random(seed), Monitor(target=0.1, level=0.2), 0.0, 0.0
        for t in range(1, 1200):
            saved += 0.12
            ahead = losses > 0.12 * (t - 1)  # the bets are winning: bet with them
            risk = min(saved, 1.0) if ahead or t % 200 > 180 else 0.06
            loss = float(rng.random() < risk)
            saved -= risk
            losses += loss
            monitor.update(loss)
        broken += monitor.health().status == "broken"
    assert 0 < broken <= 10


def test_broken_recovers_and_is_ok_when_that_is_acknowledged() -> None:
    monitor = Monitor(target=0.1)
    first = fed(monitor, misses(0.3, 500))
    assert first[-1][1] == "broken"
    ((after, status),) = fed(monitor, [0.0] * 20_000)
    health = monitor.health()
    assert status == health.status == "recovered"
    assert health.since_round == 500 + after
    assert health.rounds == 20_000 - after
    assert health.why.startswith(
        f"The risk was above 0.12; that of a stretch of rounds up to round {500 + after:,} was "
        "below (99 % confidence). It is 0 over all "
    )
    monitor.acknowledge(at=5.0)
    health = monitor.health()
    assert (health.status, health.since, health.since_round) == ("ok", 5.0, 20_500)
    assert (health.rounds, health.risk, health.at_least) == (0, None, 0.0)
    assert fed(monitor, misses(0.1, 3000)) == []


def broken_monitor(**settings: float) -> Monitor:
    monitor = Monitor(target=0.1, **settings)  # type: ignore[arg-type]
    assert fed(monitor, misses(0.5, 300))[-1][1] == "broken"
    return monitor


def test_a_stream_whose_risk_stays_too_high_never_recovers() -> None:
    for seed in range(20):
        monitor = broken_monitor()
        assert fed(monitor, misses(0.15, 5000, seed)) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.2, 0.05])
def test_few_streams_at_the_limit_of_the_tolerance_recover(level: float) -> None:
    monitors = [broken_monitor(level=level) for _ in range(200)]
    for seed, monitor in enumerate(monitors):
        fed(monitor, misses(0.12, 3000, seed))
    recovered = sum(monitor.status() != "broken" for monitor in monitors)
    assert recovered <= 200 * level
    assert level < 0.1 or recovered > 0  # the level is used, not only kept


def test_a_recovery_waits_until_the_drift_is_over() -> None:
    monitor = broken_monitor(window=500)
    ((after, status),) = fed(monitor, [0.0] * 2000)
    assert (after, status) == (499, "recovered")  # 150 rounds are evidence enough


def test_a_burst_before_the_evidence_delays_a_recovery() -> None:
    soon, later = broken_monitor(), broken_monitor()
    rest = misses(0.1, 20_000, 1)
    ((first, _),) = fed(soon, rest)
    (found,) = fed(later, misses(0.1, 500, 2) + misses(0.3, 500, 3) + rest)
    assert found[0] > first


def test_a_new_break_after_a_recovery_alarms_and_recovers_again() -> None:
    monitor = broken_monitor()
    for _ in range(3):
        ((_, recovered),) = fed(monitor, [0.0] * 3000)
        changes = [status for _, status in fed(monitor, misses(0.5, 2000))]
        assert (recovered, changes[-1]) == ("recovered", "broken")
    health = monitor.health()
    assert "since the recovery was above 0.12 (99.5 % confidence)" in health.why
    assert "since the last acknowledgement" not in health.why


def test_a_new_break_is_found_as_fast_as_the_first() -> None:
    first = next(t for t, status in fed(Monitor(target=0.1), misses(0.3, 500, 1)))
    monitor = broken_monitor()
    fed(monitor, [0.0] * 999)
    begun = monitor.rounds
    assert monitor.status() == "recovered"
    changes = {status: t for t, status in fed(monitor, misses(0.3, 500, 1))}
    assert changes["broken"] <= first + 100 + begun


def test_a_drift_after_a_recovery_is_shown_and_leaves_the_recovery() -> None:
    monitor = broken_monitor(window=60)
    fed(monitor, [0.0] * 4000)
    since = monitor.health().since_round
    changes = [status for _, status in fed(monitor, [1.0] * 20 + [0.0] * 200)]
    assert changes == ["drifting", "recovered"]
    assert monitor.health().since_round == since


def test_a_recovered_stream_can_be_stale() -> None:
    monitor = Monitor(target=0.1)
    for t in range(3000):
        monitor.update(float(t < 50), at=60.0 * t)
    recovered = monitor.health(now=60.0 * 3000)
    assert recovered.status == "recovered"
    assert recovered.since == 60.0 * (recovered.since_round - 1)
    assert monitor.status(now=1e9) == "stale"
    assert monitor.update(0.0, at=1e9) == "recovered"
    assert monitor.health(now=1e9).since == recovered.since


def test_silence_is_usual_for_fifteen_minutes() -> None:
    quick, patient = Monitor(target=0.1, stale_after=0.0), Monitor(target=0.1)
    for t in range(100):
        quick.update(0.0, at=0.01 * t)
        patient.update(0.0, at=0.01 * t)
    assert quick.status(now=30.0) == "stale"
    assert patient.status(now=899.0) == "ok"
    assert patient.status(now=902.0) == "stale"
    assert patient.health(now=902.0).since == pytest.approx(900.99)


def test_drifting_begins_with_a_rise_and_clears_by_itself() -> None:
    monitor = Monitor(target=0.1, window=200)
    losses = misses(0.1, 20_000) + misses(0.5, 300, 1) + misses(0.1, 5000, 2)
    (begun, drifting), (cleared, ok) = fed(monitor, losses)
    assert (drifting, ok) == ("drifting", "ok")
    assert 20_000 < begun <= 20_100
    assert 20_450 <= cleared < 21_000
    assert monitor.health().since_round == cleared


def test_a_burst_that_leaves_the_recent_risk_low_is_no_drift() -> None:
    burst = [0.0] * 2000 + [1.0] * 20
    wide, narrow = Monitor(target=0.1, window=1000), Monitor(target=0.1, window=100)
    assert fed(wide, burst) == []
    assert [status for _, status in fed(narrow, burst)] == ["drifting"]


def test_drifting_is_raised_when_the_recent_risk_is_above_the_limit_too() -> None:
    monitor = Monitor(target=0.1, window=1000)
    fed(monitor, [0.0] * 2000)
    (alarm, status), *_ = fed(monitor, [1.0] * 300)
    health = monitor.health()
    assert (alarm, status) == (120, "drifting")  # seven blocks of 125 rounds, and 120: 0.1206
    assert health.recent_risk is not None
    assert health.recent_risk > 0.12


def test_drifting_clears_a_window_after_the_last_evidence() -> None:
    monitor = Monitor(target=0.1, window=50)
    fed(monitor, [0.0] * 1000 + [1.0] * 20)
    assert monitor.health().status == "drifting"
    assert fed(monitor, [0.0] * 49) == []
    assert fed(monitor, [0.0]) == [(1, "ok")]


def test_what_a_drift_won_is_forgotten_when_it_clears() -> None:
    monitor = Monitor(target=0.1, window=20)
    drift = fed(monitor, [0.0] * 2000 + [0.2] * 300 + [0.115] * 20)  # a slow decline of the bets
    assert [status for _, status in drift] == ["drifting", "ok"]
    assert fed(monitor, [0.3] * 3) == []


def test_a_second_rise_is_found_as_fast_as_the_first() -> None:
    monitor = Monitor(target=0.1, window=100)
    rise = [0.0] * 3000 + [1.0] * 20
    changes = fed(monitor, rise * 3)
    begun = [t % 3020 for t, status in changes if status == "drifting"]
    assert len(begun) == 3
    assert max(begun) - min(begun) <= 2


def test_a_long_good_past_does_not_hide_a_rise() -> None:
    monitor = Monitor(target=0.1)
    fed(monitor, [0.0] * 100_000)
    assert [status for _, status in fed(monitor, [1.0] * 140)] == ["drifting"]


@given(st.lists(st.floats(0.0, 1.0), max_size=80), st.sampled_from([0.02, 0.1, 0.5]))
def test_broken_is_a_limit_of_all_rounds_above_target_and_tolerance(
    losses: list[float], target: float
) -> None:
    monitor = Monitor(target=target, level=0.2)
    limit, before = target + 0.02, "ok"
    for loss in losses:
        monitor.update(loss)
        health = monitor.health()
        if before != "broken":
            assert (health.status == "broken") == (health.at_least > limit) or (
                health.at_least == pytest.approx(limit, abs=1e-9)
            )
        before = health.status


@pytest.mark.parametrize("seed", range(6))
def test_a_limit_of_recent_rounds_above_target_and_tolerance_is_drifting(seed: int) -> None:
    rng, monitor, seen = random.Random(seed), Monitor(target=0.3, level=0.3, window=30), 0
    fed(monitor, [0.0] * 1500)
    for t in range(2500):
        loss = rng.random() ** (0.15 if t // 60 % 4 == 0 else 4.0)
        monitor.update(loss if seed % 2 else round(loss))
        health = monitor.health()
        if health.recent_at_least > 0.32:
            seen += 1
            assert health.status == "drifting"
    assert seen > 0


def test_the_limit_of_recent_rounds_is_that_of_bets_that_started_with_them() -> None:
    monitor = Monitor(target=0.1, window=80)
    fed(monitor, misses(0.4, 400))
    health = monitor.health()
    start = start_money(400 - health.recent_rounds)
    recent = Sums(health.recent_rounds, health.recent_risk * health.recent_rounds)  # type: ignore[operator]
    assert log_evidence(recent, health.recent_at_least) == pytest.approx(math.log(200 / start))


def test_losses_in_other_units_have_the_same_statuses() -> None:
    losses = misses(0.1, 2000) + misses(0.25, 2000, 1)
    one, many = Monitor(target=0.1), Monitor(target=1.6, tolerance=0.32, max_loss=16.0)
    assert fed(one, losses) == fed(many, [16.0 * loss for loss in losses]) != []
    a, b = one.health(), many.health()
    assert b.at_least == pytest.approx(16.0 * a.at_least)
    assert b.recent_at_least == pytest.approx(16.0 * a.recent_at_least)
    assert b.risk == pytest.approx(16.0 * a.risk)  # type: ignore[operator]


def test_the_reason_has_the_figures_of_the_health() -> None:
    monitor = Monitor(target=0.1)
    assert monitor.health().why == "No feedback since the last acknowledgement."
    fed(monitor, [0.0, 0.0, 0.0, 1.0] * 250)
    monitor.acknowledge()
    fed(monitor, [0.0, 0.0, 0.0, 1.0] * 250)
    assert monitor.health().why == (
        "The risk of the first 120 rounds was above 0.12 (99.5 % confidence); it is 0.25 over all "
        "1,000 rounds since the last acknowledgement and 0.25 over the last 1,000."
    )


def test_a_monitor_is_shown_with_its_status() -> None:
    monitor = Monitor(target=0.1)
    fed(monitor, [1.0] * 10)
    assert repr(monitor) == "Monitor(target=0.1): broken, 10 rounds"


def test_a_change_of_status_is_returned_once_with_its_time() -> None:
    monitor = Monitor(target=0.1)
    changes = [monitor.update(1.0, at=100.0 + t) for t in range(30)]
    assert [c for c in changes if c] == ["broken"]
    health = monitor.health(now=1e9)
    assert health.since_round == changes.index("broken") + 1
    assert health.since == 100.0 + changes.index("broken")


def test_feedback_that_stops_is_stale_since_it_was_overdue() -> None:
    monitor = Monitor(target=0.1)
    for t in range(50):
        monitor.update(0.0, at=60.0 * t)
    assert monitor.health(now=50 * 60.0).status == "ok"
    late = monitor.health(now=50 * 60.0 + 86_400.0)
    assert late.status == "stale"
    assert late.since == pytest.approx(49 * 60.0 + 900.0)
    assert late.why.startswith("No feedback for 24 hours; the usual interval is ")
    assert monitor.status(now=50 * 60.0 + 86_400.0) == "stale"
    assert (monitor.rounds, monitor.last_at, monitor.overdue_at) == (50, 49 * 60.0, late.since)
    assert monitor.health().status == monitor.status() == "ok", "without a time nothing is stale"
    assert monitor.update(0.0, at=1e6) == "ok"
    assert monitor.health(now=1e6).since == 1e6


def test_silence_does_not_hide_an_alarm() -> None:
    monitor = Monitor(target=0.1)
    for t in range(50):
        monitor.update(1.0, at=60.0 * t)
    assert monitor.health(now=1e9).status == "broken"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": 0.0}, "target must be positive"),
        ({"target": 0.99}, "target \\+ tolerance must be below max_loss"),
        ({"target": 0.1, "tolerance": -0.1}, "tolerance must not be negative"),
        ({"target": 0.1, "level": 1.0}, "level must be below 1"),
        ({"target": 0.1, "window": 0}, "window must be a whole number"),
        ({"target": 0.1, "max_loss": float("inf")}, "max_loss must be finite"),
        ({"target": 0.1, "stale_after": -1.0}, "stale_after must not be negative"),
    ],
)
def test_settings_that_make_no_sense_are_rejected(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Monitor(**settings)  # type: ignore[arg-type]


def test_a_loss_beyond_the_largest_names_the_setting() -> None:
    with pytest.raises(ValueError, match="set max_loss to its largest"):
        Monitor(target=0.1).update(2.0)


@pytest.mark.parametrize(
    ("loss", "at"), [(1.5, 1.0), (-0.1, 1.0), (float("nan"), 1.0), (0.5, float("nan"))]
)
def test_a_rejected_update_changes_nothing(loss: float, at: float) -> None:
    monitor = Monitor(target=0.1)
    monitor.update(1.0, at=0.0)
    before = monitor.to_state()
    with pytest.raises(ValueError, match="must"):
        monitor.update(loss, at=at)
    with pytest.raises(ValueError, match="must be finite"):
        monitor.acknowledge(at=float("inf"))
    assert monitor.to_state() == before
