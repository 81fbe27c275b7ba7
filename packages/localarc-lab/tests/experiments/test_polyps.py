"""The polyp experiment, from the shipped outputs to the report, without torch."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.commands import assert_one_sentence, reproduce, results, written
from localarc import RBF
from localarc_lab import experiments
from localarc_lab.experiments import Plan, Polyps
from localarc_lab.experiments.polyps import cache, export, measurements
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.polyps.model_outputs import LOGITS, SPACES, Outputs, shipped
from localarc_lab.experiments.polyps.reduction import UnitBox, neighbour_accuracy, projection
from localarc_lab.experiments.polyps.settings import HEADLINE, calibration_split, coordinates
from localarc_lab.experiments.recorded import recorded

FEW = ("ARC", "L-ARC l=0.25", "Mondrian", "KeepLast(500)")
DIGEST = "1209c15d67661c67181eb41786c1571c4e092561ab62a2dde4ddf8e58e21625a"


@pytest.fixture(scope="module")
def data() -> Outputs:
    return shipped()


def images(n: int = 4, size: int = 12) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    logits = 6 * random.standard_normal((n, size, size)).astype(np.float32)
    return logits, random.random((n, size, size)) < 0.3


# ---- curves ------------------------------------------------------------------------------------


def outputs_of(logits: Any, masks: Any) -> Outputs:
    losses, sizes, truth, _ = export.measure(logits, masks, np.zeros((len(logits), 1), np.float32))
    n = len(logits)
    kinds = np.zeros(n, np.int64), np.zeros(n, dtype=bool)
    return Outputs(losses, sizes, truth, np.zeros((n, 1)), *kinds, ("",) * n)


@pytest.mark.parametrize("space", SPACES)
def test_the_curves_are_a_direct_count_of_pixels(space: str) -> None:
    logits, masks = images()
    curves = outputs_of(logits, masks).curves(space)
    scores = -logits if space == "logit" else -1 / (1 + np.exp(-logits.astype(np.float64)))
    grid = -LOGITS if space == "logit" else -1 / (1 + np.exp(-LOGITS))
    low, high = (-12.0, 12.0) if space == "logit" else (-0.999, -1e-5)
    for threshold in np.random.default_rng(1).uniform(low, high, 50):
        at = grid[grid <= threshold].max()  # between grid points the lower one counts
        inside = scores <= at
        found = (inside & masks).sum(axis=(1, 2)) / masks.sum(axis=(1, 2))
        np.testing.assert_allclose(curves.losses_at(threshold), 1 - found, atol=1e-12)
        np.testing.assert_allclose(curves.sizes_at(threshold), inside.mean(axis=(1, 2)))


@pytest.mark.parametrize("space", SPACES)
def test_the_last_threshold_takes_every_pixel_and_zero_starts_there(space: str) -> None:
    curves = outputs_of(*images()).curves(space)
    last = curves.score_range[1]
    assert (curves.losses_at(last) == 0).all()
    assert (curves.sizes_at(last) == 1).all()
    assert (curves.losses_at(-1e9) == 1).all()
    if space == "probability":
        assert last == 0.0  # c_1 = 0: the first mask is the whole image


def test_outputs_survive_their_file(tmp_path: Path, data: Outputs) -> None:
    data.save(tmp_path / "again.npz")
    again = Outputs.load(tmp_path / "again.npz")
    assert again.digest() == data.digest()
    assert again.names == data.names


# ---- the shipped file --------------------------------------------------------------------------


def test_the_shipped_file_is_the_one_in_its_provenance(data: Outputs) -> None:
    path = recorded("polyps", "outputs.npz")
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == DIGEST
    assert DIGEST in path.with_name("PROVENANCE.md").read_text(encoding="utf-8")
    assert len(content) < 1_400_000


def test_every_image_of_every_source_is_in_the_shipped_file(data: Outputs) -> None:
    rows = zip(data.sources, data.names, data.trained, strict=True)
    assert len(data) == len(set(rows)) == 2248
    assert data.excluded == 0
    seen = np.bincount(data.sources[data.trained], minlength=5)
    unseen = np.bincount(data.sources[~data.trained], minlength=5)
    assert dict(zip(SOURCES, seen, strict=True))["Kvasir"] == 900
    assert seen.tolist() == [900, 550, 0, 0, 0]
    assert unseen.tolist() == [100, 62, 60, 380, 196]


def test_the_network_reaches_the_required_overlap(data: Outputs) -> None:
    half = int(np.abs(LOGITS).argmin())
    found, size = 1 - data.losses[:, half], data.sizes[:, half]
    dice = 2 * found * data.truth / (size + data.truth)
    for source, least in enumerate((0.86, 0.87, 0.85, 0.72, 0.62)):
        assert dice[(data.sources == source) & ~data.trained].mean() >= least


# ---- features ----------------------------------------------------------------------------------


def test_an_orthogonal_projection_keeps_kernel_values() -> None:
    random = np.random.default_rng(2)
    spreads = 0.8 ** np.arange(200)  # as in real features, a few directions hold nearly everything
    rows = random.standard_normal((300, 200)) * spreads
    onto = projection(rows, 40)
    np.testing.assert_allclose(onto.axes @ onto.axes.T, np.eye(40), atol=1e-12)
    kernel = RBF.from_paper(2.0)
    np.testing.assert_allclose(
        kernel.matrix(onto(rows), onto(rows)), kernel.matrix(rows, rows), atol=1e-6
    )


def test_features_identify_sources_unless_coordinates_are_rescaled(data: Outputs) -> None:
    calibration, _ = calibration_split(data, "all", seed=0, trial=0)
    kept = coordinates(data.features, calibration)
    rescaled = coordinates(data.features / data.features.std(axis=0), calibration)
    good, bad = (neighbour_accuracy(places, data.sources) for places in (kept, rescaled))
    print(f"10-nearest-neighbour source accuracy {good:.3f}, had they been rescaled {bad:.3f}")
    assert neighbour_accuracy(data.features, data.sources) > 0.7
    assert good > 0.6
    assert bad < good - 0.05


def test_neighbours_that_share_no_label_are_never_right() -> None:
    features = np.array([[0.0], [0.1], [5.0], [5.1]])
    assert neighbour_accuracy(features, np.array([0, 0, 1, 1]), 1) == 1.0
    assert neighbour_accuracy(features, np.array([0, 1, 0, 1]), 1) == 0.0


def test_the_box_holds_exactly_the_rows_it_was_made_around() -> None:
    rows = np.random.default_rng(3).standard_normal((50, 3))
    inside = UnitBox.around(rows)(rows)
    assert inside.min(axis=0).tolist() == [0, 0, 0]
    assert inside.max(axis=0).tolist() == [1, 1, 1]


def test_held_out_images_do_not_touch_the_features_of_calibration(data: Outputs) -> None:
    calibration, held = calibration_split(data, "all", seed=0, trial=0)
    before = coordinates(data.features, calibration)
    changed = data.features.copy()
    changed[held] *= -100
    after = coordinates(changed, calibration)
    assert before.shape == (2248, 5)
    np.testing.assert_array_equal(before[calibration], after[calibration])
    assert (before[held] != after[held]).any()


# ---- trials ------------------------------------------------------------------------------------


def test_fifty_images_of_each_source_are_held_out(data: Outputs) -> None:
    calibration, held = calibration_split(data, "all", seed=0, trial=3)
    assert np.bincount(data.sources[held]).tolist() == [50] * 5
    assert len(calibration) == 1998
    assert len(set(calibration) | set(held)) == 2248
    assert (np.diff(calibration) < 0).any()  # in random order
    again, _ = calibration_split(data, "all", seed=0, trial=3)
    np.testing.assert_array_equal(calibration, again)
    other, _ = calibration_split(data, "all", seed=0, trial=4)
    assert (calibration != other).any()


def test_the_unseen_pool_has_no_image_that_was_trained_on(data: Outputs) -> None:
    calibration, held = calibration_split(data, "unseen", seed=0, trial=0)
    assert not data.trained[calibration].any()
    assert not data.trained[held].any()
    assert 400 < len(calibration) < 798 - 250


def test_a_copy_of_a_held_out_image_does_not_calibrate_in_the_unseen_pool(data: Outputs) -> None:
    copies = data.copies()
    assert np.isin(copies[data.sources == 2], copies[data.sources == 3]).all()  # CVC-300, ColonDB
    assert not np.isin(copies[data.trained], copies[~data.trained]).any()
    calibration, held = calibration_split(data, "unseen", seed=0, trial=0)
    assert not np.isin(copies[calibration], copies[held]).any()
    everything, out = calibration_split(data, "all", seed=0, trial=0)
    assert np.isin(copies[out], copies[everything]).any()  # as in the paper


def test_one_threshold_of_the_same_size_has_masks_that_are_no_larger(data: Outputs) -> None:
    size = 0.1
    losses = measurements._one_threshold(data, size)
    column = next(k for k in range(256) if (data.losses[:, k] == losses).all())
    assert data.sizes[:, column].mean() <= size < data.sizes[:, column + 1].mean()


# ---- the experiment ----------------------------------------------------------------------------


def run(folder: Path, jobs: int = 1, experiment: Polyps = Polyps()) -> tuple[Any, ...]:  # noqa: B008
    return experiments.run(experiment, Plan(quick=True, methods=FEW), folder, jobs).rows


@pytest.fixture(scope="module")
def rows(tmp_path_factory: Any) -> tuple[Any, ...]:
    return run(tmp_path_factory.mktemp("polyps"))


@pytest.mark.slow
def test_the_long_run_meets_the_target_and_the_sources_add_up(rows: tuple[Any, ...]) -> None:
    for row in rows:
        if row["evaluation"] == "online" and row["group"] == "all":
            assert abs(row["fnr"] - 0.1) < 0.01
    held = {
        row["group"]: row["fnr"]
        for row in rows
        if (row["pool"], row["method"], row["evaluation"]) == ("all", "ARC", "average")
    }
    assert np.mean([held[source] for source in SOURCES]) == pytest.approx(held["all"])


@pytest.mark.slow
def test_a_short_memory_is_smaller_and_less_local(rows: tuple[Any, ...]) -> None:
    last = {
        row["method"]: row
        for row in rows
        if (row["pool"], row["evaluation"], row["group"]) == (HEADLINE.pool, "last", "all")
    }
    short, whole = last["KeepLast(500)"], last["L-ARC l=0.25"]
    assert short["running_kb"] < whole["running_kb"]
    assert short["state_kb"] == pytest.approx(whole["state_kb"], rel=0.01)  # the average's archive
    assert last["ARC"]["spread"] < 1e-12
    assert 0 < short["spread"] < whole["spread"]


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_the_number_of_jobs(
    rows: tuple[Any, ...], tmp_path: Path
) -> None:
    assert run(tmp_path, jobs=2) == rows


# ---- the command -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_quick_run_writes_every_file_it_lists(tmp_path: Path) -> None:
    some = ["--methods", "ARC,L-ARC l=0.25,Dictionary(0.1)", "--trials", "1"]
    done = reproduce("polyps", tmp_path, "--quick", "--jobs", "1", *some)
    assert done.exit_code == 0, done.stderr
    assert len(written(done)) == 2 + 5 * 2 + 1  # no page of examples without images
    for path in written(done):
        assert path.stat().st_size > 500
    found = results(tmp_path)
    assert found["command"].startswith("localarc reproduce polyps --seed 0 --quick --trials 1")
    assert len(found["rows"]) == 2 * 3 * 3 * 6
    assert all(certificate["consistent"] for certificate in found["certificates"])
    for title in ("False negatives:", "Mask size:", "Memory at l = 0.25"):
        assert title in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["data=a.csv"], "polyps has no option 'data'. Available: images, cache."),
        (["images=a", "cache=b"], "options images and cache cannot be used together"),
        (["cache=nowhere"], "does not contain sigmoids.npy"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    flags = [part for option in options for part in ("-o", option)]
    assert_one_sentence(reproduce("polyps", tmp_path, *flags), words, tmp_path)


@pytest.mark.slow
def test_experiments_are_imported_without_torch() -> None:
    code = "import sys, localarc_lab.experiments; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert "polyps" in experiments.EXPERIMENTS


# ---- the authors' cache ------------------------------------------------------------------------


def write_cache(folder: Path, each: int = 8) -> None:
    random = np.random.default_rng(4)
    marks = ("Kvasir/a", "CVC-300/b", "CVC-ClinicDB/c", "CVC-ColonDB/d", "ETIS-LaribPolypDB/e")
    names = [f"{mark}{i}.png" for i in range(each) for mark in marks]
    masks = random.random((len(names), 10, 10)) < 0.4
    masks[0] = False
    sigmoids = np.where(random.random(masks.shape) < 0.8, masks, random.random(masks.shape))
    np.save(folder / "sigmoids.npy", sigmoids.astype(np.float32))
    np.save(folder / "masks.npy", masks.astype(np.float64))
    np.save(folder / "features.npy", random.standard_normal((len(names), 4, 6)))
    np.save(folder / "img_names.npy", np.array(names))


def test_an_image_without_a_true_pixel_is_excluded_and_counted(tmp_path: Path) -> None:
    write_cache(tmp_path)
    found = cache.read(tmp_path)
    assert found.excluded == 1
    assert len(found) == 39
    assert np.bincount(found.sources).tolist() == [7, 8, 8, 8, 8]
    assert found.groups()[:2] == ["CVC-300", "CVC-ClinicDB"]
    assert (found.truth > 0).all()


def test_a_pixel_that_is_surely_outside_is_only_in_the_full_mask(tmp_path: Path) -> None:
    write_cache(tmp_path)
    found = cache.read(tmp_path)
    sigmoids, masks = (np.load(tmp_path / f"{name}.npy")[1:] for name in ("sigmoids", "masks"))
    curves = found.curves()
    missed = ((sigmoids == 0) & (masks > 0)).sum(axis=(1, 2)) / masks.sum(axis=(1, 2))
    np.testing.assert_allclose(curves.losses_at(-1e-9), missed, atol=0.05)
    assert (curves.losses_at(0.0) == 0).all()


def test_a_cache_can_be_calibrated_on(tmp_path: Path) -> None:
    write_cache(tmp_path)
    rows = run(tmp_path / "out", experiment=Polyps(cache=tmp_path))
    assert {row["pool"] for row in rows} == {"all"}
    held = [row for row in rows if row["evaluation"] == "average" and row["group"] != "all"]
    assert {row["images"] for row in held} == {3, 4}
    assert {row["group"] for row in held} == set(SOURCES)


def test_a_cache_whose_names_identify_no_source_is_rejected(tmp_path: Path) -> None:
    write_cache(tmp_path)
    np.save(tmp_path / "img_names.npy", np.array(["somewhere/1.png"] * 40))
    with pytest.raises(ValueError, match="does not identify its source"):
        cache.read(tmp_path)
