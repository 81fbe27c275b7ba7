"""Examples: pictures with the masks of ARC and L-ARC over the true outline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from localarc.figures.frame import frame
from localarc.figures.palette import colours
from localarc.validation import FloatArray
from localarc_lab.experiments.experiment import Outcome
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.polyps.images import SOURCES, Images, Pair, find
from localarc_lab.experiments.polyps.model_outputs import Outputs
from localarc_lab.experiments.polyps.settings import HEADLINE, Setting, calibration_split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[Outputs, Setting]
_TRIAL = 0


@dataclass(frozen=True, eq=False)
class Example:
    """A held-out image: its row among the outputs, the picture, the truth and the logits."""

    row: int
    picture: NDArray[np.uint8]
    truth: NDArray[np.bool_]
    logits: FloatArray


def recompute(folder: Path, seed: int) -> Outputs:
    """Compute outputs and examples from the images and the trained network in a folder."""
    if util.find_spec("torch") is None:
        raise ImportError(
            "reading images requires torch: pip install './packages/localarc-lab[experiments]'"
        )
    from localarc_lab.experiments.polyps import export, network, train
    from localarc_lab.experiments.torch_device import best_device

    weights = folder / train.FILE
    if not weights.is_file():
        raise ValueError(
            f"{folder} does not contain {train.FILE}. Train a network: "
            "python -m localarc_lab.experiments.polyps.train --images FOLDER --out FOLDER"
        )
    pairs = find(folder)
    device = best_device()
    model = network.load(weights, device)
    outputs, _ = export.export(model, pairs, device)
    rows = _chosen(outputs, seed)
    chosen = outputs.take(np.array(rows))
    same = zip(chosen.sources, chosen.names, chosen.trained, strict=True)
    shown = Images(folder, tuple(Pair(SOURCES[s], name, bool(t)) for s, name, t in same))
    pictures, truth = next(shown.batches(len(shown)))
    logits, _, _ = next(export.predict(model, shown, device))
    parts = zip(rows, pictures, truth, logits.astype(np.float64), strict=True)
    return replace(outputs, examples=tuple(Example(*part) for part in parts))


def _chosen(outputs: Outputs, seed: int) -> list[int]:
    """The first held-out image of each source in the first trial: none is hand-picked."""
    _, held = calibration_split(outputs, HEADLINE.pool, seed, _TRIAL)
    _, first = np.unique(outputs.sources[held], return_index=True)
    return [int(row) for row in held[np.sort(first)]]


def has_any(results: Results) -> bool:
    """Whether there are pictures to show."""
    return bool(results.data.examples) and bool(_shown(results))


def _shown(results: Results) -> dict[str, Outcome[Setting]]:
    """ARC, the most local L-ARC and AutoLARC, as far as they were run."""
    setting = next((run.task.setting for run in results.outcomes), HEADLINE)
    first = [
        run for run in results.outcomes if (run.task.setting, run.task.trial) == (setting, _TRIAL)
    ]
    arc = [run for run in first if run.task.method == "ARC"]
    local = [run for run in first if run.task.method.startswith("L-ARC")][-1:]
    auto = [run for run in first if run.task.method == "AutoLARC"]
    return {run.task.method: run for run in (*arc, *local, *auto)}


def page(axes: Axes, results: Results) -> Axes:
    """One column per source: the picture, then each method's mask, with the true outline."""
    methods = _shown(results)
    columns = []
    for example in results.data.examples:
        tiles = [_outlined(example.picture / 255.0, example.truth)]
        for name, outcome in methods.items():
            thresholds = outcome.arrays.get("average", outcome.arrays["last"])
            at = thresholds[list(outcome.arrays["held"]).index(example.row)]
            inside = -1.0 / (1.0 + np.exp(-example.logits)) <= at
            family = name.split(" ")[0]
            painted = _painted(example.picture / 255.0, inside, colours([family])[family])
            tiles.append(_outlined(painted, example.truth))
        columns.append(np.vstack(tiles))
    height, width = results.data.examples[0].truth.shape
    frame(axes, "Masks on held-out images, the truth outlined in white", "", "")
    axes.imshow(np.hstack(columns), interpolation="antialiased")
    names = [SOURCES[results.data.sources[each.row]] for each in results.data.examples]
    axes.set_xticks(width * (np.arange(len(names)) + 0.5), names, fontsize=7)
    axes.set_yticks(height * (np.arange(len(methods) + 1) + 0.5), ["image", *methods], fontsize=7)
    axes.tick_params(length=0)
    return axes


def _painted(picture: FloatArray, inside: NDArray[np.bool_], colour: str) -> FloatArray:
    from matplotlib.colors import to_rgb

    return np.where(inside[..., None], 0.5 * picture + 0.5 * np.array(to_rgb(colour)), picture)


def _outlined(picture: FloatArray, truth: NDArray[np.bool_]) -> FloatArray:
    """A white line, three pixels wide, around the true pixels."""
    grown, shrunk = truth.copy(), truth.copy()
    for axis in (0, 1):
        for step in (-1, 1):
            grown |= np.roll(grown, step, axis)
            shrunk &= np.roll(shrunk, step, axis)
    return np.where((grown & ~shrunk)[..., None], 1.0, picture)
