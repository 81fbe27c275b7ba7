"""Metrics of streams and groups by name: opt-in, limited in number, the worst first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from localarc_service.streams.manager import StreamManager
from service.conftest import Start
from service.service_in_thread import Inside
from service.test_health import GOOD, rounds

Labels = tuple[str, str]


def rounds_of(service: Inside, stream: str, losses: list[float], group: str | None = None) -> None:
    for number, loss in enumerate(losses):
        service.clock.now += 1
        key = f"at-{service.clock.now:.3f}-{number}"
        service.predict(key, stream, **({} if group is None else {"group": group}))
        assert service.feedback(key, loss, stream)[0] == 200


def read(service: Inside, name: str) -> dict[Labels, float]:
    """The values of a metric, by stream and group."""
    text = bytes(service.http.call("GET", "/metrics")[1]).decode()
    return {
        (sample.labels.get("stream", ""), sample.labels.get("group", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == f"localarc_stream_{name}"
    }


def statuses(service: Inside) -> dict[Labels, str]:
    """The status that is 1, which must be one for each part."""
    text = bytes(service.http.call("GET", "/metrics")[1]).decode()
    found: dict[Labels, str] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "localarc_stream_status" and sample.value:
                key = sample.labels["stream"], sample.labels["group"]
                assert key not in found
                found[key] = sample.labels["status"]
    return found


def test_metrics_name_no_stream_unless_asked(service: Inside) -> None:
    service.create("secret-stream")
    rounds_of(service, "secret-stream", [0.0])
    text = bytes(service.http.call("GET", "/metrics")[1]).decode()
    assert "secret" not in text
    assert "localarc_stream_status" not in text
    assert 'localarc_streams_by_status{status="ok"} 1.0' in text


def test_streams_and_groups_have_gauges(start: Start) -> None:
    service = start(stream_metrics=10)
    service.create(method="mondrian", score_range=[0, 1])
    rounds(service, [1.0, *[0.0] * 9], group="a")
    service.predict("open", group="a")
    assert read(service, "risk") == {("s", ""): 0.1, ("s", "a"): 0.1}
    recent = read(service, "recent_risk")  # of rounds after the first feedback
    assert recent == {("s", ""): 0.0, ("s", "a"): 0.0}
    assert read(service, "target") == {("s", ""): 0.1, ("s", "a"): 0.1}
    assert read(service, "pending") == {("s", ""): 1.0}
    assert set(read(service, "last_feedback_timestamp_seconds").values()) == {service.clock.now}
    summary = service.get()
    assert read(service, "bound") == {
        ("s", ""): summary["certificate"]["tightest"]["value"],
        ("s", "a"): summary["groups"][0]["above"],
    }
    assert read(service, "at_least")["s", ""] == summary["overall"]["at_least"]
    assert read(service, "metrics_left_out") == {("", ""): 0.0}


def test_a_stream_without_losses_has_no_risk(start: Start) -> None:
    service = start(stream_metrics=10)
    service.create()
    assert statuses(service) == {("s", ""): "ok"}
    assert read(service, "risk") == read(service, "last_feedback_timestamp_seconds") == {}


def test_the_limit_never_hides_a_broken_part_behind_others(start: Start) -> None:
    service = start(stream_metrics=3)
    for name in ("a", "b", "c"):
        service.create(name)
        rounds_of(service, name, GOOD, group="fine")
    rounds_of(service, "c", GOOD * 3, group="fine")
    rounds_of(service, "c", [1.0] * 12, group="bad")
    found = statuses(service)
    assert list(found.items())[:2] == [(("c", "bad"), "broken"), (("c", ""), "drifting")]
    assert len(found) == 3
    assert read(service, "metrics_left_out") == {("", ""): 7 - 3}


def test_names_are_escaped(start: Start) -> None:
    service = start(stream_metrics=10)
    service.create()
    name = 'a "quoted" \\ name, {braces}'
    rounds(service, [0.0, 0.0], group=name)  # the first, before any feedback, is not watched
    assert ("s", name) in statuses(service)


@pytest.mark.parametrize("status", ["ok", "drifting", "broken", "stale"])
def test_each_status_has_a_series(start: Start, status: str) -> None:
    service = start(stream_metrics=1)
    service.create()
    text = bytes(service.http.call("GET", "/metrics")[1]).decode()
    pattern = rf'^localarc_stream_status{{group="",status="{status}",stream="s"}} ([01]).0$'
    found = re.findall(pattern, text, re.MULTILINE)
    assert found == ["1" if status == "ok" else "0"]


def test_other_requests_come_in_between_while_many_streams_are_read(start: Start) -> None:
    service = start(stream_metrics=100)
    for number in range(20):
        service.create(f"s{number}")
    manager, jobs = service.ask(lambda manager: manager), 0

    async def ask(work: Callable[[StreamManager], Any], /) -> Any:
        nonlocal jobs
        jobs += 1
        return work(manager)

    asyncio.run(service.app_state.metrics.read(ask))
    assert jobs == 3 + 2 * 3  # eight streams at a time, twice
    assert len(read(service, "target")) == 20
