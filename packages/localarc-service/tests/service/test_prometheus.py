"""A real Prometheus loads the alert rules, and their alarm fires when a group breaks."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_client import Client, FeedbackOperation, PredictOperation
from service.requirements import missing
from service.service_process import PATIENCE, Server, free_port

pytestmark = pytest.mark.service

DOCS = Path(__file__).parents[4] / "docs" / "service"
RULES = DOCS / "alerts.yml"
TOKEN = "only-for-reading-metrics"


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        missing(f"{name} is not installed: apt-get install prometheus")
    return path or ""


@contextlib.contextmanager
def prometheus(folder: Path, service: str) -> Iterator[str]:
    """The URL of a Prometheus that reads a service four times a second."""
    config = {
        "global": {"scrape_interval": "250ms", "evaluation_interval": "250ms"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {
                "job_name": "localarc",
                "scrape_timeout": "250ms",
                "authorization": {"credentials": TOKEN},
                "static_configs": [{"targets": [service.removeprefix("http://")]}],
            }
        ],
    }
    (folder / "prometheus.json").write_text(json.dumps(config))  # JSON is YAML
    url = f"127.0.0.1:{free_port()}"
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            [
                program("prometheus"),
                f"--config.file={folder / 'prometheus.json'}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address={url}",
            ],
            stdout=log,
            stderr=log,
        )
        try:
            yield f"http://{url}"
        finally:
            process.terminate()
            process.wait(PATIENCE)


def ask(url: str) -> Any:
    """What Prometheus answers; None while it starts."""
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            data = json.load(response)["data"]
            return data.get("result", data)
    except (urllib.error.URLError, ConnectionError):
        return None


def wait_for_alerts(url: str, wanted: set[tuple[str, str, str]]) -> None:
    """Wait until these alerts fire, by name, stream and group."""
    until = time.monotonic() + PATIENCE
    while (firing := firing_alerts(url)) != wanted:
        assert time.monotonic() < until, firing
        time.sleep(0.2)


def firing_alerts(url: str) -> set[tuple[str, str, str]] | None:
    """The alerts that fire; None while Prometheus has not reached the service."""
    if not ask(f"{url}/api/v1/query?query=localarc_streams"):
        return None
    labels = [
        alert["labels"]
        for alert in ask(f"{url}/api/v1/alerts")["alerts"]
        if alert["state"] == "firing"
    ]
    return {(each["alertname"], each.get("stream", ""), each.get("group", "")) for each in labels}


def send(client: Client, losses: list[float], group: str) -> None:
    for loss in losses:
        key = client.predict("demand", group=group).id
        (done,) = client.batch([FeedbackOperation("demand", key, loss)])
        assert done.problem is None


def test_prometheus_accepts_the_rules() -> None:
    done = subprocess.run(
        [program("promtool"), "check", "rules", str(RULES)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_an_alarm_fires_when_a_group_breaks_and_ends_when_it_is_acknowledged(
    tmp_path: Path,
) -> None:
    program("prometheus")
    (tmp_path / "tokens").write_text(f"read {TOKEN}\nwrite {TOKEN}-and-more\n")
    options = "--stream-metrics", "100", "--token-file", str(tmp_path / "tokens")
    with (
        Server(tmp_path / "data", *options) as server,
        prometheus(tmp_path, server.url) as url,
        Client(server.url, f"{TOKEN}-and-more") as client,
    ):
        client.create("demand", {"alpha": 0.1, "method": "arc"})
        client.batch([PredictOperation(stream="demand") for _ in range(3)])
        send(client, [0.0] * 150, "country")
        wait_for_alerts(url, set())
        send(client, [1.0] * 8, "city")
        assert client.summary("demand").overall.status == "ok"
        wait_for_alerts(url, {("LocalarcBroken", "demand", "city")})
        client.acknowledge("demand")
        wait_for_alerts(url, set())
