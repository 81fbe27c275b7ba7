"""AutoLARC's certificate: the verdict first, bounds with their side, no bound that is passed."""

from __future__ import annotations

import dataclasses

from localarc import AutoLARC, replay
from localarc.guarantees import Evidence
from localarc.guarantees.verdict import Part
from localarc.streams import heteroscedastic

STREAM = heteroscedastic(2000, seed=0)


def played(**settings: str) -> AutoLARC:
    cal = AutoLARC(alpha=0.1, **settings)  # type: ignore[arg-type]
    replay(cal, STREAM.X, STREAM.curves, STREAM.groups)
    return cal


def test_the_printed_certificate_begins_with_the_verdict() -> None:
    certificate = played().certificate()
    assert certificate.verdict.state == "kept"
    assert certificate.verdict.text.startswith("Misses ")
    assert "every group within" in certificate.verdict.text
    assert str(certificate).startswith(certificate.verdict.text)
    assert certificate.to_dict()["verdict"] == certificate.verdict.text


def test_a_part_above_the_target_leads_the_verdict() -> None:
    verdict = played().certificate().judge([Part("City", 1000, 0.46)])
    assert verdict.text == "City misses 46 %, target 10 %."


def test_the_bound_of_both_sides_is_the_larger_one() -> None:
    certificate = played().certificate()
    assert certificate.bound.value == max(certificate.above.value, certificate.below.value)
    assert not certificate.bound.one_sided
    assert certificate.tightest is not None
    assert certificate.tightest.value <= certificate.bound.value
    text = str(certificate)
    assert " mean loss - target <= " in text
    assert " target - mean loss <= " in text


def test_a_promise_from_above_has_bounds_from_above() -> None:
    certificate = played(promise="at most").certificate()
    assert all(bound.one_sided for bound in certificate.bounds)
    assert certificate.bound.side == certificate.forward(3000).side == "above"
    assert certificate.bound.value == certificate.above.value


def test_a_certificate_says_what_it_is_about() -> None:
    assert AutoLARC(alpha=0.1).certificate().about.startswith("about 0 rounds in order")
    one_by_one = played().certificate()
    assert str(one_by_one).endswith(
        f"about {one_by_one.rounds:,} rounds in order, each at the threshold that it got; a "
        "snapshot, the thresholds of one moment, may lose more or less"
    )
    cal = AutoLARC(alpha=0.1)
    for start in range(0, 1000, 500):
        tickets = cal.ask_many(STREAM.X[start : start + 500])
        scores = STREAM.curves.min_thresholds()[start : start + 500]
        cal.tell_many(tickets.ids, (scores > tickets.thresholds).astype(float), scores)
    batch = cal.certificate()
    few = f"{batch.rounds / 499:.0f}"
    assert f"up to 499 of them in one batch: as much as {few} learned one by one" in batch.about
    assert batch.to_dict()["about"] == batch.about


def test_a_log_that_differs_is_inconsistent() -> None:
    certificate = dataclasses.replace(played().certificate(), consistent=False)
    assert certificate.verdict.state == "inconsistent"


def test_a_largest_score_is_stated_only_by_the_user() -> None:
    cal = AutoLARC(alpha=0.1)
    record = replay(cal, STREAM.X, STREAM.curves, STREAM.groups)
    observed = cal.certificate(evidence=record.evidence)
    assert any("the largest score seen" in each for each in observed.bound.assumes)
    stated = cal.certificate(evidence=Evidence(score_range=(0.0, 50.0)))
    assert any("50, as stated" in each for each in stated.bound.assumes)
    assert stated.bound.value >= observed.bound.value
