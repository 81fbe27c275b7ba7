"""The polyp experiment, declared: the paper's section 4.2 and its memory study, on our network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.experiment import Drawing, Experiment, Plan
from localarc.experiments.polyps import (
    cache,
    examples,
    figures,
    measurements,
    model_outputs,
    tables,
)
from localarc.experiments.polyps.model_outputs import Outputs
from localarc.experiments.polyps.settings import HEADLINE, ON_ALL, ON_UNSEEN, Recipe, trial_name
from localarc.experiments.polyps.tables import MEMORY_SCALE
from localarc.memory import Dictionary, KeepLast

LENGTH_SCALES = 4.0, 1.0, 0.25
TRIALS, QUICK_TRIALS = 10, 2
WINDOWS = 500, 1000, 1500
TOLERANCES = 0.001, 0.01, 0.1


def load(plan: Plan) -> Outputs:
    """The shipped outputs, or those of images, or those of a cache like the authors'."""
    if plan.source is None:
        return model_outputs.shipped()
    if plan.source_kind == "cache":
        return cache.read(Path(plan.source))
    return examples.recompute(Path(plan.source), plan.seed)


def digest(data: Outputs) -> str:
    """SHA-256 of curves, features and sources."""
    return data.digest()


def methods(plan: Plan) -> Mapping[str, Callable[[], BaseCalibrator]]:
    """ARC, L-ARC at each length scale, Mondrian by source, then the memory study's."""
    scales = plan.length_scales or LENGTH_SCALES
    local = {f"L-ARC l={scale:g}": Recipe(scale) for scale in scales}
    windows = {f"KeepLast({m})": Recipe(MEMORY_SCALE, KeepLast(m)) for m in WINDOWS}
    atoms = {f"Dictionary({e:g})": Recipe(MEMORY_SCALE, Dictionary(e)) for e in TOLERANCES}
    return {"ARC": Recipe(), **local, "Mondrian": Recipe(by_source=True), **windows, **atoms}


def trials(plan: Plan) -> Sequence[str]:
    """Every setting, so many times; a cache does not say which images were trained on."""
    settings = [HEADLINE, ON_UNSEEN[0]] if plan.quick else [*ON_ALL, *ON_UNSEEN]
    if plan.source_kind == "cache":
        settings = [setting for setting in settings if setting.pool == "all"]
    number = plan.trials or (QUICK_TRIALS if plan.quick else TRIALS)
    return [trial_name(setting, trial) for setting in settings for trial in range(number)]


POLYPS = Experiment(
    name="polyps",
    title="Polyp segmentation: masks that hold for every source of images",
    question=(
        "A network marks polyps in images from five collections, and at most a tenth of the true "
        "pixels may be missed. ARC meets that on average. Does L-ARC, localized on the network's "
        "own features, also meet it for the hardest collection?"
    ),
    claim=(
        "All methods reach a long-run FNR of 0.1. On held-out images ARC's FNR exceeds 0.1 and "
        "runs from 0.08 (CVC-300) to 0.32 (ETIS-LaribPolypDB). L-ARC evens it out and comes closer "
        "to the target, with larger masks for the hardest collection and similar ones elsewhere. "
        "A memory of the latest 1500 terms changes little; with 500, L-ARC is close to ARC."
    ),
    differs=(
        "The network is our own, a small U-Net; the authors' PraNet weights and outputs cannot be "
        "had. Numbers are comparable in kind, not digit by digit.",
        "The pool has 2,248 images; the paper's 2,348 hold 100 Kvasir images twice.",
        "All 60 images of CVC-300 are also in CVC-ColonDB, which holds some of its own twice. In "
        "the paper's protocol most held-out images of CVC-300 therefore calibrate as CVC-ColonDB; "
        "on unseen images, a copy of a held-out image does not calibrate.",
        "Two collections were trained on: 1,450 of the 1,612 images of Kvasir and CVC-ClinicDB. So "
        "there is a second protocol on the 798 images that the network never saw.",
        "Calibration is mostly Kvasir and CVC-ClinicDB while the test is balanced over sources: "
        "that is why ARC's held-out FNR exceeds the target.",
        "eta_t = 1 / sqrt(t), as the authors' logs have it, is in front; the text's 0.1 / sqrt(t) "
        "was run too. Scores are minus probabilities, as in the figures; minus logits were run "
        "too.",
        "PCA and min-max scaling are fitted on calibration images; the released code fits them on "
        "all.",
        "l is the paper's: the kernel is exp(-d^2 / l). The released code divides by l^2, so that "
        "its 2, 1 and 0.5 are our 4, 1 and 0.25.",
        "Held-out values are those of the time-averaged threshold for every method, with the last "
        "threshold in a table of its own. The released code compares ARC's last threshold with "
        "L-ARC's average.",
        "Errors are standard errors over trials. Mondrian knows each image's source, L-ARC does "
        "not.",
        "The memory study is at l = 0.25, where there is a localization to lose.",
    ),
    load=load,
    digest=digest,
    methods=methods,
    trials=trials,
    perform=measurements.perform,
    tabulate=measurements.tabulate,
    findings=tables.findings,
    tables=tables.TABLES,
    sources=("images", "cache"),
    drawings=(
        Drawing(
            "running-fnr",
            "Long-run FNR, the paper's left panel: mean over trials. l is the paper's; the "
            "released code's 2, 1, 0.5 are l = 4, 1, 0.25.",
            figures.running_fnr,
        ),
        Drawing(
            "fnr-by-source",
            "Held-out FNR of the averaged threshold, the paper's middle panel: mean and standard "
            "error over trials.",
            figures.fnr_by_source,
        ),
        Drawing(
            "size-by-source",
            "Share of the image that the masks cover, the paper's right panel: mean and standard "
            "error over trials.",
            figures.size_by_source,
        ),
        Drawing(
            "memory",
            "The memory study at l = 0.25: mean and standard error over trials.",
            figures.memory_study,
        ),
        Drawing(
            "fnr-on-unseen",
            "Held-out FNR where calibration and test see only images that the network was not "
            "trained on: mean and standard error over trials.",
            figures.fnr_on_unseen,
            figures.has_unseen,
        ),
        Drawing(
            "examples",
            "A held-out image of each source: the true outline in white, and the masks of the "
            "averaged thresholds.",
            examples.page,
            examples.has_any,
        ),
    ),
)
