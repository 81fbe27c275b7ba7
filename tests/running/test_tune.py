"""A calibrator is chosen on the first part of a stream and judged on the rest."""

import copy
import math
import warnings
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Constant, InverseSqrt, measures, replay
from localarc.curves import from_table, miscoverage
from localarc.measures import pinball_loss
from localarc.running import from_data
from localarc.running.tune import Evaluation, SelectionWarning, Tuning, tune
from localarc.running.tune.candidates import candidate_grid
from localarc.running.tune.selection import best
from localarc.streams.synthetic import heteroscedastic

pytestmark = pytest.mark.filterwarnings("ignore::localarc.running.tune.SelectionWarning")

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
        worst = measures.worst_neighbourhood(STREAM.X[:900], record.losses[:900], PLACES)
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


def test_the_smallest_pinball_loss_wins_among_those_as_good_as_the_best(tuned: Tuning) -> None:
    smallest = min(tuned.evaluations, key=lambda each: each.excess)
    chosen = tuned.evaluations[tuned.selected]
    assert chosen.excess <= smallest.excess + smallest.worst_error
    for each in tuned.evaluations:
        too_far = each.excess > smallest.excess + smallest.worst_error
        assert too_far or each.pinball >= chosen.pinball


def test_the_pinball_loss_is_that_of_scores_and_thresholds(tuned: Tuning) -> None:
    scores = STREAM.curves.breakpoints[1::2][:900]
    for candidate, judged in zip(CANDIDATES, tuned.evaluations, strict=True):
        record = replay(copy.deepcopy(candidate), STREAM.X, STREAM.curves)
        short = scores - record.thresholds[:900]
        assert judged.pinball == pytest.approx(np.where(short > 0, 0.9, -0.1) @ short / 900)


def test_the_pinball_loss_is_smallest_at_the_quantile() -> None:
    scores = np.random.default_rng(0).exponential(size=20_001)
    losses = [
        pinball_loss(scores, np.full(len(scores), np.quantile(scores, level)), alpha=0.1)
        for level in (0.85, 0.9, 0.95)
    ]
    assert losses[1] < min(losses[0], losses[2])


def test_sets_of_unknown_size_are_tuned_like_others(tuned: Tuning) -> None:
    scores = STREAM.curves.breakpoints[1::2]
    chosen = tune(STREAM.X, miscoverage(scores), CANDIDATES, PLACES)
    assert np.isnan(chosen.evaluations[0].size)
    assert chosen.selected == tuned.selected


def test_without_scores_the_smallest_excess_wins() -> None:
    harmless = Evaluation(100, 0.0, 0.05, 0.02, 1.0, math.nan, alpha=0.1)
    worse = Evaluation(100, 0.0, 0.15, 0.02, 1.0, math.nan, alpha=0.1)
    assert best([worse, harmless]) == 1


@pytest.mark.slow
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
        (
            {"X": STREAM.X[:0], "curves": STREAM.curves.take(slice(0, 0)), "held_out": 0.0},
            "0 for the selection and 0 held out",
        ),
        ({"X": STREAM.X[1:]}, "the same number of rounds"),
        ({"neighbourhood": RBF.from_paper(1e-9)}, "no neighbourhood has"),
        ({"neighbourhood": []}, "at least one kernel"),
        ({"neighbourhood": [PLACES, 0.3]}, "must be a kernel, got 0.3"),
        ({"candidates": None}, "alpha is required without candidates"),
        ({"candidates": None, "alpha": 1.5}, "alpha must lie strictly between"),
        ({"alpha": 0.2}, "must be that of the candidates, 0.1, got 0.2"),
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


def _evaluation(worst: float, pinball: float = 1.0, error: float = 0.02) -> Evaluation:
    return Evaluation(100, 0.1, worst, error, size=1.0, pinball=pinball, alpha=0.1)


def test_within_one_standard_error_the_smallest_pinball_loss_is_selected() -> None:
    precise = _evaluation(0.16, pinball=5.0)
    sharper = _evaluation(0.17, pinball=3.0)
    too_far = _evaluation(0.19, pinball=1.0)
    assert best([precise, sharper, too_far]) == 1


def test_what_chance_explains_is_no_excess() -> None:
    assert _evaluation(0.139).excess == 0.0
    assert _evaluation(0.15).excess == pytest.approx(0.01)


def test_the_target_is_missed_beyond_three_standard_errors() -> None:
    assert _evaluation(0.159).meets_target
    assert not _evaluation(0.161).meets_target


def test_a_missed_target_is_said_in_a_warning_and_in_the_text() -> None:
    long = heteroscedastic(4000, seed=1)
    with pytest.warns(SelectionWarning, match="the target is not met: the worst neighbourhood"):
        tuning = tune(long.X, long.curves, [ARC(0.1, Constant(0.3))], RBF(0.1))
    assert tuning.held_out is not None
    assert not tuning.held_out.meets_target
    assert f"risk of {tuning.held_out.worst:.3f} ±" in str(tuning)
    assert "The target is not met" in str(tuning)
    assert "The target is met" not in str(tuning)


def test_arc_is_never_selected_silently() -> None:
    even = miscoverage(np.random.default_rng(0).uniform(size=1200), widths=0.0)
    candidates = [ARC(0.1, 0.5), LARC(0.1, RBF(0.02), Constant(3.0))]
    with pytest.warns(SelectionWarning, match="ARC was selected, a single threshold"):
        tuning = tune(STREAM.X, even, candidates, PLACES)
    assert isinstance(tuning.calibrator, ARC)
    assert "ARC was selected, a single threshold for all inputs: none of the 1 other" in str(tuning)


def test_a_local_calibrator_that_meets_the_target_is_selected_without_warnings() -> None:
    stream = heteroscedastic(2000, seed=0, shift=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuning = tune(stream.X, stream.curves, [ARC(0.1), LARC(0.1, RBF(0.2), 4.0)])
    assert "The target is met" in str(tuning)


def test_neighbourhoods_come_from_the_inputs_of_the_first_part() -> None:
    first = STREAM.X[:900]
    tuning = tune(STREAM.X, STREAM.curves, CANDIDATES[:2])
    assert tuning.neighbourhoods == from_data.neighbourhoods(first, 300)
    moved = np.concatenate([first, 1000.0 + STREAM.X[900:]])
    assert tune(moved, STREAM.curves, CANDIDATES[:2]).evaluations == tuning.evaluations


def test_of_several_neighbourhoods_the_worst_counts() -> None:
    both = [RBF(0.3), RBF(0.1)]
    several = tune(STREAM.X, STREAM.curves, CANDIDATES[:1], both).evaluations[0]
    singles = [tune(STREAM.X, STREAM.curves, CANDIDATES[:1], one).evaluations[0] for one in both]
    worst = max(singles, key=lambda each: each.worst - 2 * each.worst_error)
    assert (several.worst, several.worst_error) == (worst.worst, worst.worst_error)


@pytest.mark.parametrize("features", [1, 2, 6])
def test_a_typical_neighbourhood_has_its_share_of_the_rounds(features: int) -> None:
    X = np.random.default_rng(0).normal(size=(3000, features)) * 10.0 ** np.arange(features)
    shares = (0.3, 0.1)
    for share, lengths in zip(shares, from_data.lengths_by_share(X, shares), strict=True):
        local = measures.localized_risk(X, np.zeros(3000), RBF(lengths), X[:200])
        assert np.median(local.counts) / 3000 == pytest.approx(share, rel=0.25)


def test_a_short_stream_has_wide_neighbourhoods_and_a_long_one_has_narrow_ones_too() -> None:
    X = STREAM.X[:200]
    assert [len(from_data.neighbourhoods(X, rounds)) for rounds in (60, 200, 600, 2000)] == [
        *(1, 1, 2, 3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [2.0**-7, 3600.0])
def test_the_default_candidates_follow_the_units_of_inputs_and_scores(unit: float) -> None:
    X, scores = STREAM.X[:600, :1], STREAM.curves.breakpoints[1:1200:2]
    usual = tune(X, miscoverage(scores, widths=0.0), alpha=0.1)
    scaled = tune(X * unit, miscoverage(scores * unit, widths=0.0), alpha=0.1)
    assert [each.risk for each in scaled.evaluations] == [each.risk for each in usual.evaluations]
    assert scaled.selected == usual.selected


def test_default_candidates_have_both_kinds_of_rates_and_the_bound_of_the_losses() -> None:
    curves = miscoverage(STREAM.curves.breakpoints[1::2], cost=np.full(1200, 5.0), bound=5.0)
    candidates = candidate_grid(STREAM.X, curves, alpha=0.5)
    assert {type(each) for each in candidates} == {ARC, LARC}
    assert {type(each.settings.rate) for each in candidates} == {Constant, InverseSqrt}
    assert {each.settings.loss_bound for each in candidates} == {5.0}


def test_scores_are_the_least_thresholds_with_an_acceptable_loss() -> None:
    losses = [[0.5, 0.1, 0.0], [0.0, 0.0, 0.0], [0.9, 0.8, 0.7]]
    curves = from_table(losses, grid=[1.0, 2.0, 3.0])
    expected = [curves[t].min_threshold(0.1) for t in range(3)]
    assert curves.min_thresholds(0.1).tolist() == expected


def test_features_and_scores_that_never_vary_are_tuned() -> None:
    X = np.column_stack([STREAM.X[:, 0], np.full(1200, 7.0)])
    lengths = from_data.length_scales(X)
    assert all(isinstance(each, tuple) and each[1] > 0 for each in lengths)
    assert from_data.rates(miscoverage(np.full(50, 3.0)), 0.1)[0] == InverseSqrt(1.0)
