"""The page as somebody on call uses it: worst first, links to send, keys alone, both themes."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from localarc_client import Client
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.api import queries
from localarc_service.api.auth import Scope, Tokens
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager
from service.browser import PHONE, TIMEOUT
from service.conftest import Start, Visitor
from service.contrast import LOW_CONTRAST
from service.service_in_thread import Inside

from playwright.sync_api import Page, expect  # isort: skip (playwright may be absent)

pytestmark = pytest.mark.service
expect.set_options(timeout=TIMEOUT)

LONG_NAME = "a-stream-with-the-longest-name-that-the-service-accepts-for-it-1"
LONG_GROUP = "group" + "0123456789" * 5 + "012345678"
HOUR = 3600.0
START = time.time() - 6 * HOUR
COUNT_NODES = """() => {
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
    let count = 1;
    while (walker.nextNode()) count += 1;
    return count;
}"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def live(page: Page) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def play(service: Inside, stream: str, losses: list[float], group: str | None = None) -> None:
    """One round per minute."""

    def rounds(manager: StreamManager) -> None:
        x = [0.1] * manager.stream(stream).state.config.features
        for loss in losses:
            service.clock.now += 60.0
            key = manager.predict(stream, PredictRequest(x=x, group=group)).id
            manager.feedback(stream, key, FeedbackRequest(loss=loss))

    service.ask(rounds, writes=2 * len(losses))


CONFIG: dict[str, Any] = {"method": "arc", "features": 2, "feature_names": ["hour", "wind"]}


@pytest.fixture
def service(start: Start) -> Inside:
    """One stream whose city breaks after three hours, one that is fine, one with long names."""
    service = start(now=START)
    for name in ("demand", "fine", LONG_NAME):
        service.create(name, **CONFIG)
    play(service, "demand", [0.0] * 180, "hills")
    play(service, "demand", [1.0] * 40, "city")
    service.clock.now -= 60 * 60.0  # all end at the same time, so that none is stale
    play(service, "fine", [0.0] * 60)
    service.clock.now -= 40 * 60.0
    play(service, LONG_NAME, [0.0] * 40, LONG_GROUP)
    return service


def url(service: Inside) -> str:
    return f"http://127.0.0.1:{service.port}"


def test_the_worst_stream_is_first_with_a_word_and_a_shape(service: Inside, visit: Visitor) -> None:
    watched = visit(url(service))
    page = watched.open()
    live(page)
    expect(page.locator("#streams-title")).to_have_text("1 broken of 3 streams")
    expect(page).to_have_title(re.compile("^1 broken"))
    expect(page.locator("#streams .name").first).to_have_text("demand")
    badges = page.locator("#streams .badge")
    expect(badges.first).to_have_text("broken")
    expect(badges.nth(1)).to_have_text(re.compile("ok|too early"))
    shapes = [
        badges.nth(index).evaluate("badge => getComputedStyle(badge, '::before').clipPath")
        for index in (0, 1)
    ]
    assert shapes[0] != shapes[1]
    expect(page.locator("#streams .why").first).to_contain_text(
        "The risk in city is 1, target 0.1."
    )
    chips = page.locator("#statuses a:not([data-tone=''])")
    marks = chips.evaluate_all("all => all.map((a) => getComputedStyle(a, '::before').clipPath)")
    assert len(set(marks)) == 5  # one shape per state
    assert watched.unexpected() == []


def test_nothing_is_green_beside_a_broken_promise(service: Inside, visit: Visitor) -> None:
    page = visit(url(service)).open("demand")
    live(page)
    expect(page.locator("#status")).to_have_text("broken")
    green = page.evaluate("""() => {
        const probe = document.createElement("i");
        probe.style.color = "var(--good)";
        document.body.append(probe);
        const good = getComputedStyle(probe).color;
        probe.remove();
        return [...document.querySelectorAll("#verdict *, #verdict, #guarantee *, header *")]
            .filter((part) => part.checkVisibility())
            .filter((part) => ["color", "borderLeftColor", "backgroundColor"]
                .some((name) => getComputedStyle(part)[name] === good))
            .map((part) => part.id || part.className);
    }""")
    assert green == []


def test_search_and_state_are_in_the_address_and_done_by_the_service(
    service: Inside, visit: Visitor
) -> None:
    watched = visit(url(service))
    page = watched.open()
    live(page)
    page.get_by_label("Find a stream").fill("FIN")
    expect(page.locator("#streams .name")).to_have_text(["fine"])
    assert page.url.endswith("/#?search=FIN")
    assert [request for request in watched.requests if "search=FIN" in request]
    page.get_by_label("Find a stream").fill("")
    page.locator("#statuses").get_by_role("link", name="broken").click()
    expect(page.locator("#streams .name")).to_have_text(["demand"])
    assert page.url.endswith("/#?status=broken")
    sent = visit(url(service)).open("?search=em&status=broken")  # what a colleague opens
    expect(sent.locator("#streams .name")).to_have_text(["demand"])
    expect(sent.get_by_label("Find a stream")).to_have_value("em")
    expect(sent.locator("#statuses [aria-current]")).to_have_text(re.compile("broken"))
    sent.get_by_label("Find a stream").fill("nothing like it")
    expect(sent.locator("#none-found")).to_be_visible()
    page.go_back()
    expect(page.locator("#streams li")).to_have_count(3)
    assert watched.unexpected() == []


def test_the_moment_of_the_alarm_is_marked_on_a_time_axis(service: Inside, visit: Visitor) -> None:
    watched = visit(url(service))
    page = watched.open("demand")
    live(page)
    chart = page.locator("#recent-chart")
    expect(chart.locator("text.mark.broken")).to_have_text("broken: city")
    for label in chart.locator(".x-tick").all_text_contents():
        assert re.fullmatch(r"\d\d:\d\d|\d+ \w+", label)
    expect(chart.locator(".x-title")).to_contain_text("UTC")
    since = service.ask(lambda manager: queries.summary(manager, "demand")).health.since
    assert since is not None
    assert START + 3 * HOUR < since < START + 4 * HOUR
    line, axis = chart.locator("line.mark"), chart.locator("line.grid").first
    left, right, mark = (
        float(part.get_attribute(name) or "nan")
        for part, name in ((axis, "x1"), (axis, "x2"), (line, "x1"))
    )
    first, *_, last = service.ask(lambda manager: manager.stream("demand").state.points())
    expected = left + (right - left) * (since - first.at) / (last.at - first.at)
    assert mark == pytest.approx(expected, abs=1.0)
    assert watched.unexpected() == []


def test_a_stream_that_is_not_read_yet_shows_nothing_of_another_one(
    service: Inside, visit: Visitor
) -> None:
    watched = visit(url(service))
    page = watched.open("fine")
    live(page)
    expect(page.locator("#stream")).to_be_visible()
    page.route("**/v1/streams/demand**", lambda route: None)  # no answer
    page.evaluate("location.hash = '#demand'")
    expect(page.locator("#connection")).to_have_attribute("data-state", "connecting")
    expect(page.locator("#stream")).to_be_hidden()
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    expect(page.locator("#status")).to_have_text("broken")


def test_a_link_carries_the_time_range_and_the_group(service: Inside, visit: Visitor) -> None:
    watched = visit(url(service))
    page = watched.open("demand")
    live(page)
    page.get_by_role("link", name="Show the moment of the alarm").click()
    expect(page.locator("#custom-range")).to_be_visible()
    assert re.search(r"#demand\?group=city&from=\S+Z&to=\S+Z$", page.url)
    expect(page.locator("#group-selected")).to_contain_text("city")
    expect(page.locator("#events")).not_to_contain_text("hills")
    shown = page.locator("#recent-chart .x-tick").all_text_contents()
    again = visit(url(service)).open(page.url.partition("#")[2])
    live(again)
    expect(again.locator("#recent-chart .x-tick")).to_have_text(shown)
    expect(again.locator("#group-rows [aria-current]")).to_have_text("city")
    again.get_by_label("Charts show").select_option("all rounds")
    assert again.url.endswith("#demand?group=city")
    again.go_back()
    expect(again.locator("#recent-chart .x-tick")).to_have_text(shown)
    assert watched.unexpected() == []


def test_the_charts_can_show_recent_times_alone(service: Inside, visit: Visitor) -> None:
    service.clock.now = time.time() - 180.0
    play(service, "demand", [0.0] * 2, "hills")  # two rounds just now
    page = visit(url(service)).open("demand")
    live(page)
    page.get_by_label("Charts show").select_option("the last hour")
    assert page.url.endswith("#demand?range=1h")
    page.locator("#recent-chart > svg").focus()
    page.keyboard.press("Home")
    expect(page.locator("#recent-chart .tooltip")).to_contain_text("round 221")


def test_the_latest_events_are_listed_and_alarms_stay_longer(
    service: Inside, visit: Visitor
) -> None:
    page = visit(url(service)).open("demand")
    live(page)
    losses = page.locator("#events li:not([data-tone])")
    expect(losses.first).to_contain_text("Loss 1 in city")
    expect(losses).to_have_count(15)
    expect(page.locator("#events [data-tone=broken]").last).to_contain_text("city: ok → broken")
    play(service, "demand", [0.5], "hills")
    expect(losses.first).to_contain_text("Loss 0.5 in hills")


def test_features_have_the_names_of_the_config(start: Start, visit: Visitor) -> None:
    service = start()
    names = ["hour of the day", LONG_GROUP]
    service.create(kernel={"length_scale": 0.5}, features=2, feature_names=names)
    for t in range(20):
        service.predict(f"p{t}", x=[t / 20, (t % 5) / 5])
        service.feedback(f"p{t}", float(t % 2))
    page = visit(url(service), viewport=PHONE).open("s")
    page.locator("#map-chart").scroll_into_view_if_needed()
    expect(page.locator("#map-chart .x-title")).to_have_text("hour of the day")
    expect(page.locator("#map-chart .axis-title title")).to_have_text(LONG_GROUP)
    expect(page.locator("#first option")).to_have_text(names)
    assert page.evaluate(OVERFLOW) <= 0
    assert "x[0]" not in page.locator("#stream").inner_text()


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1200, "height": 900}], ids=["phone", "desk"])
def test_long_names_do_not_break_the_layout(service: Inside, visit: Visitor, viewport: Any) -> None:
    page = visit(url(service), viewport=viewport).open()
    expect(page.locator("#streams li")).to_have_count(3)
    assert page.evaluate(OVERFLOW) <= 0
    page.locator(f'[data-key="{LONG_NAME}"] a').click()
    expect(page.locator("#group-rows th")).to_have_text(LONG_GROUP)
    assert page.evaluate(OVERFLOW) <= 0


def test_keys_alone_lead_from_the_list_to_the_acknowledged_alarm(
    service: Inside, visit: Visitor
) -> None:
    watched = visit(url(service))
    page = watched.open()
    live(page)
    expect(page.locator("#streams li")).to_have_count(3)
    tab_to(page, '[data-key="demand"] a')
    page.keyboard.press("Enter")
    live(page)
    expect(page.locator("#name")).to_be_focused()
    tab_to(page, "#acknowledge")
    assert outlined(page)
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_visible()
    expect(page.locator("#confirm-text")).to_contain_text("city in demand is broken for")
    expect(page.locator("#confirm-no")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#status")).to_have_text("broken")  # nothing happened
    expect(page.locator("#acknowledge")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#confirm-yes")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#acknowledge")).to_be_hidden()
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator("#events")).to_contain_text("Acknowledged")
    summary = service.ask(lambda manager: queries.summary(manager, "demand"))
    assert summary.health.status == "ok"
    assert watched.unexpected() == []


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until this element has the focus, as a reader without a mouse does."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
    pytest.fail(f"{selector} cannot be reached with Tab")


def outlined(page: Page) -> bool:
    """Whether the focus can be seen."""
    return bool(page.evaluate("getComputedStyle(document.activeElement).outlineStyle === 'solid'"))


def test_a_token_that_may_only_read_says_so(start: Start, visit: Visitor) -> None:
    tokens = Tokens({"look-but-do-not-touch": Scope.READ, "pen-and-paper-and-ink": Scope.WRITE})
    service = start(tokens=tokens)
    with Client(url(service), token="pen-and-paper-and-ink") as client:
        client.create("s", {"alpha": 0.1, "method": "arc"})
        for _ in range(60):
            client.feedback("s", client.predict("s").id, loss=1.0)
    watched = visit(url(service))
    page = watched.open("s")
    page.get_by_label("Token").fill("look-but-do-not-touch")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Acknowledge …").click()
    page.get_by_role("button", name="Acknowledge", exact=True).click()
    expect(page.locator("#confirm-error")).to_contain_text("may read but not write")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#status")).to_have_text("broken")
    assert watched.unexpected("401", "403") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "demand?group=city", "fine"])
def test_every_text_can_be_read_in_both_themes(
    service: Inside, visit: Visitor, scheme: str, view: str
) -> None:
    page = visit(url(service), color_scheme=scheme).open(view)
    live(page)
    expect(page.locator("#streams li" if not view else "#recent-chart > svg").first).to_be_visible()
    if view.startswith("demand"):
        page.locator("#acknowledge").click()
    assert page.evaluate(LOW_CONTRAST) == []


def test_five_thousand_streams_fit_one_small_page(
    start: Start, visit: Visitor, capsys: pytest.CaptureFixture[str]
) -> None:
    service = start(limits=Limits(streams=5_000))
    config = ArcConfig(alpha=0.1, features=0)

    def create(manager: StreamManager) -> None:
        for index in range(5_000):
            manager.create(f"stream-{index:04}", config)

    service.ask(create, writes=5_000)
    play(service, "stream-4321", [1.0] * 60)
    watched = visit(url(service))
    page = watched.open()
    expect(page.locator("#streams li")).to_have_count(50)
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    rows = page.evaluate("performance.getEntriesByName('rows')[0].startTime")
    nodes = page.evaluate(COUNT_NODES)
    with capsys.disabled():
        print(f"\n5,000 streams: {nodes} nodes, first paint {painted:.0f} ms, rows {rows:.0f} ms")
    assert nodes < 2_000
    expect(page.locator("#streams-title")).to_have_text("1 broken of 5,000 streams")
    expect(page.locator("#streams .name").first).to_have_text("stream-4321")
    expect(page.locator("#position")).to_have_text("1 to 50 of 5,000")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#position")).to_have_text("51 to 100 of 5,000")
    expect(page.locator("#streams .name").first).to_have_text("stream-0049")
    again = visit(url(service)).open(page.url.partition("#")[2])
    expect(again.locator("#position")).to_have_text("51 to 100 of 5,000")
    again.get_by_role("link", name="Previous").click()
    expect(again.locator("#streams .name").first).to_have_text("stream-4321")
    page.get_by_label("Find a stream").fill("499")
    expect(page.locator("#streams .name")).to_have_text(
        [f"stream-{index:04}" for index in range(5_000) if "499" in f"{index:04}"]
    )
    assert watched.unexpected() == []
