"""The report: one page without external resources, with all text from the data escaped."""

from __future__ import annotations

import dataclasses
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from localarc import (
    ARC,
    LARC,
    RBF,
    AssumptionWarning,
    AutoLARC,
    Mondrian,
    PromiseWarning,
    replay,
)
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import miscoverage
from localarc.measures import localized_risk
from localarc.measures.neighbourhoods import spread_centres
from localarc.reporting import Run, assess, summary, write_report
from localarc.reporting.html import sections
from localarc.reporting.neighbourhood import default_kernel
from localarc.streams import Stream
from localarc.streams.synthetic import heteroscedastic

VOID = {"meta", "br", "hr", "img", "input", "link"}
SECTIONS = [
    "Summary",
    "Running risk",
    "Guarantees",
    "Groups",
    "Thresholds",
    "Worst neighbourhoods",
]


class Page(HTMLParser):
    """The tags, references and text of a page, with every tag closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} has a script in {name}"
            if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def report(path: Path, stream: Stream, runs: list[Run]) -> tuple[str, Page]:
    write_report(path, stream, runs)
    text = path.read_text(encoding="utf-8")
    assert list(path.parent.iterdir()) == [path]
    return text, Page(text)


def run(name: str, calibrator: BaseCalibrator, stream: Stream) -> Run:
    record = replay(calibrator, stream.X, stream.curves, stream.groups)
    return Run(name, calibrator, record)


@pytest.fixture(scope="module")
def stream() -> Stream:
    return heteroscedastic(800, seed=0)


@pytest.mark.slow
def test_the_page_makes_no_external_request(tmp_path: Path, stream: Stream) -> None:
    runs = [run("L-ARC", LARC(0.1, RBF.from_paper(0.3)), stream), run("ARC", ARC(0.1), stream)]
    text, page = report(tmp_path / "report.html", stream, runs)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert all(each.startswith(("#", "data:image/png;base64,")) for each in page.references)
    assert all(each.startswith("#") for each in re.findall(r"url\(([^)]*)\)", text))
    assert "@import" not in text
    assert "http-equiv" not in text


def test_references_inside_the_page_find_their_target(tmp_path: Path, stream: Stream) -> None:
    text, page = report(tmp_path / "r.html", stream, [run("ARC", ARC(0.1), stream)])
    wanted = {each[1:] for each in page.references if each.startswith("#")}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", text))
    assert wanted <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.slow
def test_the_page_has_every_section_and_the_results(tmp_path: Path, stream: Stream) -> None:
    runs = [run("L-ARC", LARC(0.1, RBF.from_paper(0.3)), stream), run("ARC", ARC(0.1), stream)]
    _, page = report(tmp_path / "report.html", stream, runs)
    for section in SECTIONS:
        assert section in page.text
    for words in ("easy", "hard", "theorem A", "theorem B", "losses in [0, B]", "x1 =", "800"):
        assert words in page.text
    assert f"{runs[0].record.risk:.4f}" in page.text
    assert "No score range was stated" in page.text
    assert page.tags.count("svg") == 7


def test_assumptions_that_fail_are_named(tmp_path: Path) -> None:
    stream = heteroscedastic(200, seed=1)
    calibrator = LARC(0.1, RBF.from_paper(0.3), score_range=(0.0, 0.5))
    with pytest.warns(AssumptionWarning, match="a full set cost more than alpha"):
        played = run("L-ARC", calibrator, stream)
    _, page = report(tmp_path / "report.html", stream, [played])
    assert "no guarantee" in page.text
    assert "leave the stated score_range" in page.text
    assert "No bound holds" in page.text


@pytest.mark.slow
def test_mondrian_has_a_bound_per_group(tmp_path: Path, stream: Stream) -> None:
    calibrator = Mondrian(lambda: ARC(0.1))
    _, page = report(tmp_path / "report.html", stream, [run("Mondrian", calibrator, stream)])
    assert "bound of the group" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("promise", ["both", "at most"])
def test_autolarc_has_every_section_and_a_bound_per_group(
    tmp_path: Path, stream: Stream, promise: str
) -> None:
    played = run("AutoLARC", AutoLARC(0.1, promise=promise), stream)
    _, page = report(tmp_path / "report.html", stream, [played, run("ARC", ARC(0.1), stream)])
    assert all(section in page.text for section in SECTIONS)
    for words in ("theorem E, above", "bound of the group", "For future rounds, theorem E assumes"):
        assert words in page.text
    verdict = assess(stream, played).verdict.text.rstrip(".")
    assert page.text.index(verdict) < page.text.index("Summary")
    assert page.tags.count("svg") == 7
    certificate = played.calibrator.certificate()
    sign = "±" if promise == "both" else "+"
    assert f"{sign}{certificate.bound.value:.4g}" in page.text


@pytest.mark.slow
def test_the_worst_places_of_autolarc_have_their_bounds(tmp_path: Path) -> None:
    stream = heteroscedastic(3000, seed=0)
    played = run("AutoLARC", AutoLARC(0.1), stream)
    _, page = report(tmp_path / "report.html", stream, [played])
    assert isinstance(played.calibrator, AutoLARC)
    worst = played.calibrator.places(1, 200.0)[0]
    assert "Places with at least 200 rounds, those with the highest risk:" in page.text
    assert f"at most {worst.alpha + worst.above.value:.4g}" in page.text


@pytest.mark.slow
def test_a_full_table_is_reported(tmp_path: Path, stream: Stream) -> None:
    small = run("AutoLARC", AutoLARC(0.1, max_bytes=60_000), stream)
    notes = small.calibrator.certificate().notes
    assert notes
    _, page = report(tmp_path / "report.html", stream, [small])
    assert all(note.capitalize() in page.text for note in notes)


def test_a_stream_without_features_has_a_report(tmp_path: Path, stream: Stream) -> None:
    bare = Stream("bare", np.empty((len(stream), 0)), stream.curves, stream.groups)
    _, page = report(tmp_path / "report.html", bare, [run("AutoLARC", AutoLARC(0.1), bare)])
    assert "AutoLARC, 800 rounds and no feature." in page.text
    assert "depends on the group: it lies between" in page.text
    assert "The stream has no features, hence no neighbourhoods." in page.text


def test_overlapping_groups_have_a_report(tmp_path: Path, stream: Stream) -> None:
    both = tuple([group, "all"] for group in stream.groups or ())
    several = Stream("several", stream.X, stream.curves, both)  # type: ignore[arg-type]
    _, page = report(tmp_path / "report.html", several, [run("AutoLARC", AutoLARC(0.1), several)])
    assert {row.group for row in assess(several, run("ARC", ARC(0.1), several)).groups} == {
        *("easy", "middle", "hard", "all")
    }
    assert "bound of the group" in page.text


def test_neighbourhoods_without_a_kernel_do_not_depend_on_units(stream: Stream) -> None:
    scaled = Stream("scaled", stream.X * [1e3, 1e-3], stream.curves)
    for kernel, X in (
        (default_kernel(stream, []), stream.X),
        (default_kernel(scaled, []), scaled.X),
    ):
        assert kernel is not None
        weights = kernel.matrix(X, X)
        shares = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1) / len(X)
        assert 0.07 < np.median(shares) < 0.14


def test_a_verdict_names_the_highest_of_all_places_that_were_looked_at() -> None:
    stream = heteroscedastic(3000, seed=1)
    played, kernel = run("AutoLARC", AutoLARC(0.1), stream), default_kernel(stream, [])
    assert kernel is not None
    centres = stream.X[spread_centres(stream.X, 512)]
    local = localized_risk(stream.X, played.record.losses, kernel, centres)
    seen = local.risks[local.counts >= 100]
    found = assess(stream, played, kernel)
    assert found.verdict.state == "kept"
    assert found.verdict.text.endswith(
        f"worst of its {len(seen)} places with 100 rounds or more: {100 * seen.max():.3g} %."
    )


def test_names_from_the_data_are_escaped(tmp_path: Path) -> None:
    evil = '</svg><script>alert("1")</script>&amp;'
    base = heteroscedastic(120, seed=0)
    groups = tuple(f"{evil} 日本 {t % 2}" for t in range(120))
    stream = Stream(evil, base.X, base.curves, groups, (evil, "-->"))
    text, page = report(tmp_path / "report.html", stream, [run(evil, ARC(0.1), stream)])
    assert "script" not in page.tags
    assert "<script" not in text
    assert evil in page.text


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "dimension"), [(1, 3), (3, 1), (40, 3), (40, 1)])
def test_short_streams_have_a_report(tmp_path: Path, rounds: int, dimension: int) -> None:
    X = np.random.default_rng(0).uniform(size=(rounds, dimension))
    stream = Stream("small", X, miscoverage(np.linspace(0, 1, rounds)))
    _, page = report(
        tmp_path / "report.html", stream, [run("L-ARC", LARC(0.1, RBF.from_paper(0.01)), stream)]
    )
    assert "The stream has no groups" in page.text
    assert "No neighbourhood has enough rounds" in page.text or rounds == 40


def test_an_old_report_survives_a_failed_one(tmp_path: Path, stream: Stream) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(IndexError):
        write_report(path, stream, [])
    assert path.read_text() == "old"


def test_a_report_begins_with_the_verdict_then_the_tightest_bound(tmp_path: Path) -> None:
    stream, cal = heteroscedastic(3000, seed=0), ARC(alpha=0.1)
    run = Run("ARC", cal, replay(cal, stream.X, stream.curves, stream.groups))
    assessment = assess(stream, run, RBF(0.4))
    write_report(tmp_path / "report.html", stream, [run], RBF(0.4))
    page = html.unescape((tmp_path / "report.html").read_text())
    assert assessment.verdict.text.startswith("Group hard misses")
    tightest = assessment.certificate.tightest
    assert tightest is not None
    places = [
        page.index(text)
        for text in ("<h1>", assessment.verdict.text, f"({tightest.name})", "<h2>Summary")
    ]
    assert places == sorted(places)


def test_a_report_and_its_summary_show_the_warnings_of_a_run(tmp_path: Path) -> None:
    stream, cal = heteroscedastic(3000, seed=0), ARC(alpha=0.1, rate=0.01)
    with pytest.warns(PromiseWarning, match=r"rate=0.01 is small .* Try rate="):
        record = replay(cal, stream.X, stream.curves, stream.groups)
    run = Run("ARC", cal, record)
    write_report(tmp_path / "report.html", stream, [run])
    assert record.warnings[0] in html.unescape((tmp_path / "report.html").read_text())
    method = summary(stream, [assess(stream, run)])["methods"][0]
    assert method["warnings"] == list(record.warnings)
    assert method["verdict"]["state"] == "not kept"


def test_a_bound_that_the_risk_has_passed_is_not_drawn() -> None:
    stream, cal = heteroscedastic(3000, seed=0), ARC(alpha=0.1, score_range=(0.0, 20.0))
    record = replay(cal, stream.X, stream.curves)
    run = Run("ARC", cal, record)
    assert np.isfinite(sections._band(run)).all()
    missed = dataclasses.replace(record, losses=np.ones(len(record)))
    assert np.isinf(sections._band(dataclasses.replace(run, record=missed))).all()
