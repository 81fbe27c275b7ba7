"""Each figure draws what it is given, on the axes it is given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localarc import ARC, LARC, RBF, KeepLast, Mondrian, Record, figures, measures, replay
from localarc.figures.palette import FAINT, METHODS, PACKAGES, colours
from localarc.figures.svg import svg
from localarc.streams.synthetic import heteroscedastic

STREAM = heteroscedastic(600, seed=0)
KERNEL = RBF.from_paper(0.3)
CALIBRATORS = {
    "ARC": ARC(0.1),
    "L-ARC": LARC(0.1, KERNEL),
    "Mondrian": Mondrian(lambda: ARC(0.1)),
}
RECORDS = {
    name: replay(each, STREAM.X, STREAM.curves, STREAM.groups) for name, each in CALIBRATORS.items()
}
ManyRecords = Callable[[Axes, dict[str, Record]], Axes]
OF_RECORDS: list[ManyRecords] = [
    figures.running_risk,
    figures.group_risk,
    figures.group_size,
    figures.threshold_over_time,
]


def axes() -> Axes:
    return Figure(layout="constrained").subplots()


def drawn(on: Axes) -> Axes:
    on.figure.savefig("/dev/null", format="png")  # type: ignore[union-attr]
    return on


@pytest.mark.parametrize("figure", OF_RECORDS)
def test_a_figure_returns_its_axes_with_a_title_and_a_legend(figure: ManyRecords) -> None:
    on = axes()
    assert drawn(figure(on, RECORDS)) is on
    assert on.get_title(loc="left")
    assert on.get_ylabel()
    legend = on.get_legend()
    assert legend is not None
    assert set(RECORDS) <= {text.get_text() for text in legend.get_texts()}


@pytest.mark.parametrize(
    ("figure", "rounds"), [(figure, rounds) for figure in OF_RECORDS for rounds in (1, 5)]
)
def test_short_streams_can_be_drawn(figure: ManyRecords, rounds: int) -> None:
    part, unknown = RECORDS["ARC"], np.full(rounds, np.nan)
    short = Record(part.thresholds[:rounds], part.losses[:rounds], unknown, None, 0.1, "ARC")
    drawn(figure(axes(), {"ARC": short}))


def test_titles_state_what_was_found() -> None:
    risk = {name: record.risk for name, record in RECORDS.items()}
    title = figures.running_risk(axes(), RECORDS).get_title(loc="left").replace("\n", " ")
    listed = ", ".join(f"{name} {value:.3f}" for name, value in risk.items())
    assert title == f"Mean loss after 600 rounds: {listed} (target 0.1)"
    rows = measures.group_risk(RECORDS["ARC"].losses, STREAM.groups or ())
    worst = max(row.risk for row in rows)
    title = figures.group_risk(axes(), {"ARC": RECORDS["ARC"]}).get_title(loc="left")
    assert title == f"Highest risk of a group: ARC {worst:.3f}"
    title = figures.group_size(axes(), {"ARC": RECORDS["ARC"]}).get_title(loc="left")
    assert title == f"Mean set size: ARC {RECORDS['ARC'].sizes.mean():.3g}"


def test_a_long_title_is_wrapped_to_the_width_of_its_panel() -> None:
    left, _ = Figure(figsize=(9.0, 3.4), layout="constrained").subplots(1, 2)
    lines = figures.running_risk(left, RECORDS).get_title(loc="left").splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 45


def test_settling_is_the_round_from_which_the_mean_loss_stays_near_the_target() -> None:
    means = {"ARC": [1.0, 0.1, 0.3, 0.11, 0.1], "AutoLARC": [0.1] * 5, "Mondrian": [0.5] * 5}
    on = drawn(figures.settling(axes(), means, 0.1, 0.05, "user"))
    dots = [line for line in on.get_lines() if line.get_marker() == "o"]
    assert [np.asarray(dot.get_xdata()).item() for dot in dots] == [4, 1, 6]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, False, True]
    assert "2 of 3" in on.get_title(loc="left")


def test_the_running_risk_ends_at_the_risk() -> None:
    on = figures.running_risk(axes(), {"ARC": RECORDS["ARC"]})
    line = next(each for each in on.get_lines() if each.get_label() == "ARC")
    assert np.asarray(line.get_ydata())[-1] == pytest.approx(RECORDS["ARC"].risk)


@pytest.mark.parametrize("name", list(CALIBRATORS))
def test_the_bound_over_time_ends_at_the_bound_of_the_certificate(name: str) -> None:
    band = figures.bound_over_time(CALIBRATORS[name], RECORDS[name], figures.shown_rounds(600))
    bound = CALIBRATORS[name].certificate(evidence=RECORDS[name].evidence).bound
    assert band[-1] == pytest.approx(bound.value)
    assert (np.diff(band[10:]) <= 1e-9).all() or name == "Mondrian"


def test_the_bound_after_fewer_rounds_is_the_one_of_a_certificate_at_that_time() -> None:
    calibrator = LARC(0.1, KERNEL, memory=KeepLast(20), score_range=(0.0, 20.0))
    longer = replay(calibrator, STREAM.X, STREAM.curves)
    band = figures.bound_over_time(calibrator, longer, np.array([100]))
    again = LARC(0.1, KERNEL, memory=KeepLast(20), score_range=(0.0, 20.0))
    record = replay(again, STREAM.X[:100], STREAM.curves.take(slice(0, 100)))
    assert band[0] == pytest.approx(again.certificate(evidence=record.evidence).bound.value)


def test_groups_are_ordered_by_risk_and_the_worst_are_shown() -> None:
    losses = np.repeat(np.arange(30) / 30, 2)
    groups = tuple(f"a group with a long name {i // 2}" for i in range(60))
    record = Record(losses, losses, losses, groups, 0.1, "ARC")
    on = drawn(figures.group_risk(axes(), {"ARC": record}))
    heights = [patch.get_height() for patch in on.patches]  # type: ignore[attr-defined]
    assert heights == sorted(heights)
    assert heights[-1] == pytest.approx(29 / 30)
    assert "18 groups with lower risk omitted" in on.get_title(loc="left").replace("\n", " ")


def test_dollar_signs_in_names_are_not_parsed_as_mathematics() -> None:
    groups = tuple("$\\frac$" if t % 2 else "$x" for t in range(len(STREAM)))
    part = RECORDS["ARC"]
    record = Record(part.thresholds, part.losses, part.sizes, groups, 0.1, "ARC")
    on = drawn(figures.group_risk(axes(), {"$a$": record}))
    assert r": \$a\$ 0." in on.get_title(loc="left")
    drawn(figures.threshold_map(axes(), STREAM.X, part.thresholds, ["$x", "$\\frac$"], "$m$"))


def test_the_threshold_map_covers_two_features_or_one() -> None:
    thresholds = RECORDS["L-ARC"].thresholds
    drawn(figures.threshold_map(axes(), STREAM.X, thresholds, ["left", "right"]))
    three = np.column_stack([STREAM.X, STREAM.X[:, 0]])
    on = drawn(figures.threshold_map(axes(), three, thresholds))
    assert (on.get_xlabel(), on.get_ylabel()) == ("x1", "x2")
    on = drawn(figures.threshold_map(axes(), STREAM.X[:, :1], thresholds, ["left"]))
    assert on.get_ylabel() == "threshold"


@pytest.mark.parametrize("dimension", [1, 2])
def test_worst_neighbourhoods_are_marked(dimension: int) -> None:
    X = STREAM.X[:, :dimension]
    worst = measures.worst_neighbourhoods(X, RECORDS["ARC"].losses, KERNEL, 3)
    on = drawn(figures.neighbourhoods(axes(), X, worst, 0.1, ["left", "right"][:dimension], "ARC"))
    assert on.get_title(loc="left").startswith("ARC: risk ")
    if dimension == 2:
        assert f"1: {worst[0].risk:.3f}" in " ".join(text.get_text() for text in on.texts)


def test_a_colour_means_the_same_method_in_every_figure() -> None:
    assert colours(["ARC"])["ARC"] == colours(["mine", "L-ARC", "ARC"])["ARC"] == METHODS["ARC"]
    assert colours(["AutoLARC (last)"]) == {"AutoLARC (last)": METHODS["AutoLARC"]}
    assert colours(["localarc"]) == {"localarc": METHODS["AutoLARC"]}


def test_a_package_has_its_colour_whoever_is_named_before_it() -> None:
    before = [f"method {i}" for i in range(5)]
    for name in ("MAPIE ACI", "crepes online", "river"):
        assert colours([*before, name])[name] == PACKAGES[name.split()[0]]


def test_no_colour_means_two_methods_of_a_figure() -> None:
    known, others = list(METHODS), [f"method {i}" for i in range(20)]
    many = colours([*others, *known])
    assert {many[name] for name in others} == {FAINT}
    assert {name: many[name] for name in known} == METHODS
    few = colours([*others[:5], *known])
    assert len(set(few.values())) == len(few)


def test_two_names_of_one_method_have_two_colours_in_one_figure() -> None:
    both = colours(["AutoLARC", "AutoLARC (last)"])
    assert both["AutoLARC"] == METHODS["AutoLARC"] != both["AutoLARC (last)"]
    assert colours(["mine"])["mine"] == colours(["ARC", "mine"])["mine"]
    assert len({colours([name])[name] for name in ("AutoLARC", "L-ARC", "ARC", "Mondrian")}) == 4
    many = colours(["ARC", "a", "b", "c", "d", "e"])
    assert len(set(many.values())) == len(many)
    assert len(colours([str(i) for i in range(20)])) == 20


def test_the_same_figure_gives_the_same_svg_without_external_references() -> None:
    def draw(on: Axes) -> Axes:
        return figures.running_risk(on, RECORDS)

    text = svg(draw, "risk", 'a "quoted" <name>', (5.0, 3.0))
    assert text == svg(draw, "risk", 'a "quoted" <name>', (5.0, 3.0))
    assert text.startswith("<svg viewBox=")
    assert text.endswith("</svg>")
    assert "http" not in text.replace("http://www.w3.org/", "")
    assert 'aria-label="a &quot;quoted&quot; &lt;name&gt;"' in text


def test_importing_figures_does_not_import_matplotlib() -> None:
    code = (
        "import localarc.figures, localarc.reporting.html, sys; print('matplotlib' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
