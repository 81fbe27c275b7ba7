"""A new stream alarms nobody: the set is the full one until scores are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest

from localarc import AutoLARC, Panel, Safeguard, replay
from localarc.calibrators.auto import LabelSets
from localarc.constants import STAKE_ALL
from localarc.curves import miscoverage
from localarc.engine.auto import layout
from localarc.forecasting import Bands
from localarc.forecasting.rounds import Places, Rounds
from localarc.many import Columns, KeyedStreams
from localarc.monitoring import Monitor

KNOWN = 500  # losses of finite thresholds that a monitor sees before a test stops looking
Ask = Callable[[float], tuple[float, Any]]
Tell = Callable[[Any, float, float], object]
Stream = tuple[Ask, Tell]
Make = Callable[[float, int, np.random.Generator], Stream]


def alarms(make: Make, alpha: float, features: int, in_flight: int, streams: int) -> int:
    """How many healthy streams a monitor ever calls anything but ok."""
    found = 0
    for seed in range(streams):
        random = np.random.default_rng(seed)
        found += is_alarmed(make(alpha, features, random), alpha, in_flight, random)
    return found


def is_alarmed(stream: Stream, alpha: float, in_flight: int, random: np.random.Generator) -> bool:
    """Whether a monitor ever is not ok; each loss arrives when so many are pending."""
    ask, tell = stream
    monitor, known = Monitor(target=alpha), 0
    pending: list[tuple[float, float, Any]] = []
    while known < KNOWN:
        score = abs(random.normal())
        pending.append((score, *ask(score)))
        if len(pending) >= in_flight:
            score, threshold, ticket = pending.pop(0)
            tell(ticket, float(score > threshold), score)
            if math.isfinite(threshold):
                known += 1
                monitor.update(float(score > threshold))
                if monitor.status() != "ok":
                    return True
    return False


def autolarc(alpha: float, features: int, random: np.random.Generator) -> Stream:
    return with_tickets(AutoLARC(alpha=alpha), features, random)


def safeguard(alpha: float, features: int, random: np.random.Generator) -> Stream:
    return with_tickets(Safeguard(AutoLARC(alpha=alpha)), features, random)


def with_tickets(cal: AutoLARC | Safeguard, features: int, random: np.random.Generator) -> Stream:
    def ask(score: float) -> tuple[float, Any]:
        ticket = cal.ask(random.random(features) if features else None)
        return ticket.threshold, ticket

    return ask, cal.tell


def panel(alpha: float, features: int, random: np.random.Generator) -> Stream:
    streams = Panel(AutoLARC(alpha=alpha))

    def ask(score: float) -> tuple[float, Any]:
        (ticket,) = streams.ask(["ann"], random.random((1, features)) if features else None)
        return ticket.threshold, ticket

    return ask, lambda ticket, loss, score: streams.tell(["ann"], [ticket], [loss], [score])


def label_sets(alpha: float, features: int, random: np.random.Generator) -> Stream:
    """Sets of labels; the true one is always "a"."""
    cal = LabelSets(alpha, ["a", "b"])

    def ask(score: float) -> tuple[float, Any]:
        ticket = cal.ask(random.random(features) if features else None, [score, 9.0])
        return ticket.thresholds["a"], ticket

    return ask, lambda ticket, loss, score: cal.tell(ticket, "a")


def bands(alpha: float, features: int, random: np.random.Generator) -> Stream:
    rounds, one = Rounds(np.array([alpha]), 1), np.zeros(1, np.int64)
    rounds.reserve(1)

    def ask(score: float) -> tuple[float, Any]:
        rows, thresholds = rounds.ask(Places(one, one, one), np.zeros(1))
        return float(thresholds[0, 0]), rows

    return ask, lambda rows, loss, score: rounds.tell(rows, np.array([score]))


@pytest.mark.parametrize("in_flight", [1, 10, 50, 200])
@pytest.mark.parametrize("features", [0, 2])
def test_a_healthy_new_stream_alarms_nobody(features: int, in_flight: int) -> None:
    assert alarms(autolarc, 0.1, features, in_flight, streams=60) <= 1


@pytest.mark.parametrize("in_flight", [1, 200])
@pytest.mark.parametrize("make", [panel, label_sets, safeguard, bands])
def test_nor_does_one_of_its_other_forms(make: Make, in_flight: int) -> None:
    assert alarms(make, 0.1, 0, in_flight, streams=10) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("in_flight", [1, 10, 50, 200])
@pytest.mark.parametrize("features", [0, 2])
@pytest.mark.parametrize("alpha", [0.1, 0.05])
@pytest.mark.parametrize("make", [autolarc, panel, label_sets, safeguard])
def test_of_sixty_hardly_any(make: Make, alpha: float, features: int, in_flight: int) -> None:
    # A safeguard hears of late misses at the threshold of today, and swings a little.
    most = 2 if make is safeguard else 1
    assert alarms(make, alpha, features, in_flight, streams=60) <= most


def test_rounds_without_information_are_counted_apart_and_charged_to_nobody() -> None:
    cal = AutoLARC(alpha=0.1)
    tickets = [cal.ask([0.5], groups="a") for _ in range(30)]
    assert {ticket.threshold for ticket in tickets} == {math.inf}
    for ticket in tickets[:12]:
        cal.tell(ticket, 0.0, 1.0)
    engine: Any = cal._engine
    assert engine.numbers[layout.STAKED] == STAKE_ALL
    assert engine.node()[layout.VISITS] == engine.node()[layout.WEIGHT_PENDING] == 0.0
    certificate = cal.certificate(losses=np.zeros(12))
    assert (cal.rounds, certificate.rounds, certificate.uninformed) == (12, 0, 12)
    assert certificate.consistent
    assert "12 rounds went out before enough scores were known" in str(certificate)
    cal.update([0.5], 1.0, 2.0, groups="a")
    assert math.isfinite(cal.threshold([0.5]))
    twin = AutoLARC.from_state(cal.state())
    for each in (cal, twin):
        each.forget(tickets[12])
        for ticket in reversed(tickets[13:]):
            each.tell(ticket, 0.0, 0.5)
    assert cal.state() == twin.state()
    made = cal.certificate(losses=[*np.zeros(12), 1.0, *np.zeros(17)])
    assert (made.rounds, made.uninformed, made.risk, cal.risk) == (1, 29, 1.0, 1.0)
    assert made.consistent
    assert not cal.certificate(losses=np.zeros(30)).consistent


def test_a_stated_start_is_what_it_was() -> None:
    cal = AutoLARC(alpha=0.1, initial_threshold=0.25)
    assert cal.threshold(None) == 0.25
    cal.update(None, 1.0, 0.5)
    assert cal.certificate().uninformed == 0


def test_with_a_ceiling_the_full_set_is_at_the_ceiling() -> None:
    cal = AutoLARC(alpha=0.1, limits=(0.0, 5.0))
    assert cal.threshold(None) == 5.0
    assert cal.update(None, 0.0, 1.0).certificate().uninformed == 1


def test_losses_without_scores_start_at_0() -> None:
    cal = AutoLARC(alpha=0.1, unit=1.0, limits=(0.0, None))
    assert cal.threshold(None) == math.inf
    cal.update(None, 0.0)
    assert cal.threshold(None) == 0.0
    harmless = AutoLARC(alpha=0.1).update(None, 0.0, -math.inf)
    assert harmless.threshold(None) == math.inf


def test_label_sets_have_all_labels_until_enough_were_true() -> None:
    cal = LabelSets(0.1, ["a", "b"])
    tickets = [cal.ask(None, [0.2, 7.0]) for _ in range(9)]
    for ticket in tickets:
        assert {*cal.thresholds().values()} == {math.inf}
        assert ticket.labels == ("a", "b")
        cal.tell(ticket, "b")
    assert (cal.rounds, cal.certificate().rounds, cal.certificate().uninformed) == (9, 0, 9)
    assert max(cal.thresholds().values()) == 7.0


def test_replay_updates_and_tickets_agree_from_the_start() -> None:
    random = np.random.default_rng(1)
    X, scores = random.random((60, 1)), random.random(60)
    run, one, late = AutoLARC(0.1), AutoLARC(0.1), AutoLARC(0.1)
    record = replay(run, X, miscoverage(scores, widths=0.0))
    for x, score, threshold in zip(X, scores, record.thresholds, strict=True):
        assert one.threshold(x) == threshold
        one.update(x, float(score > threshold), float(score))
        ticket = late.ask(x)
        late.tell(ticket, float(score > ticket.threshold), float(score))
    assert record.unbounded == 9
    assert math.isfinite(record.mean_size)
    assert run.state() == one.state()
    assert late.certificate().risk == run.certificate().risk


def test_a_base_that_knows_nothing_is_not_charged() -> None:
    guarded = Safeguard(AutoLARC(0.1))
    for _ in range(9):
        assert guarded.threshold(None) == math.inf
        guarded.update(None, 0.0, 0.5)
    assert guarded.certificate().uninformed == 9
    assert math.isfinite(guarded.threshold(None))


def test_the_streams_of_a_job_alarm_nobody() -> None:
    random, in_flight, keys = np.random.default_rng(0), 200, [f"k{k}" for k in range(20)]
    rows: list[tuple[str, str, str, float | None]] = []
    for t in range(KNOWN + 2 * in_flight + 10):
        rows += [(key, str(t), "ask", None) for key in keys]
        if t >= in_flight:
            rows += [(key, str(t - in_flight), "learn", abs(random.normal())) for key in keys]
    frame = pandas.DataFrame(rows, columns=["key", "id", "kind", "score"])
    streams = KeyedStreams(Columns(key="key", score="score", kind="kind", id="id"), AutoLARC(0.1))
    found = streams.calibrate(frame)
    found = found[found["kind"] == "learn"]
    assert np.isinf(found["threshold"].iloc[0])
    assert found["covered"].iloc[0]
    assert sum(worst(part) != "ok" for _, part in found.groupby("key")) <= 1


def worst(part: Any) -> str:
    """The worst state of a monitor that sees the losses of finite thresholds."""
    monitor, known = Monitor(target=0.1), np.isfinite(part["threshold"])
    found = (monitor.update(loss) for loss in part["loss"][known])
    states: set[str] = {state for state in found if state is not None}
    return next(iter(states - {"ok"}), "ok")


def test_bands_are_unbounded_until_enough_is_known() -> None:
    bands = Bands(coverage=0.9, horizon=1)
    for t in range(30):
        out = bands.predict(pandas.DataFrame({"unique_id": ["a"], "ds": [t], "yhat": [5.0]}))
        ends = out[["lo-90", "hi-90"]].to_numpy()
        assert (np.isinf(ends) == (t < 9)).all()
        bands.observe(pandas.DataFrame({"unique_id": ["a"], "ds": [t], "y": [5.0 + t % 4]}))
    certificate = bands.certificate()
    assert (bands.rounds, certificate.rounds, certificate.uninformed) == (30, 21, 9)
    assert Bands.from_state(bands.state()).certificate().uninformed == 9
