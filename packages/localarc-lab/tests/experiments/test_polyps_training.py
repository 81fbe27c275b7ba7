"""Training, export and the page of examples, on a few made-up images."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.commands import reproduce
from localarc_lab import data
from localarc_lab.experiments.polyps import augment, export, images, network, train
from localarc_lab.experiments.polyps.model_outputs import LOGITS

torch = pytest.importorskip(
    "torch", reason="torch is not installed: pip install './packages/localarc-lab[experiments]'"
)
Image = pytest.importorskip("PIL.Image")
SIZE = 64


def made_up(random: Any) -> tuple[bytes, bytes]:
    """A bright disc on a dark ground, and its mask."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    centre, radius = random.integers(20, 44, 2), random.integers(8, 16)
    disc = (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < radius**2
    picture = (60 + 130 * disc[..., None] + random.integers(0, 40, (SIZE, SIZE, 3))).astype("uint8")
    files = io.BytesIO(), io.BytesIO()
    Image.fromarray(picture).save(files[0], "WEBP", quality=90)
    Image.fromarray((255 * disc).astype("uint8")).save(files[1], "PNG")
    return files[0].getvalue(), files[1].getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    place: Path = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(0)
    contents = {"train": ("Kvasir", "CVC-ClinicDB"), "test": images.SOURCES}
    for split, sources in contents.items():
        with zipfile.ZipFile(place / f"polyp_{split}_352.zip", "w") as archive:
            for source in sources:
                for i in range(4):
                    picture, mask = made_up(random)
                    archive.writestr(f"images/{source}/{i}.webp", picture)
                    archive.writestr(f"masks/{source}/{i}.png", mask)
    return place


@pytest.fixture(scope="module")
def weights(folder: Path) -> Path:
    where = ["--images", str(folder), "--out", str(folder)]
    train.main([*where, "--epochs", "3", "--batch", "4", "--limit", "8", "--from-scratch"])
    return folder / train.FILE


def test_pairs_come_in_a_fixed_order_with_those_to_train_on_first(folder: Path) -> None:
    pairs = images.find(folder)
    assert len(pairs) == 28
    assert [pair.trained for pair in pairs.pairs] == [True] * 8 + [False] * 20
    assert [pair.source for pair in pairs.pairs[8::4]] == list(images.SOURCES)
    pictures, masks = next(pairs.trained().batches(8))
    assert pictures.shape == (8, SIZE, SIZE, 3)
    assert masks.any(axis=(1, 2)).all()
    assert pictures[masks].mean() > pictures[~masks].mean() + 100


def test_eight_images_can_be_trained_on(weights: Path) -> None:
    model = network.load(weights)
    assert all(torch.isfinite(each).all() for each in model.parameters())
    logits, features = network.forward(model, torch.rand(2, 3, SIZE, SIZE))
    assert logits.shape == (2, SIZE, SIZE)
    assert features.shape == (2, 1280)


def test_a_better_mask_costs_less() -> None:
    truth = torch.zeros(1, 8, 8)
    truth[:, :4] = 1
    right, wrong = (10 * sign * (2 * truth - 1) for sign in (1, -1))
    assert train.loss(right, truth) < 0.02
    assert train.loss(wrong, truth) > 5


def test_picture_and_mask_move_together() -> None:
    random = torch.Generator().manual_seed(0)
    masks = torch.zeros(16, 48, 48)
    masks[:, 18:30, 18:30] = 1
    pictures = masks[:, None].expand(-1, 3, -1, -1) * 0.6
    moved, truth = augment.augment(pictures, masks, random)
    assert ((moved.mean(dim=1) > 0.2) != (truth > 0)).float().mean() < 0.02
    assert (truth != masks).any()
    assert moved.min() >= 0
    assert moved.max() <= 1


def test_a_mirror_image_has_the_mirrored_mask_and_the_same_features(weights: Path) -> None:
    model = network.load(weights)
    batch = torch.rand(1, 3, SIZE, SIZE)
    with torch.inference_mode():
        logits, features = export.mirrored(model, batch)
        turned, same = export.mirrored(model, batch.flip([-1]))
    torch.testing.assert_close(turned.flip([-1]), logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(same, features, rtol=1e-4, atol=1e-4)


def test_what_is_exported_is_what_the_network_says(weights: Path, folder: Path) -> None:
    model, pairs = network.load(weights), images.find(folder)
    outputs, raw = export.export(model, pairs)
    assert len(outputs) == 28
    assert raw.shape == (28, 1280)
    logits, masks, _ = next(export.predict(model, pairs, "cpu"))
    column = 120
    found = (logits[3] >= LOGITS[column]) & masks[3]
    assert outputs.losses[3, column] == pytest.approx(1 - found.sum() / masks[3].sum())
    assert len(export.quality(outputs)) == 7


def test_the_published_encoder_fits() -> None:
    try:
        network.imagenet_weights()
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    model = network.build()
    network.start_from_imagenet(model)


def test_a_run_from_images_has_a_page_of_examples(
    weights: Path, folder: Path, tmp_path: Path
) -> None:
    options = ["--quick", "--jobs", "1", "--methods", "ARC,L-ARC l=1", "--trials", "1"]
    done = reproduce("polyps", tmp_path, *options, "-o", f"images={folder}")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "examples.png").stat().st_size > 5000


def test_without_weights_the_error_names_the_training_command(folder: Path, tmp_path: Path) -> None:
    from localarc_lab.experiments.polyps import examples

    with pytest.raises(ValueError, match=r"python -m localarc_lab\.experiments\.polyps\.train"):
        examples.recompute(tmp_path, seed=0)


def test_a_missing_data_set_names_the_variable_to_set(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("LOCALARC_DATA", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / name))
    with pytest.raises(data.DataError, match="set LOCALARC_DATA"):
        data.get("polyps")
