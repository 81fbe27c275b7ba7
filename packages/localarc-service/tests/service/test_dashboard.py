"""The Grafana dashboard and the alert rules use metrics that exist, and labels that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from service.service_in_thread import Inside

FILE = Path(__file__).parents[4] / "docs" / "service" / "grafana.json"
DASHBOARD: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


RULES = FILE.with_name("alerts.yml").read_text(encoding="utf-8")
USED = [*EXPRESSIONS, *re.findall(r"^ +expr: (.*localarc_.*)$", RULES, re.MULTILINE)]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The metrics of a service whose streams have metrics of their own."""
    folder = tmp_path_factory.mktemp("metrics")
    service = Inside(folder, Limits(), Tokens({}), stream_metrics=10).start()
    yield read(service)
    service.stop()


def read(service: Inside) -> str:
    service.create("a-secret-name", score_range=[0, 1])
    service.predict("p", "a-secret-name", group="a-secret-group")
    service.feedback("p", 1.0, "a-secret-name")
    return bytes(service.http.call("GET", "/metrics")[1]).decode()


@pytest.mark.parametrize("expression", USED)
def test_every_metric_that_is_used_exists(metrics: str, expression: str) -> None:
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics, re.MULTILINE))
    names = re.findall(r"localarc_\w+", expression)
    assert names
    for name in names:
        whole = re.sub(r"_(bucket|sum|count)$", "", name)
        assert kinds.get(name) in ("counter", "gauge") or kinds.get(whole) == "histogram", name


def test_every_label_that_is_used_exists(metrics: str) -> None:
    for expression in USED:
        for name, labels in re.findall(r"(localarc_\w+){(.*?)}", expression):
            for label in labels.split(", "):
                assert re.search(rf"^{name}{{.*\b{label}[,}}]", metrics, re.MULTILINE), expression
        for label in re.findall(r"by \((\w+)\)", expression):
            name = re.findall(r"localarc_\w+", expression)[0]
            assert re.search(rf'^{name}{{.*\b{label}="', metrics, re.MULTILINE), expression


def test_every_gauge_is_on_the_dashboard(metrics: str) -> None:
    asked = " ".join(EXPRESSIONS)
    for name, kind in re.findall(r"^# TYPE (localarc_\S+) (\S+)$", metrics, re.MULTILINE):
        if kind == "gauge" and name not in ("localarc_log_events", "localarc_replay_seconds"):
            assert name in asked


def test_no_label_contains_a_name_unless_asked(service: Inside) -> None:
    metrics = read(service)
    assert "localarc_rounds 1.0" in metrics
    assert "secret" not in metrics


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
