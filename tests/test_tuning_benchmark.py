"""The comparison of tuned calibrators with untuned L-ARC: who is better, and on which rounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.tuning.compare import Comparison, compare
from benchmarks.tuning.report import _summary
from benchmarks.tuning.streams import ROUNDS, Case, NoRoundsError, _rounds

from localarc.running.tune import Evaluation
from localarc.streams import heteroscedastic

UNTUNED = Evaluation(100, 0.1, 0.3, 0.03, size=1.0, pinball=1.0, alpha=0.1)


@pytest.mark.parametrize(
    ("worst", "outcome"), [(0.19, "better"), (0.25, "equal"), (0.35, "equal"), (0.41, "worse")]
)
def test_differences_within_two_standard_errors_are_no_differences(
    worst: float, outcome: str
) -> None:
    tuned = replace(UNTUNED, worst=worst, worst_error=0.04)
    compared = Comparison("name", 400, UNTUNED, tuned, "L-ARC")
    assert compared.outcome == outcome
    assert f"{outcome} on 1" in _summary([compared])


def test_both_are_compared_on_the_rounds_that_were_held_out() -> None:
    stream = heteroscedastic(600, seed=0, shift=False)
    found = compare("small", Case(stream.X[:, :1], stream.curves))
    assert (found.untuned.rounds, found.tuned.rounds) == (150, 150)
    assert found.selected.startswith(("ARC", "L-ARC length scale"))


def test_draws_of_a_table_have_no_round_in_common() -> None:
    rows = list(range(ROUNDS + 10))
    assert rows[_rounds(len(rows), 1)] == rows[ROUNDS:]
    with pytest.raises(NoRoundsError, match="all in earlier draws"):
        _rounds(len(rows), 2)
