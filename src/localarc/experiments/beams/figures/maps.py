"""The maps of the beams experiment: who is served where, in the first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.experiments.beams.evaluation import DRAWN
from localarc.experiments.beams.grid import means
from localarc.experiments.beams.measurements import SAME_SIZE, setting_name
from localarc.experiments.beams.methods import SHOWN
from localarc.experiments.beams.raytracer import AREA, Scene
from localarc.experiments.beams.tables import compared, memory_name, names, of, remembering
from localarc.experiments.beams.users import NEAR
from localarc.experiments.experiment import Results
from localarc.figures.frame import frame
from localarc.figures.maps import Ground, colour_bar, draw_map, maps
from localarc.figures.palette import INK
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TRIAL = "0"
_EQUAL = setting_name(SHOWN)
_RISKS = 0.0, 1.0
_RISK = "mean relative regret"
_SNR = "mean SNR, dB; red: weaker than any cell need be"
_FEW = 3  # a cell with fewer users is left white


def deployment(axes: Axes, results: Results) -> Axes:
    """The city, and what the best of all beams gives; Mondrian's border as a dashed circle."""
    from matplotlib.patches import Circle

    ground, best = ground_of(results.data.scene), _best(results)
    image = draw_map(axes, best, ground, _scale(results))
    middle = results.data.scene.transmitter.position[:2]
    axes.add_patch(Circle(middle, NEAR, fill=False, ec=INK, linestyle="--"))
    west, south, east, north = ground.borders()
    axes.set_xlim(west - 1.0, east + 1.0)
    axes.set_ylim(south - 1.0, north + 1.0)
    colour_bar(axes, image, "mean SNR of the best beam, dB")
    return frame(axes, "Deployment", "metres east", "metres north")


def ground_of(scene: Scene) -> Ground:
    """What is drawn of a scene."""
    boxes = [(*box.lower[:2], *box.upper[:2]) for box in scene.boxes]
    return Ground(AREA, boxes, scene.transmitter.position[:2])


def snr_maps(axes: Axes, results: Results) -> Axes:
    """Held-out SNR of the main methods: at equal target, below at equal mean set size."""
    methods = compared(results.rows)
    panels = {
        _name(results, method, setting, "average"): _snr(results, method, setting, "average")
        for setting in (_EQUAL, SAME_SIZE)
        for method in methods
    }
    title = "SNR at equal target (above) and equal set size (below)"
    return _maps(axes, results, panels, title, _SNR, _scale(results), len(methods))


def risk_maps(axes: Axes, results: Results) -> Axes:
    """Risk of the main methods at one target: online, below averaged and held out."""
    methods = compared(results.rows)
    panels = {
        f"{_family(method)}, {words}": _mean(
            results, method, f"risk {_EQUAL} {evaluation}", evaluation
        )
        for evaluation, words in (("online", "online"), ("average", "held out"))
        for method in methods
    }
    title = f"Risk at target {SHOWN:g}, online and held out"
    return _maps(axes, results, panels, title, _RISK, _RISKS, len(methods), "magma_r")


def threshold_maps(axes: Axes, results: Results) -> Axes:
    """The averaged threshold: local, less local, constant."""
    panels = {
        method: results.outcome(method, _TRIAL).arrays["threshold"]  # type: ignore[union-attr]
        for method in [*_local(results), *(name for name in names(results.rows) if name == "ARC")]
    }
    title = f"Averaged threshold at target {SHOWN:g}"
    return _maps(axes, results, panels, title, "threshold (minus a share)", None, 2)


def memory_snr(axes: Axes, results: Results) -> Axes:
    """Held-out SNR with less and with enough memory."""
    panels = {
        memory_name(method): _snr(results, method, _EQUAL, "average")
        for method in remembering(results.rows)
    }
    title = f"SNR by memory, target {SHOWN:g}, held out"
    return _maps(axes, results, panels, title, _SNR, _scale(results))


def memory_risk(axes: Axes, results: Results) -> Axes:
    """Online risk with less and with enough memory."""
    panels = {
        memory_name(method): _mean(results, method, f"risk {_EQUAL} online", "online")
        for method in remembering(results.rows)
    }
    title = f"Risk by memory, target {SHOWN:g}, online"
    return _maps(axes, results, panels, title, _RISK, _RISKS, colours="magma_r")


def has_local(results: Results) -> bool:
    """Whether L-ARC was run."""
    return bool(_local(results))


def has_memories(results: Results) -> bool:
    """Whether there is more than one memory to compare."""
    return len(remembering(results.rows)) > 2


def _local(results: Results) -> list[str]:
    return [name for name in names(results.rows) if name.startswith("L-ARC")]


def _maps(
    axes: Axes,
    results: Results,
    panels: dict[str, FloatArray],
    title: str,
    label: str,
    scale: tuple[float, float] | None,
    columns: int = 3,
    colours: str = "viridis",
) -> Axes:
    ground = ground_of(results.data.scene)
    return maps(axes, panels, ground, title, label, scale, columns, colours)


def _name(results: Results, method: str, setting: str, evaluation: str) -> str:
    """The method with what its map has been given: target, and beams."""
    outcome = results.outcome(method, _TRIAL)
    assert outcome is not None
    (row,) = of(outcome.rows, setting=setting, evaluation=evaluation)
    return f"{_family(method)}, target {row['target']:.2f}, {row['size']:.2f} beams"


def _family(method: str) -> str:
    """The method without its length scale."""
    return method.split(" l=")[0]


def _mean(results: Results, method: str, array: str, evaluation: str) -> FloatArray:
    outcome = results.outcome(method, _TRIAL)
    assert outcome is not None
    return means(outcome.arrays[array], outcome.arrays[f"users {evaluation}"], _FEW)


def _snr(results: Results, method: str, setting: str, evaluation: str) -> FloatArray:
    return _decibels(_mean(results, method, f"snr {setting} {evaluation}", evaluation))


def _decibels(amplitudes: FloatArray) -> FloatArray:
    """Minus infinity where nobody is served, NaN where nobody is."""
    with np.errstate(divide="ignore"):
        return np.asarray(20.0 * np.log10(amplitudes))


def _best(results: Results) -> FloatArray:
    """The SNR of the best of all beams."""
    users = results.data.trials[0].calibration
    strongest = DRAWN.sums(users.places, users.gains.max(axis=1))
    return _decibels(means(strongest, DRAWN.counts(users.places), _FEW))


def _scale(results: Results) -> tuple[float, float]:
    """From the weakest to the strongest cell, if everyone had the best of all beams."""
    best = _best(results)
    return float(np.nanmin(best)), float(np.nanmax(best))
