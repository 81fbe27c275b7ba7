"""The fruit experiment: label sets by hand, the shipped outputs, and whole runs."""

import csv
import hashlib
import os
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from experiments.commands import assert_one_sentence, reproduce, results, written
from localarc_lab import data
from localarc_lab.experiments import Fruit, Plan, run
from localarc_lab.experiments.fruit import measurements, tiles
from localarc_lab.experiments.fruit.model_outputs import FILE, Outputs, shipped
from localarc_lab.experiments.recorded import recorded

BINS = [f"{k / 20:.2f}" for k in range(20)]
HAND = Outputs.of(
    np.log([[0.3, 0.2, 0.5], [0.9, 0.0999, 0.0001], [0.4, 0.3, 0.3]]),
    labels=np.array([0, 0, 2]),
    calibration=2,
)


def test_logits_become_sorted_probabilities_and_the_place_of_the_truth() -> None:
    assert np.abs(HAND.probabilities[0] - [0.5, 0.3, 0.2]).max() < 0.001
    assert HAND.ranks.tolist() == [1, 0, 2]
    assert HAND.accuracy == 1 / 3
    assert HAND.confidence.round(3).tolist() == [0.5, 0.9, 0.4]


def test_sets_of_likely_labels_by_hand() -> None:
    curves = HAND.curves("probability")
    assert curves.sizes_at([-0.29, -0.95, -0.29]).tolist() == [2, 0, 3]
    assert curves.losses_at([-0.29, -0.95, -0.29]).tolist() == [0, 1, 0]
    assert curves.sizes_at([-0.31, -0.89, 0.0]).tolist() == [1, 1, 3]
    assert curves.losses_at([-0.31, -0.89, -0.31]).tolist() == [1, 0, 1]


def test_a_label_at_the_threshold_is_in_the_set() -> None:
    at = -HAND.probabilities[:, 1]
    assert HAND.curves("probability").sizes_at(at).tolist() == [2, 2, 3]


def test_sets_by_cumulative_probability_by_hand() -> None:
    curves = HAND.curves("cumulative")
    assert curves.sizes_at([0.81, 0.89, 0.99]).tolist() == [2, 0, 1]
    assert curves.losses_at([0.81, 0.89, 0.99]).tolist() == [0, 1, 1]
    assert curves.sizes_at([0.51, 0.91, 1.01]).tolist() == [1, 1, 3]


@given(st.lists(st.integers(0, 10_000), min_size=1))
def test_bins_lose_no_sample(levels: list[int]) -> None:
    confidence = np.array(levels) / 10_000
    found = measurements.bin_of(confidence)
    lower, upper = found / 20, (found + 1) / 20
    assert (lower <= confidence).all()
    assert ((confidence < upper) | ((confidence == 1) & (found == 19))).all()


def test_a_split_uses_every_sample_once() -> None:
    first, rest = measurements.calibration_split(shipped(), seed=3, trial=1)
    assert len(first) == 8000
    assert sorted([*first, *rest]) == list(range(22_688))


def test_some_samples_must_remain_for_evaluation() -> None:
    with pytest.raises(ValueError, match="cannot calibrate on 3 of 3 samples"):
        measurements.calibration_split(HAND.take(slice(None), 3), seed=0, trial=0)


def test_outputs_survive_saving_and_loading(tmp_path: Path) -> None:
    HAND.save(tmp_path / FILE)
    again = Outputs.load(tmp_path / FILE)
    assert again.logits.tolist() == HAND.logits.tolist()
    assert (again.digest(), again.labels.tolist()) == (HAND.digest(), HAND.labels.tolist())
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a file of outputs"):
        Outputs.load(tmp_path / FILE)


def test_the_shipped_outputs_are_the_ones_in_the_provenance() -> None:
    path = recorded("fruit", FILE)
    content = path.read_bytes()
    stated = path.with_name("PROVENANCE.md").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() in stated
    assert f"{len(content):,} bytes" in stated
    found = shipped()
    assert found.logits.shape == (22_688, 131)
    assert found.logits.dtype == np.float16
    assert (np.diff(found.logits, axis=1) <= 0).all()
    assert round(found.accuracy, 4) == 0.8910
    assert "0.8910" in stated


def test_the_shipped_labels_are_the_test_split_of_131_classes() -> None:
    labels = shipped().labels
    assert len(np.unique(labels)) == 131
    assert (np.diff(labels) >= 0).all()
    assert np.bincount(labels)[:2].tolist() == [164, 148]


def test_the_data_set_has_the_classes_of_the_shipped_outputs() -> None:
    folder = data.find("fruits360")
    if folder is None:
        reason = (
            "Fruits-360 is not downloaded: set LOCALARC_DATA to the parent of a folder fruits360"
        )
        (pytest.fail if os.environ.get("LOCALARC_REQUIRE_DATA") else pytest.skip)(reason)
    with (folder / "index.csv").open(newline="") as file:
        test = [row for row in csv.DictReader(file) if row["split"] == "Test"]
    assert [int(row["label"]) for row in test] == list(range(131))
    assert [int(row["n_tiles"]) for row in test] == np.bincount(shipped().labels).tolist()
    pytest.importorskip(
        "PIL", reason="Pillow is not installed: pip install './packages/localarc-lab[experiments]'"
    )
    assert tiles.read(folder, "Test", [1]).pictures.shape == (148, 64, 64, 3)


def test_the_confidences_are_spread() -> None:
    share = np.bincount(measurements.bin_of(shipped().confidence), minlength=20) / 22_688
    assert share.max() < 0.2
    assert (share[2:] > 0.015).all()


METHODS = ("ARC", "L-ARC l=0.25", "Mondrian")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("fruit")
    done = reproduce("fruit", out, "--quick", "--jobs", "1", "--methods", ",".join(METHODS))
    assert done.exit_code == 0, done.stderr
    return out, done


@pytest.mark.slow
def test_a_quick_run_writes_every_file_it_lists_and_adds_up(finished: tuple[Path, Result]) -> None:
    out, done = finished
    assert len(written(done)) == 13
    assert all(path.stat().st_size > 500 for path in written(done))
    found = results(out)
    assert found["command"].startswith("localarc reproduce fruit --seed 0 --quick --methods ")
    assert all(certificate["consistent"] for certificate in found["certificates"])
    with (out / "results.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found["rows"])
    for score in ("probability", "cumulative"):
        for method in METHODS:
            for evaluation, samples in (("online", 1000), ("average", 1836), ("last", 1836)):
                check(found["rows"], samples, (score, method, evaluation))


def test_every_length_scale_autolarc_and_mondrian_are_compared_with_arc() -> None:
    names = ["ARC", "L-ARC l=1", "L-ARC l=0.25", "L-ARC l=0.0625", "AutoLARC", "Mondrian"]
    assert list(Fruit().methods(Plan())) == names


def check(rows: list[dict[str, Any]], samples: int, wanted: tuple[str, str, str]) -> None:
    mine = [r for r in rows if (r["score"], r["method"], r["evaluation"]) == wanted]
    (whole,) = (row for row in mine if row["group"] == "all")
    assert whole["samples"] == samples
    assert {row["group"] for row in mine} <= {"all", *BINS}
    if wanted[2] == "online":
        assert abs(whole["coverage"] - 0.75) < 0.02


@pytest.mark.slow
def test_where_the_network_is_unsure_larc_covers_more_than_arc(
    finished: tuple[Path, Result],
) -> None:
    covered = {
        row["method"]: row["coverage"]
        for row in results(finished[0])["rows"]
        if (row["score"], row["evaluation"], row["group"]) == ("probability", "average", "0.30")
    }
    assert covered["ARC"] < 0.5 < covered["L-ARC l=0.25"]


@pytest.mark.skipif(
    util.find_spec("sklearn") is None,
    reason="scikit-learn is not installed: pip install './packages/localarc-lab[experiments]'",
)
def test_digits_run_without_any_file(tmp_path: Path) -> None:
    found = run(Fruit(dataset="digits"), Plan(trials=2), tmp_path)
    check(list(found.rows), 500, ("probability", "L-ARC l=0.25", "online"))
    accuracy = next(row["accuracy"] for row in found.rows if row["group"] == "all")
    assert 0.6 < accuracy < 0.95


@pytest.mark.skipif(util.find_spec("sklearn") is not None, reason="scikit-learn is installed")
def test_digits_without_scikit_learn_say_what_to_install() -> None:
    with pytest.raises(ValueError, match=r"pip install 'localarc\[experiments\]'"):
        Fruit(dataset="digits").load(Plan())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["dataset=letters"], "dataset must be fruit or digits, got 'letters'"),
        (["dataset=digits", "data=a.npz.xz"], "data and dataset=digits cannot be used together"),
        (["data=nowhere.npz.xz"], "nowhere.npz.xz is not a file of outputs"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    flags = [part for option in options for part in ("-o", option)]
    assert_one_sentence(reproduce("fruit", tmp_path, *flags), words, tmp_path)


def test_the_outputs_of_another_network_can_be_used(tmp_path: Path) -> None:
    HAND.save(tmp_path / FILE)
    assert Fruit(data=tmp_path / FILE).load(Plan()).digest() == HAND.digest()
