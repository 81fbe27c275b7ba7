"""schemathesis against a running service: it agrees with its /openapi.json."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from localarc_client import Client
from service.forecaster import Traffic
from service.requirements import need
from service.service_process import Server

need("schemathesis")
pytestmark = pytest.mark.service

TOKEN = "every-door-is-open-to-me"
EXAMPLES = 25

# Events never end, so they are not requested. A batch reports each bad operation on its own. And a
# schema cannot express that alpha is below the loss bound, so it accepts a config that is rejected.
# Wrong tokens get 401 until they are too many, then 429: test_tokens.py tries every endpoint.
SETTINGS = """
[checks.ignored_auth]
enabled = false

[checks.positive_data_acceptance]
enabled = false

[[operations]]
include-path = "/v1/batch"
checks.negative_data_rejection.enabled = false
"""
THERE = """
[parameters]
"path.stream" = "fuzzed"
"path.prediction" = "open"
"""


# Names come from responses, too: with any name, the bystander would be changed, renamed or deleted.
HARMLESS = (
    *("--exclude-path-regex", "/(events|rename)$"),
    *("--exclude-method", "DELETE", "--exclude-method", "PATCH"),
)
ALL = ("--exclude-path-regex", "/events$")


@pytest.mark.parametrize(
    ("settings", "without"),
    [(SETTINGS, HARMLESS), (SETTINGS + THERE, ALL)],
    ids=["any name", "one there"],
)
def test_the_service_agrees_with_its_api_document(
    settings: str, without: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "schemathesis.toml").write_text(settings)
    (tmp_path / "tokens").write_text(f"admin {TOKEN}\n")
    options = "--token-file", str(tmp_path / "tokens"), "--max-streams", "1000"
    with Server(tmp_path / "data", *options) as server, Client(server.url, TOKEN) as client:
        for name in ("fuzzed", "bystander"):
            traffic = Traffic(client, name)
            traffic.create()
            traffic.rounds(40)
        client.predict("fuzzed", [0.5, 0.5], id="open")
        before = client.export_state("bystander")
        said = schemathesis(server.url, tmp_path, without)
        assert said.returncode == 0, said.stdout
        assert client.export_state("bystander") == before
        assert all(stream.consistent for stream in client.streams())
        counted = server.caller(TOKEN).call("GET", "/metrics")[1].decode()
        assert 'status="200"' in counted
        assert 'status="500"' not in counted  # 503 is what it says of itself while it starts
        assert "Traceback" not in server.errors


def schemathesis(
    url: str, folder: Path, without: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"]
    options = [
        *("--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", "1"),
        *(*without, "--generation-database", "none"),
        *("--header", f"Authorization: Bearer {TOKEN}", "--warnings", "off"),
        *("--continue-on-failure", "--no-color"),
    ]
    where = f"{url}/openapi.json"
    return subprocess.run(
        [*command, "run", where, *options], cwd=folder, capture_output=True, text=True
    )
