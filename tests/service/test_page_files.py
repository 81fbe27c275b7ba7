"""What the page consists of, without a browser: a fixed list of files under a strict policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from service.inside import Inside

pytest.importorskip("plotly", reason="the page needs plotly: pip install '.[service]'")
import httpx

from localarc.service.page import plotly_script

FILES = files("localarc.service.page").joinpath("static")


@pytest.fixture
def http(service: Inside) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{service.port}", trust_env=False) as opened:
        yield opened


def test_the_policy_lets_in_no_inline_code_and_nobody_else(http: httpx.Client) -> None:
    policy = http.get("/").headers["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["style-src"] == f"'self' '{plotly_script.EMPTY_STYLE}'"
    assert rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_page_holds_no_inline_code_and_no_other_address() -> None:
    html = FILES.joinpath("index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html)
    assert all(re.search(r'src="page/', tag) for tag in re.findall(r"<script[^>]*>", html))
    for each in FILES.iterdir():
        text = each.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|eval\(|innerHTML|insertAdjacentHTML", text), each.name


def test_every_file_that_a_file_names_is_served(http: httpx.Client) -> None:
    html = http.get("/").text
    named = set(re.findall(r'(?:src|href)="(page/[^"]+)"', html))
    for each in FILES.iterdir():
        if each.name.endswith(".js"):
            named |= {f"page/{name}" for name in re.findall(r'from "\./([^"]+)"', each.read_text())}
    assert {"page/plotly.min.js", "page/main.js", "page/page.css"} <= named
    for path in sorted(named):
        answer = http.get(f"/{path}")
        assert answer.status_code == 200, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    served = {f"page/{each.name}" for each in FILES.iterdir() if each.name != "index.html"}
    assert served | {"page/plotly.min.js"} == named  # and nothing lies about unused


def test_plotly_is_that_of_the_installed_package(http: httpx.Client) -> None:
    assert http.get("/page/plotly.min.js").content == plotly_script.script_path().read_bytes()


def test_a_file_that_has_not_changed_is_not_sent_again(http: httpx.Client) -> None:
    first = http.get("/page/plotly.min.js")
    assert first.headers["Content-Encoding"] == "gzip"
    again = http.get("/page/plotly.min.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["../routes.py", "..%2froutes.py", "%2e%2e/app.py", "routes.py"])
def test_no_path_leads_out_of_the_list(http: httpx.Client, path: str) -> None:
    assert http.get(f"/page/{path}").status_code == 404


def test_styles_that_plotly_would_add_with_text_find_their_place_taken(http: httpx.Client) -> None:
    html = http.get("/").text
    assert plotly_script.refused_styles()  # or the script has changed, and this with it
    for each in plotly_script.refused_styles():
        assert f'id="{each}"' in html
