"""Every number in the summary of a calibrated model, recomputed from the log of its rows."""

from __future__ import annotations

import pytest

from guarantees.oracle_checks import close, judgements
from guarantees.summary_game import Rows, SummaryGame
from localarc.models import summary

ROWS = {
    "one level": Rows(),
    "two levels, groups": Rows((0.5, 0.8), groups=("region", "day"), rows=400),
    "both ends": Rows((0.6, 0.8), kind="asymmetric", groups=("region",), rows=300),
    "places": Rows((0.6,), placed=True, rows=400),
    "places of both ends": Rows((0.5,), kind="asymmetric", placed=True, rows=350),
    "a hard region": Rows((0.8,), groups=("region",), hard=30.0),
}


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_summary_is_the_theorem_for_the_log(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    SummaryGame(rows, monkeypatch).play()


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
def test_before_rows_are_shown_a_warm_up_is_judged_by_the_bounds_of_both_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = SummaryGame(ROWS["both ends"], monkeypatch)
    game.model.warm_up(game.frame, game.y, prediction=game.predictions)
    for t in range(game.rows.rows):
        game.learn(t)
    for judged, ends in zip(
        judgements(monkeypatch, summary, game.model.summary), game.levels, strict=True
    ):
        assert judged["bound"] == close(sum(end.tightest for end in ends))
