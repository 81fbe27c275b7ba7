"""One run of a gate: its thresholds by topic, and the excess of wrong answers over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.gate import methods
from benchmarks.gate.questions import TOPICS, Questions, simulated
from localarc.figures.frame import frame, legend
from localarc.figures.palette import CATEGORIES, INK

_TARGET = 0.1


def draw(path: Path) -> None:
    """Two panels for the stream with clear over-confidence."""
    questions = simulated(20_000, 0, 2.0)
    made = methods.gated(questions, _TARGET)
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    thresholds(upper, questions, made)
    excess(lower, questions, made)
    figure.savefig(path, dpi=160)


def thresholds(axes: Axes, questions: Questions, made: methods.Decided) -> Axes:
    """The confidence that an answer had to exceed."""
    for topic, name in enumerate(TOPICS):
        rounds = np.flatnonzero(questions.topic == topic)[::5]
        axes.plot(rounds, made.thresholds[rounds], lw=0.9, color=CATEGORIES[topic], label=name)
    axes.axvline(len(questions) // 2, color=INK, lw=0.8, ls=":")
    returns = made.thresholds[questions.topic == TOPICS.index("returns")]
    middle = len(returns) // 2
    title = (
        f"Threshold of returns: {returns[middle - 100 : middle].mean():.2f} before they change "
        f"half-way, {returns[-100:].mean():.2f} at the end"
    )
    frame(axes, title, "", "threshold")
    axes.set_ylim(0.5, 1.02)
    legend(axes)
    return axes


def excess(axes: Axes, questions: Questions, made: methods.Decided) -> Axes:
    """wrong - target x answered - credit x withheld, and the largest that is promised now."""
    charge = np.where(made.answered == 1, questions.wrong - _TARGET, -0.001)
    one = methods.one_threshold_online(questions, _TARGET, rate=0.02)
    charge_of_one = np.where(one.answered == 1, questions.wrong - _TARGET, -0.001)
    for topic, name in enumerate(TOPICS):
        inside = questions.topic == topic
        colour = CATEGORIES[topic]
        axes.plot(np.cumsum(charge * inside), lw=1.1, color=colour, label=f"gate, {name}")
        axes.plot(
            np.cumsum(charge_of_one * inside),
            lw=0.9,
            ls="--",
            color=colour,
            label=f"one threshold, {name}",
        )
    assert made.gate is not None
    promised = max(part.bound for part in made.gate.summary().topics.values())
    axes.axhline(promised, color=INK, lw=0.9)
    end = (len(questions), promised)
    axes.annotate(
        "the largest bound of a topic at the end", end, ha="right", va="bottom", fontsize=8
    )
    axes.axvline(len(questions) // 2, color=INK, lw=0.8, ls=":")
    topics = range(len(TOPICS))
    ours, theirs = (
        max(each[questions.topic == topic].sum() for topic in topics)
        for each in (charge, charge_of_one)
    )
    title = (
        f"Wrong answers beyond target and credit, worst topic: {ours:.0f} with the gate, "
        f"{theirs:.0f} with one threshold"
    )
    frame(axes, title, "round", "answers")
    legend(axes)
    return axes
