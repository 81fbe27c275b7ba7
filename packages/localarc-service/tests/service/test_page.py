"""The page in a real browser, on a real service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_client import Client
from service.browser import PHONE, TIMEOUT
from service.conftest import Start, Visitor
from service.forecaster import Traffic
from service.service_process import Server

from playwright.sync_api import Locator, Page, expect  # isort: skip (playwright may be absent)

pytestmark = pytest.mark.service
expect.set_options(timeout=TIMEOUT)
LOST = ("net::ERR_", "503")  # Chromium's messages while the service is down or starting


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "data") as started:
        yield started


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url) as opened:
        yield opened


@pytest.fixture
def traffic(client: Client) -> Traffic:
    made = Traffic(client, "demand")
    made.create()
    made.rounds(200)
    return made


def chart(page: Page, name: str) -> Locator:
    return page.locator(f"#{name}-chart > svg")


def live(page: Page) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def test_the_overview_lists_the_streams_and_links_to_them(
    server: Server, client: Client, traffic: Traffic, visit: Visitor
) -> None:
    client.create("idle", {"alpha": 0.2})
    watched = visit(server.url)
    page = watched.open()
    live(page)
    expect(page.locator("#streams li")).to_have_count(2)
    expect(page.locator("#streams .name")).to_have_text(["demand", "idle"])
    expect(page.locator("#streams-title")).to_contain_text("2 streams")
    expect(page.locator('[data-key="demand"] .counts')).to_have_text("188 rounds · 12 pending")
    traffic.rounds(10)
    expect(page.locator('[data-key="demand"] .counts')).to_contain_text("198 rounds")
    page.get_by_role("link", name="demand").click()
    expect(page.locator("h1#name")).to_have_text("demand")
    page.get_by_role("link", name="All streams").click()
    expect(page.locator("#streams li")).to_have_count(2)
    assert watched.unexpected() == []


def test_labels_are_shown_in_the_list_and_with_the_stream(
    server: Server, client: Client, visit: Visitor
) -> None:
    client.create("idle", {"alpha": 0.2, "labels": {"team": "pricing", "note": "<b>"}})
    client.create("plain", {"alpha": 0.2})
    watched = visit(server.url)
    page = watched.open()
    counts = page.locator('[data-key="idle"] .counts')
    expect(counts).to_have_text("0 rounds · 0 pending · team: pricing · note: <b>")
    page.get_by_role("link", name="idle").click()
    expect(page.locator("#labels")).to_have_text("team: pricing · note: <b>")
    client.change("idle", labels={})
    expect(page.locator("#events")).to_contain_text("Labels, timeout, default loss or retention")
    watched.open("plain")
    expect(page.locator("#name")).to_have_text("plain")
    expect(page.locator("#labels")).to_be_hidden()
    assert watched.unexpected() == []


def test_events_change_the_numbers_and_the_charts(
    server: Server, client: Client, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    expect(page.locator("#rounds")).to_have_text("188")
    expect(page.locator("#pending")).to_have_text("12")
    for name in ("recent", "risk", "threshold", "size", "feedback"):
        expect(chart(page, name)).to_be_visible()
    page.locator("#map-chart").scroll_into_view_if_needed()
    expect(page.locator("#map-chart .cells rect").first).to_be_visible()
    before = page.locator("#risk-chart path.risk").get_attribute("d")
    traffic.rounds(60)
    summary = server.caller().call("GET", "/v1/streams/demand")[1]
    expect(page.locator("#rounds")).to_have_text("248")
    expect(page.locator("#risk")).to_have_text(f"{summary['risk']:.4f}")
    expect(page.locator("#late")).to_have_text(str(summary["late"]))
    expect(page.locator("#map-note")).to_contain_text("after 248 rounds")
    assert page.locator("#risk-chart path.risk").get_attribute("d") != before
    expect(chart(page, "risk")).to_have_attribute(
        "aria-label",
        re.compile(f"^Running risk after 248 rounds: {summary['risk']:.4f}, target 0.1, bound"),
    )
    assert watched.unexpected() == []


def test_the_page_reports_a_lost_connection_and_resumes(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    server.kill()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    expect(page.locator("#alerts")).to_contain_text("Connection lost.")
    expect(page.locator("#alerts")).to_contain_text(re.compile(r"Showing data from \d\d:\d\d:\d\d"))
    server.start()
    live(page)
    expect(page.locator("#alerts .alert")).to_have_count(0)
    traffic.rounds(20)
    expect(page.locator("#rounds")).to_have_text("208")
    assert watched.unexpected(*LOST) == []


def test_the_overview_resumes_too(server: Server, traffic: Traffic, visit: Visitor) -> None:
    watched = visit(server.url)
    page = watched.open()
    live(page)
    assert server.stop() == 0
    expect(page.locator("#alerts")).to_contain_text("Connection lost.")
    server.start()
    live(page)
    expect(page.locator("#alerts .alert")).to_have_count(0)
    assert watched.unexpected(*LOST) == []


def test_a_failed_consistency_check_is_shown_on_both_views(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    for key in "abcdef":
        service.predict(key)
        service.feedback(key, 1.0)
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    live(page)
    expect(page.locator("#guarantee")).to_have_attribute("data-state", "passed")

    def forget_a_loss(manager: Any) -> None:
        manager.stream("s").calibrator._constant.loss_sum -= 1.0

    service.ask(forget_a_loss)
    service.http.close()  # the connection may have been closed while idle
    service.predict("g")  # rejected, so no event tells the page
    expect(page.locator("#guarantee")).to_have_attribute("data-state", "failed")
    expect(page.locator("#guarantee-text")).to_contain_text("a loss was dropped or applied twice")
    expect(page.locator("#alerts")).to_contain_text("Consistency check failed.")
    page.get_by_role("link", name="All streams").click()
    expect(page.locator("#alerts")).to_contain_text("Do not rely on: s.")
    assert watched.unexpected() == []


def test_on_a_phone_everything_fits_its_width(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url, viewport=PHONE, is_mobile=True, has_touch=True)
    page = watched.open("demand")
    live(page)
    for part in page.locator("header, .tile, .card:visible, figure, .chart, .chart svg").all():
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    chart(page, "recent").tap()
    expect(page.locator("#recent-chart .tooltip")).to_contain_text("rounds")
    assert watched.unexpected() == []


def test_the_colours_follow_the_system(server: Server, traffic: Traffic, visit: Visitor) -> None:
    watched = visit(server.url, color_scheme="dark")
    page = watched.open("demand")
    live(page)
    tick = page.locator("#risk-chart .x-tick").first
    expect(page.locator("body")).to_have_css("background-color", "rgb(18, 20, 24)")
    expect(tick).to_have_css("fill", "rgb(169, 176, 188)")
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(244, 245, 247)")
    expect(tick).to_have_css("fill", "rgb(89, 96, 108)")
    assert watched.unexpected() == []


def test_signing_in_keeps_the_token_out_of_the_address(tmp_path: Path, visit: Visitor) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("read look-but-do-not-touch\nwrite pen-and-paper-and-ink\n")
    with Server(tmp_path / "data", "--token-file", str(tokens)) as server:
        with Client(server.url, token="pen-and-paper-and-ink") as client:
            traffic = Traffic(client, "demand")
            traffic.create()
            traffic.rounds(50)
        watched = visit(server.url)
        page = watched.open("demand")
        expect(page.locator("#sign-in")).to_be_visible()
        page.get_by_label("Token").fill("not-one-of-the-tokens")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#token-rejected")).to_be_visible()
        page.get_by_label("Token").fill("look-but-do-not-touch")
        page.get_by_role("button", name="Sign in").click()
        live(page)
        expect(page.locator("#rounds")).to_have_text("38")
        page.reload()
        live(page)  # the tab keeps it
        assert not [url for url in watched.requests if "look-but" in url]
        assert watched.unexpected("401") == []


def test_any_two_features_can_be_selected_for_the_map(start: Start, visit: Visitor) -> None:
    service = start()
    service.create(kernel={"length_scale": 0.5}, features=3)
    for t in range(20):
        service.predict(f"p{t}", x=[t / 20, (t % 5) / 5, (t % 3) / 3])
        service.feedback(f"p{t}", float(t % 2))
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    page.locator("#map-chart").scroll_into_view_if_needed()
    expect(page.locator("#map-note")).to_contain_text("x[2] = 0.3")
    page.get_by_label("horizontal").select_option("x[2]")
    expect(page.locator("#map-chart .x-title")).to_have_text("x[2]")
    expect(page.locator("#map-note")).to_contain_text("x[0] = 0.475")
    page.get_by_label("vertical").select_option("x[2]")  # the same feature twice: a curve
    expect(page.locator("#map-chart .axis-title")).to_have_text("threshold")
    expect(page.locator("#colour-scale")).to_be_hidden()
    assert watched.unexpected() == []


def test_empty_charts_explain_what_is_missing(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    live(page)
    expect(page.locator("#risk-chart")).to_have_text("Waiting for the first feedback.")
    expect(page.locator("#map-chart")).to_contain_text(
        "Thresholds of this stream do not depend on features"
    )
    service.predict("a")
    service.feedback("a", 1.0)
    expect(page.locator("#rounds")).to_have_text("1")
    expect(page.locator("#size-chart")).to_contain_text("Send scores")
    expect(page.locator("#groups")).to_be_hidden()
    assert watched.unexpected() == []
    page = watched.open("no-such-stream")
    page.reload()
    expect(page.locator("#alerts")).to_contain_text("The request failed.")
    assert watched.unexpected("404") == []


def test_names_are_shown_as_text_not_as_markup(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    hostile = "<a href='//x.y'>x</a>"
    service.predict("a", group=hostile)
    service.feedback("a", 1.0)
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    expect(page.locator("#group-rows th")).to_have_text(hostile)
    page.locator("#group-rows a").click()
    expect(page.locator("#group-selected")).to_contain_text(hostile)
    expect(page.locator("#events")).to_contain_text(hostile)
    expect(page.get_by_role("link", name="x", exact=True)).to_have_count(0)
    assert watched.unexpected() == []


def test_polling_keeps_focus_and_selection(
    server: Server, client: Client, traffic: Traffic, visit: Visitor
) -> None:
    client.create("another", {"alpha": 0.2})
    watched = visit(server.url)
    page = watched.open()
    link = page.get_by_role("link", name="demand")
    link.focus()
    page.evaluate("""() => {
        const name = document.querySelector('[data-key="demand"] .name');
        getSelection().selectAllChildren(name);
        window.before = document.activeElement;
    }""")
    traffic.rounds(10)
    client.create("a-new-one", {"alpha": 0.2})  # sorts before the others
    for _ in range(2):
        with page.expect_response(lambda answer: "/v1/streams?" in answer.url):
            pass
    expect(page.locator("#streams li")).to_have_count(3)
    expect(link).to_contain_text("198 rounds")
    assert page.evaluate("document.activeElement === window.before")
    assert page.evaluate("getSelection().toString()") == "demand"
    assert watched.unexpected() == []


def test_a_card_that_moves_keeps_the_focus(start: Start, visit: Visitor) -> None:
    service = start()
    for name in ("a", "b", "c"):
        service.create(name)
        service.predict("p", name)
        service.feedback("p", 1.0, name)
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open()
    page.locator('[data-key="c"] a').focus()

    def break_stream(manager: Any) -> None:
        manager.stream("c").calibrator._constant.loss_sum -= 1.0

    service.ask(break_stream)
    expect(page.locator("#streams .name")).to_have_text(["c", "a", "b"])
    expect(page.locator('[data-key="c"] a')).to_be_focused()
    assert watched.unexpected() == []


def test_the_overview_loads_no_charts(server: Server, traffic: Traffic, visit: Visitor) -> None:
    watched = visit(server.url)
    page = watched.open()
    live(page)
    assert not [
        url for url in watched.requests if re.search("(chart|plot|svg|scale|history).*js", url)
    ]
    page.get_by_role("link", name="demand").click()
    expect(chart(page, "risk")).to_be_visible()


def test_charts_are_read_with_the_keyboard(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    chart(page, "risk").focus()
    tooltip = page.locator("#risk-chart .tooltip")
    page.keyboard.press("ArrowLeft")
    expect(tooltip).to_contain_text("round 188")
    page.keyboard.press("ArrowLeft")
    expect(tooltip).to_contain_text("round 187")
    page.keyboard.press("Home")
    expect(tooltip).to_contain_text("round 1")
    traffic.rounds(10)
    expect(page.locator("#rounds")).to_have_text("198")
    expect(chart(page, "risk")).to_have_attribute("aria-label", re.compile("after 198 rounds"))
    expect(chart(page, "risk")).to_be_focused()
    page.keyboard.press("End")
    expect(tooltip).to_contain_text("round 198")
    page.keyboard.press("Escape")
    expect(tooltip).to_be_hidden()
    assert watched.unexpected() == []


def test_every_chart_has_a_title_and_states_its_value(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    page.locator("#map-chart").scroll_into_view_if_needed()
    expect(chart(page, "map")).to_be_visible()
    for figure in page.locator("figure").all():
        assert figure.locator("figcaption").inner_text()
        label = figure.get_by_role("img").get_attribute("aria-label")
        assert label is not None
        assert re.search(r"\d", label)
    assert page.get_by_role("img").count() == page.locator("figure").count() == 6


def test_a_map_out_of_view_is_not_read(server: Server, traffic: Traffic, visit: Visitor) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    for _ in range(2):
        with page.expect_response(lambda answer: answer.url.endswith("/history")):
            traffic.rounds(10)
    assert not [url for url in watched.requests if "/map?" in url]
    page.locator("#map-chart").scroll_into_view_if_needed()
    expect(page.locator("#map-note")).to_contain_text("after 208 rounds")


def test_both_views_begin_with_what_is_wrong(start: Start, visit: Visitor) -> None:
    service = start()
    service.create(features=0)
    for t in range(300):
        service.predict(f"p{t}")
        service.feedback(f"p{t}", 1.0)
    summary = service.get()
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    live(page)
    expect(page.locator("#status")).to_have_text("broken")
    expect(page.locator("#why")).to_have_text(summary["health"]["why"])
    expect(page.locator("#headline")).to_have_text("The risk is 1, target 0.1.")
    expect(page.locator("#verdict-text")).to_contain_text("Misses 100 %, target 10 %.")
    expect(page.locator("#warnings li")).to_have_text(summary["warnings"])
    expect(page.locator("#tightest")).to_be_hidden()  # no comfort beside an alarm
    page.get_by_role("link", name="All streams").click()
    expect(page.locator(".why")).to_contain_text("The risk is 1, target 0.1.")
    expect(page.locator(".why")).to_contain_text("Try rate=")
    assert watched.unexpected() == []


def test_a_gate_is_shown_with_its_verdict_and_follows_audits(
    server: Server, client: Client, visit: Visitor
) -> None:
    client.create("mail", {"alpha": 0.1, "method": "gate", "features": 1})
    for t in range(40):
        made = client.predict("mail", x=[t / 40], group=f"topic {t % 2}", confidence=t / 40)
        if made.answer:
            client.feedback("mail", made.id, loss=float(t == 39))
    watched = visit(server.url)
    page = watched.open("mail")
    live(page)
    expect(page.locator("#settings")).to_contain_text("Gate, answer or escalate")
    expect(page.locator("#verdict")).to_contain_text("answers wrong, target 10 %")
    expect(chart(page, "risk")).to_be_visible()
    kept = client.predict("mail", x=[0.5], confidence=0.0)
    client.audit("mail", kept.id, wrong=True)
    sent = client.predict("mail", x=[0.5], confidence=1.0)
    expect(page.locator("#pending")).to_have_text("1" if sent.answer else "0")
    assert watched.unexpected() == []
