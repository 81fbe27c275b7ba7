"""The comparison of wrapped models: what is measured, on which rows, and who is ahead."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.models import bars, drift, label_sets, losses, ours, report
from benchmarks.models.interval_rows import IntervalRow
from benchmarks.models.intervals import Intervals, localarc, localarc_asymmetric
from benchmarks.models.label_rows import ClassCoverage, LabelRow
from benchmarks.models.streams import Case, Origin, Rows, Source, Trained, drawn, parts, train
from benchmarks.models.worst_third import Worst, thirds, worst

RANDOM = np.random.default_rng(0)


class Constant:
    """A model that predicts the mean of its training rows, and remembers them."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Constant:
        self.rows, self.mean = X["row"].tolist(), float(y.mean())
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.full(len(X), self.mean)


def rows(n: int) -> Rows:
    X = pd.DataFrame({"row": np.arange(n, dtype=float)})
    return Rows(X, np.arange(n, dtype=float), np.where(np.arange(n) % 2, "odd", "even"))


def source(n: int, shuffled: bool = False) -> Source:
    origin = Origin("a package", "CC0")
    return Source("name", lambda: rows(n), Constant, ("row",), origin, shuffled=shuffled)


# ---- rows ----------------------------------------------------------------------------------------


def test_the_model_is_trained_on_the_first_quarter_and_never_on_the_stream() -> None:
    trained = train(source(400), rounds=1000)
    assert trained.model.rows == list(range(100))
    case = trained.case()
    assert case.local[:, 0].tolist() == list(range(100, 400))
    assert (case.calibration, len(case)) == (40, 260)
    assert case.stream(case.y)[0] == 140.0


def test_a_long_table_is_thinned_out_so_that_the_stream_spans_it() -> None:
    case = train(source(40_000), rounds=1000).case()
    assert len(case) == 1000
    assert np.all(np.diff(case.local[:, 0]) == 26.0)


def test_calibration_rows_are_limited() -> None:
    assert parts(100_000) == (25_000, 1000)


def test_further_draws_have_other_rows_or_another_order() -> None:
    assert drawn(source(100), 2).y.tolist() == list(range(10, 100))
    orders = [drawn(source(100, shuffled=True), draw).y.tolist() for draw in (0, 1)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(100))


# ---- intervals -----------------------------------------------------------------------------------


def noisy(n: int, bias: float = 0.0) -> Case:
    """Errors that are six times as large where the only feature is high."""
    random = np.random.default_rng(1)
    x = random.random(n)
    y = random.normal(size=n) * np.where(x > 2 / 3, 6.0, 1.0) + bias
    return Case("noisy", np.zeros(n), y, x[:, None], ("x",), None, n // 10)


def test_the_worst_third_is_found_where_one_width_for_all_fails() -> None:
    case = noisy(3000)
    y = case.stream(case.y)
    flat = np.full(len(case), np.quantile(np.abs(y), 0.9))
    both = np.array([each.cover(y) for each in (localarc(case), Intervals(-flat, flat))])
    (ours, theirs), errors = worst(both, thirds(case.stream(case.local), case.names), 0.9)
    assert ours.distance < 0.01
    assert theirs.where == "high x"
    assert theirs.distance == pytest.approx(0.9 - theirs.coverage)
    assert theirs.distance - ours.distance > 2.0 * errors[1]


def test_the_error_of_a_difference_is_that_of_resampled_blocks() -> None:
    covered = np.array([np.ones(4000), (RANDOM.random(4000) < 0.8).astype(float)])
    parts = thirds(np.zeros((4000, 1)), ("all",))
    _, errors = worst(covered, parts, 0.9)
    assert errors[0] == 0.0
    assert errors[1] == pytest.approx(np.sqrt(0.8 * 0.2 / 4000), rel=0.25)


def test_equal_values_stay_in_one_third() -> None:
    found = thirds(np.repeat([0.0, 1.0], [900, 100])[:, None], ("x",))
    assert found.names == ("low x", "middle x") or found.names == ("low x", "high x")
    assert found.members.sum(axis=1).tolist() == [900.0, 100.0]


def test_thirds_of_a_stream_that_is_too_short_are_refused() -> None:
    with pytest.raises(ValueError, match="no third has 50 rounds, got 60 rounds"):
        thirds(RANDOM.random((60, 1)), ("x",))


def test_asymmetric_intervals_are_narrower_where_the_model_is_biased() -> None:
    case = noisy(3000, bias=10.0)
    y = case.stream(case.y)
    one, two = localarc(case), localarc_asymmetric(case)
    assert abs(one.cover(y).mean() - 0.9) < 0.01
    assert abs(two.cover(y).mean() - 0.9) < 0.01
    assert two.widths.mean() < 0.7 * one.widths.mean()


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
def test_our_intervals_are_those_shown_before_each_outcome(kind: str) -> None:
    case = replace(noisy(300), groups=np.repeat(["first", "second", "third"], 100))
    X, known = ours.columns(case), case.calibration
    model = ours.calibrated(case, kind=kind)
    model.warm_up(X[:known], case.y[:known], prediction=case.predictions[:known])
    shown = []
    for t in range(known, 300):
        row, prediction = X[t : t + 1], case.predictions[t : t + 1]
        lower, upper = model.predict_interval(row, prediction=prediction)
        shown.append((lower[0], upper[0]))
        model.update(row, case.y[t : t + 1], prediction=prediction)
    np.testing.assert_array_equal(np.array(shown).T, [*ours.sets(case, kind=kind)])
    assert {group.name for group in model.summary().levels[0].groups} == {"1=0", "1=1", "1=2"}


# ---- labels --------------------------------------------------------------------------------------


def labelled(n: int) -> Trained:
    """Three classes; a model that knows the label from two of the features."""

    class Scores:
        classes_ = np.array(["a", "b", "c"])

        def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
            powers = np.exp(X[["a", "b", "c"]].to_numpy())
            return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    random = np.random.default_rng(2)
    y = random.integers(3, size=n)
    X = pd.DataFrame(random.normal(size=(n, 3)) + 3.0 * np.eye(3)[y], columns=["a", "b", "c"])
    table = Rows(X, Scores.classes_[y])
    declared = Source("labelled", lambda: table, Scores, ("a",), Origin("a package", "CC0"))
    return Trained(declared, Scores(), table, n // 10, X.std())


def test_a_label_shift_makes_frequent_classes_rare_and_keeps_every_row() -> None:
    trained = labelled(3000)
    case = drift.label_shift(trained, 0)
    y, half = case.stream(case.y), len(case) // 2
    assert np.array_equal(np.sort(y), np.sort(trained.rest.y[300:]))
    assert np.mean(y[:half] == "b") < 0.15
    assert np.mean(y[half:] == "b") > 0.45
    assert np.array_equal(case.y[:300], trained.rest.y[:300])


def test_noise_begins_half_way_and_makes_the_model_worse() -> None:
    trained = labelled(3000)
    before, after = trained.case(), drift.noise_change(trained, 0)
    start = 300 + 2700 // 2
    assert np.array_equal(before.predictions[:start], after.predictions[:start])
    right = after.classes[after.predictions.argmax(axis=1)] == after.y  # type: ignore[index]
    assert right[start:].mean() < right[:start].mean() - 0.02


def test_a_shuffled_stream_has_the_same_rows_in_another_order() -> None:
    trained = labelled(1000)
    case = drift.shuffled(trained, 0)
    assert not np.array_equal(case.y, trained.rest.y)
    assert np.array_equal(np.sort(case.local, axis=0), np.sort(trained.case().local, axis=0))


def test_our_label_sets_cover_every_class_after_the_calibration_rows() -> None:
    case = drift.label_shift(labelled(3000), 0)
    (row,) = (_row(case, "localarc"),)
    assert [each.label for each in row.classes] == ["a", "b", "c"]
    assert row.failing == ()
    assert row.rounds == 2700


def _row(case: Case, method: str) -> LabelRow:
    from benchmarks.models.label_rows import _row as made

    return made(case, case.name, drift.LABEL_SHIFT, method, label_sets.METHODS[method](case))


# ---- bars ----------------------------------------------------------------------------------------

OURS = IntervalRow("s", "localarc", 100, 0.9, Worst("low x", 0.9, 0.0, 0.01), 2.0, 0.0, 0.0, 0.0)
THEIRS = replace(OURS, method="peer", worst=Worst("low x", 0.8, 0.1, 0.01), width=1.0)


@pytest.mark.parametrize(
    ("nearer", "outcome"), [(0.05, "win"), (0.03, "tie"), (-0.03, "tie"), (-0.05, "loss")]
)
def test_a_difference_within_two_standard_errors_is_a_tie(nearer: float, outcome: str) -> None:
    assert replace(THEIRS, nearer=nearer, error=0.02).outcome == outcome


def test_most_streams_are_more_than_half_of_them() -> None:
    near = [replace(THEIRS, stream=name, nearer=0.1, error=0.01) for name in "ab"]
    far = [replace(THEIRS, stream=name, nearer=0.03, error=0.01) for name in "cd"]
    ours = [replace(OURS, stream=name) for name in "abcd"]
    assert [bar.met for bar in bars.of_intervals(ours + near + far)] == [True, False]
    assert [bar.met for bar in bars.of_intervals(ours[:3] + near + far[:1])] == [True, True]


def test_marginal_coverage_is_judged_on_the_worst_stream() -> None:
    rows = [OURS, replace(OURS, stream="other", coverage=0.879)]
    (bar,) = bars.of_intervals(rows)
    assert (bar.met, bar.measured) == (False, "furthest 0.0210, other")


def test_narrower_intervals_of_a_peer_count_only_if_it_covers_enough() -> None:
    assert losses.of_intervals([OURS, THEIRS]) == [
        "s: 2.00 times as wide as peer (coverage 0.900, worst third 0.800)"
    ]
    assert losses.of_intervals([OURS, replace(THEIRS, coverage=0.87)]) == []


GOOD, BAD = ClassCoverage("a", 1000, 0.9), ClassCoverage("b", 1000, 0.87)
SETS = LabelRow("s", drift.SHUFFLED, "localarc", 2000, 0.9, (GOOD,), 1.2)


def test_a_class_fails_beyond_two_hundredths_or_two_standard_errors() -> None:
    assert replace(SETS, classes=(GOOD, BAD)).failing == (BAD,)
    few = ClassCoverage("b", 200, 0.87)  # 0.03, and two standard errors are 0.042
    assert replace(SETS, classes=(few,)).failing == ()


@pytest.mark.parametrize(("size", "met"), [(1.15, True), (1.1, False)])
def test_sets_may_be_five_per_cent_larger_without_drift(size: float, met: bool) -> None:
    found = bars.of_labels([SETS, replace(SETS, method="crepes class_cond", size=size)])
    assert found[-1].met is met
    assert len(losses.of_labels([SETS, replace(SETS, method="crepes", size=size)])) == 1 - met


def test_with_drift_sets_must_be_smaller_or_better_covered() -> None:
    larger = replace(SETS, size=1.3)
    worse = replace(larger, classes=(BAD,))
    assert bars.smaller_or_better(larger, replace(SETS, classes=(BAD,)))
    assert bars.smaller_or_better(worse, replace(worse, size=1.4))
    assert not bars.smaller_or_better(worse, SETS)


def test_classes_are_counted_by_version_and_method() -> None:
    bad = replace(SETS, classes=(GOOD, BAD))
    rows = [bad, replace(SETS, method="crepes")]
    later = [replace(row, version=drift.NOISE_CHANGE, classes=(GOOD,)) for row in rows]
    first, second, *_ = bars.of_labels(rows + later)
    assert (first.met, first.measured) == (False, "localarc 1 of 2, crepes 1 of 1")
    assert (second.met, second.claim[:6]) == (True, "noise:")


def test_a_missing_peer_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["models"])
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == "crepes" else name)
    with pytest.raises(SystemExit):
        report.main()
    assert "crepes must be installed: pip install 'localarc[benchmarks]'" in capsys.readouterr().err


def test_the_command_compares_all_methods_on_streams_of_packages(tmp_path: Path) -> None:
    for name in ("mapie", "crepes", "river", "sklearn"):
        pytest.importorskip(name, reason="pip install 'localarc[benchmarks]'")
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "benchmarks.models", "--quick", "diabetes", "bananas"]
    command += ["--figure", str(tmp_path / "worst.png"), "--json", str(tmp_path / "all.json")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    for method in ("MAPIE ACI", "crepes online", "river jackknife", "crepes class_cond"):
        assert method in done.stdout
    assert "skipped" not in done.stdout
    assert (tmp_path / "worst.png").stat().st_size > 0
    assert {row["stream"] for row in json.loads((tmp_path / "all.json").read_text())["labels"]} == {
        "bananas"
    }
