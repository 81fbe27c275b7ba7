"""A calibrator is chosen on the first part of a stream and judged on the rest."""

import copy
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, metrics, replay
from localarc._tune import Evaluation, SelectionWarning, Tuning, _best, tune
from localarc.curves import miscoverage
from localarc.streams.synthetic import heteroscedastic

STREAM = heteroscedastic(1200, seed=1)
PLACES = RBF.from_paper(0.3)
CANDIDATES = [
    ARC(0.1),
    *(LARC(0.1, RBF.from_paper(scale), rate) for scale in (0.3, 3.0) for rate in (1, 2)),
]


@pytest.fixture(scope="module")
def tuned() -> Tuning:
    return tune(STREAM.X, STREAM.curves, CANDIDATES, PLACES)


def test_candidates_are_judged_online_on_the_first_part(tuned: Tuning) -> None:
    for candidate, judged in zip(CANDIDATES, tuned.evaluations, strict=True):
        record = replay(copy.deepcopy(candidate), STREAM.X, STREAM.curves)
        worst = metrics.worst_neighbourhood(STREAM.X[:900], record.losses[:900], PLACES)
        assert judged.rounds == 900
        assert judged.risk == record.losses[:900].mean()
        assert (judged.worst, judged.worst_error) == (worst.risk, worst.standard_error)
        assert judged.size == record.sizes[:900].mean()


def test_the_chosen_one_is_judged_online_on_the_tail(tuned: Tuning) -> None:
    record = replay(tuned.calibrator, STREAM.X, STREAM.curves)
    assert tuned.held_out is not None
    assert tuned.held_out.rounds == 300
    assert tuned.held_out.risk == record.losses[900:].mean()
    assert tuned.held_out.size == record.sizes[900:].mean()


def test_the_choice_does_not_see_the_tail(tuned: Tuning) -> None:
    scores = STREAM.curves.breakpoints[1::2].copy()
    scores[900:] *= 100.0
    other = tune(STREAM.X, miscoverage(scores, widths=0.0), CANDIDATES, PLACES)
    assert other.evaluations == tuned.evaluations
    assert other.selected == tuned.selected
    assert other.held_out != tuned.held_out


def test_the_smallest_sets_win_among_those_as_good_as_the_best(tuned: Tuning) -> None:
    best = min(tuned.evaluations, key=lambda each: each.excess)
    chosen = tuned.evaluations[tuned.selected]
    assert chosen.excess <= best.excess + best.worst_error
    for each in tuned.evaluations:
        assert each.excess > best.excess + best.worst_error or each.size >= chosen.size


def test_below_the_target_all_places_are_as_good() -> None:
    def narrow(t: int) -> float:
        return 0.05

    easy = miscoverage(np.zeros(400) - 0.0, widths=1.0)  # every set holds the truth at once
    candidates = [ARC(0.1, 1.0, initial_threshold=3.0), ARC(0.1, narrow, initial_threshold=0.5)]
    chosen = tune(np.linspace(0, 1, 400), easy, candidates, PLACES)
    assert min(each.excess for each in chosen.evaluations) == 0.0
    sizes = [each.size for each in chosen.evaluations if each.excess == 0.0]
    assert chosen.evaluations[chosen.selected].size == min(sizes)


def test_without_sizes_the_best_place_decides() -> None:
    scores = STREAM.curves.breakpoints[1::2]
    chosen = tune(STREAM.X, miscoverage(scores), CANDIDATES, PLACES)
    assert np.isnan(chosen.evaluations[0].size)
    excesses = [each.excess for each in chosen.evaluations]
    assert chosen.selected == int(np.argmin(excesses))


def test_many_processes_choose_what_one_does(tuned: Tuning) -> None:
    spread = tune(STREAM.X, STREAM.curves, CANDIDATES, PLACES, jobs=2)
    assert spread.sweep.hash == tuned.sweep.hash
    assert spread.selected == tuned.selected


def test_candidates_stay_new(tuned: Tuning) -> None:
    assert all(each.rounds == 0 for each in (*CANDIDATES, *tuned.candidates, tuned.calibrator))


def test_holding_nothing_out_is_warned_about() -> None:
    with pytest.warns(SelectionWarning, match="nothing is held out"):
        chosen = tune(STREAM.X, STREAM.curves, CANDIDATES[:2], PLACES, held_out=0.0)
    assert chosen.held_out is None
    assert chosen.evaluations[0].rounds == len(STREAM)


def _tune(**changed: Any) -> Tuning:
    usual: dict[str, Any] = {
        "X": STREAM.X,
        "curves": STREAM.curves,
        "candidates": CANDIDATES,
        "neighbourhood": PLACES,
    }
    return tune(**usual | changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"candidates": []}, r"must be new calibrators, got \[\]"),
        ({"candidates": [ARC]}, "must be new calibrators"),
        ({"candidates": [ARC(0.1).update(None, 1.0)]}, "must be new calibrators"),
        ({"candidates": [ARC(0.1), ARC(0.2)]}, "the same alpha"),
        ({"held_out": 1.0}, "below 1"),
        ({"held_out": -0.1}, "must not be negative"),
        ({"held_out": 1e-9}, "1200 for the selection and 0 held out"),
        ({"held_out": 1 - 1e-9}, "0 for the selection and 1200 held out"),
        ({"X": STREAM.X[1:]}, "the same number of rounds"),
        ({"neighbourhood": RBF.from_paper(1e-9)}, "no neighbourhood has"),
    ],
)
def test_what_cannot_be_tuned_is_rejected(changed: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        _tune(**changed)


def test_the_figure_shows_every_candidate(tuned: Tuning) -> None:
    from matplotlib.figure import Figure

    from localarc.figures import trade_off

    axes = trade_off(Figure().subplots(), tuned)
    places = {(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines}  # type: ignore[index]
    assert {(each.size, each.worst) for each in tuned.evaluations} <= places
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    families = ["ARC", "L-ARC length scale 0.387", "L-ARC length scale 1.22"]
    assert labels == [*families, "selected", "target 0.1"]


def test_within_one_standard_error_the_smallest_sets_are_selected() -> None:
    precise = Evaluation(100, 0.1, 0.12, 0.02, size=5.0, alpha=0.1)
    smaller = Evaluation(100, 0.1, 0.13, 0.02, size=3.0, alpha=0.1)
    too_far = Evaluation(100, 0.1, 0.16, 0.02, size=1.0, alpha=0.1)
    assert _best([precise, smaller, too_far]) == 1
