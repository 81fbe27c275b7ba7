"""The streams of the paper's four experiments, as their calibrators meet them."""

from __future__ import annotations

import numpy as np

from localarc.streams import Stream


def electricity(rounds: int) -> Stream:
    """The half-hours that calibrate in the paper's split: every second one."""
    from localarc_lab.experiments.electricity import data

    return data.load().take(slice(1, None, 2)).stream()


def polyps(rounds: int) -> Stream:
    """The images that calibrate in the first trial, localized on five components."""
    from localarc_lab.experiments.polyps import model_outputs
    from localarc_lab.experiments.polyps.settings import HEADLINE, calibration_split, coordinates

    outputs = model_outputs.shipped()
    rows, _ = calibration_split(outputs, HEADLINE.pool, seed=0, trial=0)
    X = coordinates(outputs.features, rows)[rows]
    online = outputs.take(rows)
    return Stream("", X, online.curves(HEADLINE.space), tuple(online.groups()))


def fruit(rounds: int) -> Stream:
    """The pictures that calibrate in the first trial, localized on the network's confidence."""
    from localarc_lab.experiments.fruit import measurements, model_outputs

    outputs = model_outputs.shipped()
    online = outputs.take(measurements.calibration_split(outputs, seed=0, trial=0)[0])
    tenths = measurements.deciles(online.confidence, online.confidence)
    groups = tuple(f"decile {number + 1}" for number in tenths)
    curves = online.curves("probability")
    return Stream("", online.confidence[:, None], curves, groups, ("confidence",))


def beams(rounds: int) -> Stream:
    """Users in the city of the first trial, localized on their position."""
    from localarc_lab.experiments.beams import users
    from localarc_lab.experiments.beams.radio import PAPER
    from localarc_lab.experiments.beams.raytracer import city

    numbers = users.Numbers(training=2500, calibration=rounds, test=0)
    drawn = users.draw(city(), PAPER, numbers, np.random.default_rng([0, 0]), "images").calibration
    return Stream("", drawn.positions, drawn.curves(), tuple(drawn.groups()), ("east", "north"))
