"""The files of the page, without a browser: a fixed list, a strict policy, readable colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import httpx
import pytest

from localarc_client.wire.status import HistoryPoint
from service.service_in_thread import Inside

FILES = files("localarc_service.page").joinpath("static")
SCHEMES = ("light", "dark")
TEXT_PAIRS = [
    *(
        (text, surface)
        for text in ("ink", "soft", "blue", "good", "bad", "warn", "stale")
        for surface in ("paper", "card")
    ),
    *((text, "alert") for text in ("ink", "soft", "bad", "blue")),
    *((text, "caution") for text in ("ink", "soft", "warn", "blue")),
    *((text, "pale") for text in ("ink", "soft", "stale", "blue")),
    ("button", "bad"),
]
GRAPHIC_PAIRS = [(line, "card") for line in ("blue", "warn", "bad", "stale", "ink", "soft")]


@pytest.fixture
def http(service: Inside) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{service.port}", trust_env=False) as opened:
        yield opened


def test_the_policy_allows_no_inline_code_and_no_other_origin(http: httpx.Client) -> None:
    policy = http.get("/").headers["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for kind in ("script-src", "style-src", "connect-src", "img-src"):
        assert rules[kind] == "'self'"
    assert rules["frame-ancestors"] == "'none'"


def test_the_page_contains_no_inline_code_and_no_other_address() -> None:
    html = FILES.joinpath("index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html)
    assert all(re.search(r'src="page/', tag) for tag in re.findall(r"<script[^>]*>", html))
    for file in FILES.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|eval\(|innerHTML|insertAdjacentHTML", text), file.name


def test_every_file_that_a_file_names_is_served(http: httpx.Client) -> None:
    named = set(re.findall(r'(?:src|href)="(page/[^"]+)"', http.get("/").text))
    for file in FILES.iterdir():
        if file.name.endswith(".js"):
            imports = re.findall(r'(?:from |import\()"\./([^"]+)"', file.read_text())
            named |= {f"page/{name}" for name in imports}
    for path in sorted(named):
        answer = http.get(f"/{path}")
        assert answer.status_code == 200, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    served = {f"page/{file.name}" for file in FILES.iterdir() if file.name != "index.html"}
    assert served == named  # and no file is unused


def test_a_file_that_has_not_changed_is_not_sent_again(http: httpx.Client) -> None:
    first = http.get("/page/main.js")
    assert first.headers["Content-Encoding"] == "gzip"
    again = http.get("/page/main.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["../routes.py", "..%2froutes.py", "%2e%2e/app.py", "routes.py"])
def test_no_path_leads_out_of_the_list(http: httpx.Client, path: str) -> None:
    assert http.get(f"/page/{path}").status_code == 404


def test_the_page_reads_the_points_of_a_history_in_their_order() -> None:
    script = FILES.joinpath("history.js").read_text(encoding="utf-8")
    names = re.search(r"points\.map\(\s*\(\[([^\]]+)\]\)", script)
    assert names is not None
    assert tuple(re.findall(r"[a-z]+", names[1])) == HistoryPoint.__struct_fields__


def first_load() -> list[str]:
    """The files that the overview loads: the page, what it names, and what these import."""
    html = FILES.joinpath("index.html").read_text(encoding="utf-8")
    found = dict.fromkeys(["index.html", *re.findall(r'(?:src|href)="page/([^"]+)"', html)])
    waiting = list(found)
    while waiting:
        text = FILES.joinpath(waiting.pop()).read_text(encoding="utf-8")
        for name in re.findall(r'^(?:import|export) .*?from "\./([^"]+)"', text, re.M | re.S):
            if name not in found:
                found[name] = None
                waiting.append(name)
    return list(found)


def test_the_first_load_is_small_and_takes_one_round_trip_after_the_page(
    http: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    html = FILES.joinpath("index.html").read_text(encoding="utf-8")
    files = first_load()
    assert all(f'="page/{name}"' in html for name in files[1:])  # named by the page itself
    assert {"overview.js", "status.js"} < set(files) < {file.name for file in FILES.iterdir()}
    sizes = []
    for name in files:
        with http.stream("GET", "/" if name == "index.html" else f"/page/{name}") as answer:
            sizes.append(len(b"".join(answer.iter_raw())))
    with capsys.disabled():
        print(f"\nfirst load: {len(files)} files, {sum(sizes)} bytes as they are sent")
    assert sum(sizes) < 20_000


def test_all_files_together_are_small() -> None:
    assert sum(len(file.read_bytes()) for file in FILES.iterdir()) < 150_000


def palette(scheme: str) -> dict[str, str]:
    """The custom properties of a colour scheme, by name."""
    css = FILES.joinpath("page.css").read_text(encoding="utf-8")
    light, dark = css.split("@media (prefers-color-scheme: dark)")[:2]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", light))
    changes = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", dark))
    assert set(changes) == set(colours)
    return colours if scheme == "light" else changes


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG 2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("text", "surface"), TEXT_PAIRS)
def test_text_has_the_contrast_that_wcag_aa_requires(scheme: str, text: str, surface: str) -> None:
    colours = palette(scheme)
    assert contrast(colours[text], colours[surface]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("line", "surface"), GRAPHIC_PAIRS)
def test_lines_of_charts_stand_out_from_their_card(scheme: str, line: str, surface: str) -> None:
    colours = palette(scheme)
    assert contrast(colours[line], colours[surface]) >= 3.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_text_of_buttons_is_readable(scheme: str) -> None:
    colours = palette(scheme)
    assert contrast(colours["button"], colours["blue"]) >= 4.5


def test_text_takes_its_colour_from_the_palette() -> None:
    """Colours outside of it would escape the tests above."""
    for name in ("page.css", "components.css", "charts.css"):
        css = FILES.joinpath(name).read_text(encoding="utf-8")
        for value in re.findall(r"[\s;{](?:color|fill|stroke): ([^;]+);", css):
            assert re.fullmatch(r"var\(--\w+\)|inherit|none", value), (name, value)
        assert "opacity" not in "".join(re.findall(r"\.chart text \{[^}]*\}", css))
