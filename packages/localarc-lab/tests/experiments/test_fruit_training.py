"""Training the fruit classifier: a few classes and made-up tiles, on a CPU."""

import csv
import zipfile
from collections.abc import Iterator
from importlib import util
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from localarc_lab.experiments.fruit import network, tiles, train
from localarc_lab.experiments.fruit.model_outputs import FILE, Outputs

pytestmark = [
    pytest.mark.skipif(
        util.find_spec(name) is None,
        reason=f"{name} is not installed: pip install './packages/localarc-lab[experiments]'",
    )
    for name in ("torch", "PIL")
]
COUNTS = {"Training": (40, 40, 40), "Test": (5, 7, 6)}
PER_ROW = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes of plain colours with noise, in the data set's form."""
    place = tmp_path_factory.mktemp("fruits360")
    random = np.random.default_rng(0)
    rows = []
    for split, counts in COUNTS.items():
        with zipfile.ZipFile(place / f"fruits360_{split.lower()}_64.zip", "w") as archive:
            for label, number in enumerate(counts):
                archive.writestr(f"{label:03d}.webp", mosaic(label, number, random))
                rows.append([split, label, f"fruit {label}", number, number, PER_ROW])
    with (place / "index.csv").open("w", newline="") as file:
        head = ["split", "label", "class_name", "n_tiles", "n_in_source", "tiles_per_row"]
        csv.writer(file).writerows([head, *rows])
    return place


def mosaic(label: int, number: int, random: np.random.Generator) -> bytes:
    """Tile i has brightness 100 + i in the colour of its class, and the rest is white."""
    from PIL import Image

    side = tiles.SIDE
    whole = np.full((-(-number // PER_ROW) * side, PER_ROW * side, 3), 255, dtype=np.uint8)
    for i in range(number):
        top, left = i // PER_ROW * side, i % PER_ROW * side
        tile = random.integers(0, 20, (side, side, 3))
        tile[:, :, label] = 100 + i
        whole[top : top + side, left : left + side] = tile
    content = BytesIO()
    Image.fromarray(whole).save(content, "WEBP", lossless=True)
    return content.getvalue()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_tiles_are_cut_row_by_row(folder: Path) -> None:
    test = tiles.read(folder, "Test")
    assert test.pictures.shape == (18, 64, 64, 3)
    assert test.labels.tolist() == [0] * 5 + [1] * 7 + [2] * 6
    assert test.pictures[5:12, 10, 10, 1].tolist() == list(range(100, 107))
    assert tiles.read(folder, "Test", [2]).labels.tolist() == [0] * 6
    assert tiles.class_names(folder) == ["fruit 0", "fruit 1", "fruit 2"]


def test_a_folder_without_the_data_is_rejected_with_the_missing_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"fruits360_training_64.zip and .* data list"):
        tiles.read(tmp_path, "Test")


def test_the_network_has_as_many_weights_as_resnet18() -> None:
    model = network.build(1000)
    assert sum(weight.numel() for weight in model.parameters()) == 11_689_512


def test_training_learns_and_writes_outputs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train.main(["--images", str(folder), "--epochs", "3", "--out", str(tmp_path), "--logits"])
    printed = capsys.readouterr().out
    losses = [float(line.split()[5].rstrip(",")) for line in printed.splitlines()[:3]]
    assert losses[-1] < losses[0]
    found = Outputs.load(tmp_path / FILE)
    assert found.logits.shape == (18, 3)
    logits = np.load(tmp_path / "logits.npy")
    assert Outputs.of(logits, found.labels).digest() == found.digest()
    again = network.load(tmp_path / train.WEIGHTS)
    pictures = tiles.read(folder, "Test").pictures
    np.testing.assert_allclose(train.predict(again, pictures), logits, rtol=1e-4, atol=1e-4)
