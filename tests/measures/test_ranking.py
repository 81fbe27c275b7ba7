"""Ranking: worst neighbourhoods by lower confidence limit, groups by risk."""

import numpy as np

from localarc import ARC, RBF, Record, replay
from localarc.curves import miscoverage
from localarc.measures import localized_risk, worst_neighbourhood, worst_neighbourhoods
from localarc.reporting.assessment import Run, assess, summary
from localarc.streams import Stream


def test_a_few_unlucky_rounds_do_not_outrank_a_reliable_high_risk() -> None:
    """Higher risk in 32 rounds at 0, lower risk but far less doubt in 4000 at 10."""
    few, many = np.zeros(32), np.full(4000, 10.0)
    losses = np.concatenate([np.arange(32) % 2 == 0, np.arange(4000) % 5 < 2]).astype(float)
    X = np.concatenate([few, many])[:, None]
    local = localized_risk(X, losses, RBF.from_paper(1.0), [[0.0], [10.0]])
    assert local.risks[0] > local.risks[1]
    assert worst_neighbourhood(X, losses, RBF.from_paper(1.0)).centre[0] == 10.0
    lower = [
        place.risk - 2 * place.standard_error
        for place in worst_neighbourhoods(X, losses, RBF.from_paper(1.0))
    ]
    assert lower == sorted(lower, reverse=True)


def _grouped() -> tuple[Stream, Run]:
    groups = ("middle", "risky", "safe") * 40
    rates = {"middle": 4, "risky": 2, "safe": 8}
    losses = np.array([float(t // 3 % rates[group] == 0) for t, group in enumerate(groups)])
    stream = Stream("made up", np.zeros((120, 1)), miscoverage(losses), groups)
    cal = ARC(0.2)
    evidence = replay(cal, stream.X, stream.curves, groups).evidence
    record = Record(np.zeros(120), losses, np.ones(120), groups, 0.2, "made up", evidence)
    return stream, Run("ARC", cal, record)


def test_groups_are_sorted_from_the_lowest_to_the_highest_risk() -> None:
    stream, run = _grouped()
    assessment = assess(stream, run)
    assert [row.group for row in assessment.groups] == ["safe", "middle", "risky"]
    risks = [row.risk for row in assessment.groups]
    assert risks == [0.125, 0.25, 0.5]
    shown = summary(stream, [assessment])["methods"][0]["groups"]
    assert [row["group"] for row in shown] == ["safe", "middle", "risky"]
