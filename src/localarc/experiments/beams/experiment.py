"""The beams experiment, declared: the paper's beam selection, in a city of our own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

import numpy as np

from localarc.calibrators.base import BaseCalibrator
from localarc.experiments.beams import measurements, tables, users
from localarc.experiments.beams.figures import curves, maps
from localarc.experiments.beams.measurements import City
from localarc.experiments.beams.methods import LENGTH_SCALES, recipes
from localarc.experiments.beams.radio import PAPER, RELEASED
from localarc.experiments.beams.raytracer import Engine, Scene, city, urban
from localarc.experiments.beams.users import Numbers
from localarc.experiments.experiment import Drawing, Experiment, Plan

NUMBERS, QUICK_NUMBERS = Numbers(2500, 25_000, 10_000), Numbers(1000, 4000, 2000)
TRIALS, QUICK_TRIALS = 10, 2


def load(plan: Plan) -> City:
    """Every trial's users: drawn, traced, faded and predicted.

    It is done here, once, and not by the tasks, of which many need the same trial.
    """
    scene, radio = scene_of(plan), RELEASED if plan.as_released else PAPER
    numbers = QUICK_NUMBERS if plan.quick else NUMBERS
    engine = cast(Engine, plan.engine or get_args(Engine)[0])
    drawn = (
        users.draw(scene, radio, numbers, np.random.default_rng([plan.seed, int(trial)]), engine)
        for trial in trials(plan)
    )
    return City(scene, tuple(drawn))


def scene_of(plan: Plan) -> Scene:
    """The experiment's city, or a random one: `--dataset urban:SEED`."""
    name = plan.source or "city"
    kind, _, seed = name.partition(":")
    if name == "city":
        return city()
    if kind == "urban" and seed.isdecimal():
        return urban(int(seed))
    raise ValueError(f"--dataset must be city or urban:SEED, e.g. urban:3, got {name!r}.")


def digest(data: City) -> str:
    """SHA-256 of every user's place, gains and predicted shares."""
    found = hashlib.sha256()
    for trial in data.trials:
        for part in (trial.calibration, trial.test):
            for array in (part.places, part.gains, part.shares):
                found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def methods(plan: Plan) -> Mapping[str, Callable[[], BaseCalibrator]]:
    """ARC, Mondrian near and far, L-ARC at each length scale, then the memory study's."""
    return recipes(plan.length_scales or LENGTH_SCALES)


def trials(plan: Plan) -> Sequence[str]:
    """So many redraws of users, channels, fading and initial weights."""
    return [str(k) for k in range(plan.trials or (QUICK_TRIALS if plan.quick else TRIALS))]


BEAMS = Experiment(
    name="beams",
    title="Beam selection: service that is even across the map",
    question=(
        "A transmitter in a city sweeps a set of beams for each user, chosen by the user's "
        "location, and may lose a set share of the signal compared with the best of all beams. "
        "ARC meets that on average. Does L-ARC, localized on the map, also meet it behind "
        "buildings, and with no larger sets?"
    ),
    claim=(
        "ARC, Mondrian ARC and L-ARC all reach the target risk in the long run, and L-ARC does so "
        "with smaller sets. L-ARC gives a satisfactory SNR across the whole area; ARC and Mondrian "
        "ARC serve it unevenly. A smaller length scale lets the threshold vary more over the map. "
        "With a memory of 1000 or 500 terms, L-ARC comes closer to ARC."
    ),
    differs=(
        "The city is our own, in the spirit of the paper's, which is not published as coordinates. "
        "Numbers are comparable in kind, not digit by digit.",
        "Channels come from our own tracer by default: line of sight and up to two specular "
        "reflections. `--engine sionna` takes Sionna RT, with the same scene. Neither here has "
        "diffraction, so that users in deep shadow have no path: they are left out, as in the "
        "released code.",
        "The codebook is the full DFT with phases 2 pi i n / 11, normalised; the printed formula "
        "has 2 pi twice in one entry. The released code's phases go from -pi/2 to pi/2, and it "
        "does not normalise: `--as-released`.",
        "Fading is complex Gaussian with standard deviation 1e-4 in each part, added to each "
        "antenna's channel, so that its modulus is Rayleigh. The released code adds a Rayleigh "
        "variable to the modulus of each beam's gain: `--as-released`.",
        "SNR is an amplitude, |h^T b|, as in the paper; tables and maps show it in dB.",
        "l is the paper's in exp(-d^2 / l). The released code divides by l^2: the paper's 10, 25 "
        "and 50 are our 100, 625 and 2500.",
        "The paper's three SNR maps are of three different targets, chosen for like set sizes. "
        "Here one row has equal targets and one has equal mean set sizes.",
        "Held-out values are those of the time-averaged threshold for every method, with the last "
        "threshold beside them. The released code compares ARC's last threshold with L-ARC's "
        "average.",
        "T is 25,000 as in the text; the released code has 20,000. Errors are standard errors over "
        "10 trials that redraw users, channels, fading and initial weights, in one city.",
    ),
    load=load,
    digest=digest,
    methods=methods,
    trials=trials,
    perform=measurements.perform,
    tabulate=measurements.tabulate,
    findings=tables.findings,
    tables=tables.TABLES,
    sources=("dataset",),
    engines=get_args(Engine),
    has_released=True,
    drawings=(
        Drawing(
            "deployment",
            "The city: buildings grey, transmitter green, Mondrian's border dashed. Colours are "
            "the mean SNR of the best of all beams, in cells of 5 m; white cells have no users.",
            maps.deployment,
        ),
        Drawing(
            "running-risk",
            "Long-run risk at target 0.1: mean and standard error over trials.",
            curves.running_risk,
            curves.has_any,
        ),
        Drawing(
            "set-size",
            "Beams in the online sets at every target, where all methods have the same risk: mean "
            "and standard error over trials.",
            curves.set_size,
            curves.has_any,
        ),
        Drawing(
            "relative-size",
            "The same as a share of ARC's: mean and standard error over trials. Below 1, sets are "
            "smaller than ARC's at the same risk.",
            curves.relative_size,
            curves.has_arc,
        ),
        Drawing(
            "evenness",
            "Standard deviation of the online risk over cells of 10 m with at least 10 users, at "
            "every target: mean and standard error over trials.",
            curves.evenness,
            curves.has_any,
        ),
        Drawing(
            "snr-maps",
            "SNR on held-out users with the averaged threshold, first trial. Above all methods "
            "have the target 0.1, below all have sets of the same mean size. Buildings grey, "
            "transmitter green. One colour scale, from the weakest to the strongest cell that all "
            "beams together would give; red cells are below it.",
            maps.snr_maps,
            curves.has_any,
        ),
        Drawing(
            "risk-maps",
            "Risk at target 0.1, first trial: above online, below averaged and held out.",
            maps.risk_maps,
            curves.has_any,
        ),
        Drawing(
            "threshold-maps",
            "The averaged threshold, first trial: the higher, the more beams (in the paper, the "
            "lower). Its figure's l, 10, 25 and 50, are our 100, 625 and 2500. ARC has one "
            "threshold for all.",
            maps.threshold_maps,
            maps.has_local,
        ),
        Drawing(
            "memory-snr",
            "SNR on held-out users by memory, first trial, target 0.1, averaged threshold. KeepAll "
            "is the paper's L-ARC; colours as above.",
            maps.memory_snr,
            maps.has_memories,
        ),
        Drawing(
            "memory-risk",
            "Online risk by memory, first trial, target 0.1.",
            maps.memory_risk,
            maps.has_memories,
        ),
    ),
)
