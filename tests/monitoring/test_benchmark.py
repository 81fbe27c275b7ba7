"""The benchmark of monitors: many streams at once have the alarms of one monitor each."""

from collections.abc import Iterator

import numpy as np
import pytest
from benchmarks.monitoring import delays, false_alarms, recoveries, streams
from benchmarks.monitoring.watchers import (
    LIMIT,
    TARGET,
    Broken,
    Drifting,
    Watcher,
    first_alarms,
)

from localarc.monitoring import Monitor
from localarc.validation import FloatArray

pytest.importorskip("scipy")
ROUNDS = 1500


def losses(kind: str) -> Iterator[FloatArray]:
    if kind == "graded":
        return streams.graded(6, ROUNDS, 0, 0.17, 5.0)
    return streams.misses(6, ROUNDS, 0, 0.3, good=1000)


def alarm_of(stream: list[float], status: str) -> float:
    """The round at which a monitor enters a status."""
    monitor = Monitor(TARGET)
    for t, loss in enumerate(stream, start=1):
        if monitor.update(loss) == status:
            return t
    return np.inf


@pytest.mark.parametrize("kind", ["graded", "misses"])
def test_many_streams_at_once_have_the_alarms_of_one_monitor_each(kind: str) -> None:
    watchers: dict[str, Watcher] = {"broken": Broken(6), "drifting": Drifting(6)}
    first = first_alarms(watchers, losses(kind), 6)
    table = np.array(list(losses(kind)))
    assert first["broken"].tolist() == [alarm_of(stream, "broken") for stream in table.T.tolist()]
    drifting = [alarm_of(stream, "drifting") for stream in table.T.tolist()]
    seen = first["drifting"] < first["broken"]  # a broken stream does not say that it drifts
    assert first["drifting"][seen].tolist() == [d for d in drifting if np.isfinite(d)]
    assert np.isfinite(first["broken"]).any()
    assert seen.any() or kind == "graded"


def test_an_exact_binomial_test_rejects_at_its_level() -> None:
    from benchmarks.monitoring.others import Binomial

    binom = pytest.importorskip("scipy.stats").binom
    test = Binomial(1)
    for rounds in (1, 10, 500):
        critical = test.critical[rounds - 1]
        assert binom.sf(critical - 1, rounds, LIMIT) <= 1e-7 < binom.sf(critical - 2, rounds, LIMIT)


def test_a_window_forgets_the_rounds_that_leave_it() -> None:
    from benchmarks.monitoring.others import Binomial

    test = Binomial(1, window=5)
    for loss in [1.0] * 7 + [0.0] * 3:
        test.add(np.array([loss]))
    assert test.misses.tolist() == [2.0]


def test_the_interpolated_bound_is_that_of_mapie() -> None:
    from benchmarks.monitoring.others import Mapie

    module = pytest.importorskip("mapie.exchangeability_testing")
    stream = (np.random.default_rng(0).random(400) < 0.3).astype(float)
    theirs = module.RiskMonitoring("accuracy", test_level=0.02, threshold=LIMIT, warn=False)
    theirs.update(np.zeros(len(stream)), stream)
    expected = np.argmax(theirs.online_risk_lower_bound_sequence_history > LIMIT) + 1
    found = first_alarms({"mapie": Mapie(1)}, (np.array([loss]) for loss in stream), 1)
    assert found["mapie"].tolist() == [expected]


def test_a_rise_is_found_in_less_than_half_the_rounds_of_the_binomial_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("mapie")
    monkeypatch.setattr(delays, "GOOD", (0,))
    rows = {row.test: row for row in delays.measure(40)}
    assert rows["monitor, any alarm"].of_binomial < 0.5
    assert rows["binomial"].of_binomial == pytest.approx(1.0, abs=0.05)


def test_recoveries_are_those_of_streams_that_came_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recoveries, "RISKS", (0.02, 0.18))
    back, still = recoveries.measure(10)
    assert (back.within_2000, back.within_10000, back.broken_again) == (1.0, 1.0, 0.0)
    assert (still.within_10000, still.median) == (0.0, np.inf)


def test_streams_that_keep_their_promise_are_counted() -> None:
    pytest.importorskip("mapie")
    rows = false_alarms.measure(many=20, few=2, rounds=500)
    assert [row.any_kind for row in rows] == [0] * len(rows)
    assert {row.streams for row in rows} == {20, 2}
