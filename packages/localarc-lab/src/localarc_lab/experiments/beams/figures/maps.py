"""The maps of the beams experiment: service by location, in the first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.findings import by_method
from localarc.figures.frame import frame
from localarc.figures.maps import Ground, colour_bar, draw_map, maps
from localarc.figures.palette import INK
from localarc.validation import FloatArray
from localarc_lab.experiments.beams.figures.curves import has_any
from localarc_lab.experiments.beams.grid import means
from localarc_lab.experiments.beams.measurements import DRAWN, SAME_SIZE, City
from localarc_lab.experiments.beams.raytracer import AREA, Scene
from localarc_lab.experiments.beams.tables import compared, memory_name, memory_study, shown
from localarc_lab.experiments.beams.users import NEAR
from localarc_lab.experiments.experiment import FigureSpec, Outcome
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.table_rows import held_out, held_out_name, one
from localarc_lab.experiments.table_rows import methods as all_methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[City, None]
_RISKS = 0.0, 1.0
_RISK = "mean relative regret"
_SNR = "mean SNR, dB; red: weaker than any cell need be"
_FEW = 3  # a cell with fewer users is left white


def deployment(axes: Axes, results: Results) -> Axes:
    """The city, and the SNR of the best beam; Mondrian's border as a dashed circle."""
    from matplotlib.patches import Circle

    ground, best = ground_of(results.data.scene), _best(results)
    image = draw_map(axes, best, ground, _scale(results))
    middle = results.data.scene.transmitter.position[:2]
    axes.add_patch(Circle(middle, NEAR, fill=False, ec=INK, linestyle="--"))
    west, south, east, north = ground.borders()
    axes.set_xlim(west - 1.0, east + 1.0)
    axes.set_ylim(south - 1.0, north + 1.0)
    colour_bar(axes, image, "mean SNR of the best beam, dB")
    title = f"Mean SNR of the best beam: {np.nanmin(best):.0f} to {np.nanmax(best):.0f} dB"
    return frame(axes, title, "metres east", "metres north")


def ground_of(scene: Scene) -> Ground:
    """Return the parts of a scene that maps show."""
    boxes = [(*box.lower[:2], *box.upper[:2]) for box in scene.boxes]
    return Ground(AREA, boxes, scene.transmitter.position[:2])


def snr_maps(axes: Axes, results: Results) -> Axes:
    """Held-out SNR of the main methods: at equal target, below at equal mean set size."""
    methods = compared(results.rows)
    panels = {}
    for setting in (shown(results.rows), SAME_SIZE):
        for method in methods:
            evaluation = held_out(results.rows, method)
            name = _name(results, method, setting, evaluation)
            panels[name] = _snr(results, method, setting, evaluation)
    title = f"Red cells at target {shown(results.rows)}: {_red(panels, _scale(results))}"
    return _maps(axes, results, panels, title, _SNR, _scale(results), len(methods))


def risk_maps(axes: Axes, results: Results) -> Axes:
    """Risk of the main methods at one target: online, below averaged and held out."""
    methods = compared(results.rows)
    panels: dict[str, FloatArray] = {}
    for held in (False, True):
        for method in methods:
            evaluation = held_out(results.rows, method) if held else "online"
            name = f"{_held_out_family(results, method)}, held out"
            name = name if held else f"{_family(method)}, online"
            panels[name] = _mean(
                results, method, f"risk {shown(results.rows)} {evaluation}", evaluation
            )
    online = dict(zip(map(_family, methods), panels.values(), strict=False))
    title = f"Deviation of online risk over cells: {_deviations(online)}"
    return _maps(axes, results, panels, title, _RISK, _RISKS, len(methods), "magma_r")


def threshold_maps(axes: Axes, results: Results) -> Axes:
    """The averaged threshold: local, less local, constant; and AutoLARC's last."""
    others = [name for name in all_methods(results.rows) if name in ("ARC", "AutoLARC")]
    panels = {
        held_out_name(results.rows, method): _first_trial(results, method).arrays["threshold"]
        for method in [*_local(results), *others]
    }
    spans = {name: float(np.nanmax(cells) - np.nanmin(cells)) for name, cells in panels.items()}
    title = f"Range of thresholds at target {shown(results.rows)}: {by_method(spans, '.2f')}"
    return _maps(axes, results, panels, title, "threshold (minus a share)", None, 3)


def memory_snr(axes: Axes, results: Results) -> Axes:
    """Held-out SNR by memory."""
    panels = {
        memory_name(method): _snr(results, method, shown(results.rows), "average")
        for method in memory_study(results.rows)
    }
    red = _red(_by_memory(panels), _scale(results))
    title = f"Red cells at target {shown(results.rows)}: {red}"
    return _maps(axes, results, panels, title, _SNR, _scale(results))


def memory_risk(axes: Axes, results: Results) -> Axes:
    """Online risk by memory."""
    panels = {
        memory_name(method): _mean(results, method, f"risk {shown(results.rows)} online", "online")
        for method in memory_study(results.rows)
    }
    title = f"Deviation of online risk over cells: {_deviations(_by_memory(panels))}"
    return _maps(axes, results, panels, title, _RISK, _RISKS, colours="magma_r")


def _red(panels: dict[str, FloatArray], scale: tuple[float, float]) -> str:
    """The share of cells that are weaker than any need be, in words."""
    shares: dict[str, float] = {}
    for name, cells in panels.items():  # of several panels of a method, the first
        red = float((cells[~np.isnan(cells)] < scale[0]).mean())
        shares.setdefault(name.partition(":")[0], red)
    return by_method(shares, ".1%")


def _by_memory(panels: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The panels of a memory study under shorter names, for titles: all but ARC's are of L-ARC."""
    return {name.removeprefix("L-ARC, "): cells for name, cells in panels.items()}


def _deviations(panels: dict[str, FloatArray]) -> str:
    """The standard deviation of the risk over cells, in words."""
    return by_method({name: float(np.nanstd(cells)) for name, cells in panels.items()}, ".2f")


def has_local(results: Results) -> bool:
    """Whether L-ARC was run."""
    return bool(_local(results))


def has_memories(results: Results) -> bool:
    """Whether there are several memories to compare."""
    return len(memory_study(results.rows)) > 2


def _local(results: Results) -> list[str]:
    return [name for name in all_methods(results.rows) if name.startswith("L-ARC")]


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
    """The method with its target and its mean set size, short enough for four in a row."""
    rows = _first_trial(results, method).rows
    row = one(rows, setting=setting, evaluation=evaluation)
    family = _held_out_family(results, method)
    return f"{family}: {row['target']:.2f}, {row['size']:.2f}"


def _family(method: str) -> str:
    """The method without its length scale."""
    return method.split(" l=")[0]


def _held_out_family(results: Results, method: str) -> str:
    """The same, marked where the last threshold stands for an average."""
    return _family(held_out_name(results.rows, method))


def _mean(results: Results, method: str, array: str, evaluation: str) -> FloatArray:
    arrays = _first_trial(results, method).arrays
    return means(arrays[array], arrays[f"users {evaluation}"], _FEW)


def _first_trial(results: Results, method: str) -> Outcome[None]:
    return results.of_method(method)[0]


def _snr(results: Results, method: str, setting: str, evaluation: str) -> FloatArray:
    return _decibels(_mean(results, method, f"snr {setting} {evaluation}", evaluation))


def _decibels(amplitudes: FloatArray) -> FloatArray:
    """Minus infinity where no user is served, NaN where there are no users."""
    with np.errstate(divide="ignore"):
        return np.asarray(20.0 * np.log10(amplitudes))


def _best(results: Results) -> FloatArray:
    """The SNR of the best of all beams."""
    users = results.data.trials[0].calibration
    strongest = DRAWN.sums(users.positions, users.gains.max(axis=1))
    return _decibels(means(strongest, DRAWN.counts(users.positions), _FEW))


def _scale(results: Results) -> tuple[float, float]:
    """From the weakest to the strongest cell, if every user had the best of all beams."""
    best = _best(results)
    return float(np.nanmin(best)), float(np.nanmax(best))


DEPLOYMENT = FigureSpec(
    "deployment",
    "The city: buildings grey, transmitter green, Mondrian's border dashed. Colours are the mean "
    "SNR of the best of all beams, in cells of 5 m; white cells have no users.",
    deployment,
)
FIGURES = (
    FigureSpec(
        "snr-maps",
        "SNR on held-out users with the averaged threshold (AutoLARC: the last), first trial. "
        "Titles have the target and the mean set size. Above, all methods have the target 0.1; "
        "below, all have sets of the same mean size. "
        "Buildings grey, transmitter green. One colour scale, from the weakest to the strongest "
        "cell that all beams together would give; red cells are below it.",
        snr_maps,
        has_any,
    ),
    FigureSpec(
        "risk-maps",
        "Risk at target 0.1, first trial: above online, below averaged (AutoLARC: last) and held "
        "out.",
        risk_maps,
        has_any,
    ),
    FigureSpec(
        "threshold-maps",
        "The averaged threshold, first trial: the higher, the more beams (in the paper, the "
        "lower). Its figure's l, 10, 25 and 50, are our 100, 625 and 2500. ARC has one threshold "
        "for all. AutoLARC has no average: its map is that of the last threshold.",
        threshold_maps,
        has_local,
    ),
    FigureSpec(
        "memory-snr",
        "SNR on held-out users by memory, first trial, target 0.1, averaged threshold. KeepAll is "
        "the paper's L-ARC; colours as above.",
        memory_snr,
        has_memories,
    ),
    FigureSpec(
        "memory-risk",
        "Online risk by memory, first trial, target 0.1.",
        memory_risk,
        has_memories,
    ),
)
