"""The page in a real browser, on a real service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc.client import Client
from service.conftest import Start
from service.running import Server
from service.traffic import Traffic
from service.watching import PATIENCE, PHONE, Visit, chromium

from playwright.sync_api import Browser, Page, expect  # isort: skip (after its absence was told)

pytestmark = pytest.mark.service
expect.set_options(timeout=PATIENCE)
LOST = ("net::ERR_", "503")  # what Chromium notes when nobody answers, or not yet
Visitor = Callable[..., Visit]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """Opens visits, of which none may reach beyond the service."""
    made: list[Visit] = []

    def begin(url: str, **context: Any) -> Visit:
        made.append(Visit(browser, url, **context))
        return made[-1]

    yield begin
    for each in made:
        assert each.strangers() == []
        each.close()


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


def live(page: Page) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def test_the_streams_are_shown_and_lead_to_theirs(
    server: Server, client: Client, traffic: Traffic, visit: Visitor
) -> None:
    client.create("idle", {"alpha": 0.2})
    watched = visit(server.url)
    page = watched.open()
    live(page)
    expect(page.locator("#streams li")).to_have_count(2)
    expect(page.locator("#streams .name")).to_have_text(["demand", "idle"])
    expect(page.locator("#overview-words")).to_contain_text("2 in all, 188 rounds learnt")
    traffic.rounds(10)
    expect(page.locator("#overview-words")).to_contain_text("2 in all, 198 rounds learnt")
    page.get_by_role("link", name="demand").click()
    expect(page.locator("h1#name")).to_have_text("demand")
    page.get_by_role("link", name="All streams").click()
    expect(page.locator("#streams li")).to_have_count(2)
    assert watched.unexpected() == []


def test_the_page_goes_live_and_its_numbers_move(
    server: Server, client: Client, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    expect(page.locator("#rounds")).to_have_text("188")
    expect(page.locator("#pending")).to_have_text("12")
    for figure in ("risk", "threshold", "size", "feedback", "group"):
        expect(page.locator(f"#{figure}-chart .main-svg").first).to_be_visible()
    expect(page.locator("#map-chart .heatmaplayer image")).to_be_visible()
    before = page.locator("#risk-chart .scatterlayer").inner_html()
    traffic.rounds(60)
    summary = client.summary("demand")
    expect(page.locator("#rounds")).to_have_text("248")
    expect(page.locator("#risk")).to_have_text(f"{summary.risk:.4f}")
    expect(page.locator("#late")).to_have_text(str(summary.late))
    expect(page.locator("#map-words")).to_contain_text("after 248 rounds")
    assert page.locator("#risk-chart .scatterlayer").inner_html() != before
    assert watched.unexpected() == []


def test_the_page_says_that_the_connection_broke_and_takes_it_up_again(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url)
    page = watched.open("demand")
    live(page)
    server.kill()
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    expect(page.locator("#alarms")).to_contain_text("Connection lost.")
    server.start()
    live(page)
    expect(page.locator("#alarms .alarm")).to_have_count(0)
    traffic.rounds(20)
    expect(page.locator("#rounds")).to_have_text("208")
    assert watched.unexpected(*LOST) == []


def test_the_overview_comes_back_too(server: Server, traffic: Traffic, visit: Visitor) -> None:
    watched = visit(server.url)
    page = watched.open()
    live(page)
    assert server.stop() == 0
    expect(page.locator("#alarms")).to_contain_text("Connection lost.")
    server.start()
    live(page)
    expect(page.locator("#alarms .alarm")).to_have_count(0)
    assert watched.unexpected(*LOST) == []


def test_a_broken_promise_is_shown_wherever_one_looks(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    for key in "abcdef":
        service.predict(key)
        service.feedback(key, 1.0)
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    live(page)
    expect(page.locator("#promise")).to_have_attribute("data-state", "kept")

    def forget_a_loss(desk: Any) -> None:
        desk.stream("s").calibrator._constant.loss_sum -= 1.0

    service.ask(forget_a_loss)
    service.http.close()  # it may have been idle for too long
    service.predict("g")  # something happens, and the page looks again
    expect(page.locator("#promise")).to_have_attribute("data-state", "broken")
    expect(page.locator("#promise-words")).to_contain_text("losses were lost or doubled")
    expect(page.locator("#alarms")).to_contain_text("The promise is broken.")
    page.get_by_role("link", name="All streams").click()
    expect(page.locator("#alarms")).to_contain_text("Do not rely on: s.")
    assert watched.unexpected() == []


def test_on_a_phone_everything_fits_its_width(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url, viewport=PHONE, is_mobile=True, has_touch=True)
    page = watched.open("demand")
    live(page)
    for part in page.locator("header, .tile, #promise, figure, .chart, #axes").all():
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    expect(page.locator("#group-chart .main-svg").first).to_be_visible()
    assert watched.unexpected() == []


def test_the_dark_comes_and_goes_with_the_system(
    server: Server, traffic: Traffic, visit: Visitor
) -> None:
    watched = visit(server.url, color_scheme="dark")
    page = watched.open("demand")
    live(page)
    tick = page.locator("#risk-chart .xtick text").first
    expect(page.locator("body")).to_have_css("background-color", "rgb(18, 20, 24)")
    expect(tick).to_have_css("fill", "rgb(169, 176, 188)")
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(244, 245, 247)")
    expect(tick).to_have_css("fill", "rgb(89, 96, 108)")
    assert watched.unexpected() == []


def test_a_token_is_asked_for_and_kept_out_of_the_address(tmp_path: Path, visit: Visitor) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("read look-but-do-not-touch\nwrite pen-and-paper-and-ink\n")
    with Server(tmp_path / "data", "--token-file", str(tokens)) as server:
        with Client(server.url, token="pen-and-paper-and-ink") as client:
            traffic = Traffic(client, "demand")
            traffic.create()
            traffic.rounds(50)
        watched = visit(server.url)
        page = watched.open("demand")
        expect(page.locator("#token")).to_be_visible()
        page.get_by_label("Token").fill("not-one-of-the-tokens")
        page.get_by_role("button").click()
        expect(page.locator("#token-refused")).to_be_visible()
        page.get_by_label("Token").fill("look-but-do-not-touch")
        page.get_by_role("button").click()
        live(page)
        expect(page.locator("#rounds")).to_have_text("38")
        page.reload()
        live(page)  # it is kept as long as the tab is
        assert not [url for url in watched.requests if "look-but" in url]
        assert watched.unexpected("401") == []


def test_any_two_features_can_be_chosen_for_the_map(start: Start, visit: Visitor) -> None:
    service = start()
    service.create(kernel={"length_scale": 0.5}, features=3)
    for t in range(20):
        service.predict(f"p{t}", x=[t / 20, (t % 5) / 5, (t % 3) / 3])
        service.feedback(f"p{t}", float(t % 2))
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    expect(page.locator("#map-words")).to_contain_text("x[2] = 0.3")
    page.get_by_label("across").select_option("x[2]")
    expect(page.locator("#map-chart .xtitle")).to_have_text("x[2]")
    expect(page.locator("#map-words")).to_contain_text("x[0] = 0.475")
    page.get_by_label("up").select_option("x[2]")  # twice the same: a curve
    expect(page.locator("#map-chart .ytitle")).to_have_text("threshold")
    expect(page.locator("#scale")).to_be_hidden()
    assert watched.unexpected() == []


def test_what_is_missing_is_said(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    live(page)
    expect(page.locator("#risk-chart")).to_have_text("No loss was reported yet.")
    expect(page.locator("#map-chart")).to_contain_text("This stream has no kernel")
    service.predict("a")
    service.feedback("a", 1.0)
    expect(page.locator("#rounds")).to_have_text("1")
    expect(page.locator("#size-chart")).to_contain_text("Send scores")
    expect(page.locator("#group-chart")).to_contain_text("Send a group")
    assert watched.unexpected() == []
    page = watched.open("no-such-stream")
    page.reload()
    expect(page.locator("#alarms")).to_contain_text("The service refused.")
    assert watched.unexpected("404") == []


def test_a_name_is_text_whatever_it_says(start: Start, visit: Visitor) -> None:
    service = start()
    service.create()
    hostile = "<a href='https://example.com'>x</a>"
    service.predict("a", group=hostile)
    service.feedback("a", 1.0)
    watched = visit(f"http://127.0.0.1:{service.port}")
    page = watched.open("s")
    expect(page.locator("#group-chart .ytick text")).to_have_text(hostile)
    expect(page.locator("#group-chart a")).to_have_count(0)
    assert watched.unexpected() == []
