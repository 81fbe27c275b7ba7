"""Client generators accept the OpenAPI document, and what they generate works."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from localarc_client.wire.routes import ROUTES
from localarc_service.api.openapi import openapi
from service.requirements import missing, need
from service.service_in_thread import Inside

pytestmark = pytest.mark.service
need("openapi_python_client")

REPOSITORY = Path(__file__).parents[4]
CHECK = (
    "--noEmit --strict --skipLibCheck --target es2022 --lib es2022,dom,dom.iterable "
    "--module esnext --moduleResolution bundler"
)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(openapi(ROUTES, "0")))
    return path


def run(*command: str | Path) -> None:
    """Run a tool; the project's own tools come first in the path."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=os.environ | {"PATH": tools},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def node(name: str) -> Path:
    """A tool of package.json."""
    path = REPOSITORY / "node_modules" / ".bin" / name
    if shutil.which("node") is None or not path.exists():
        missing(f"{name} is not installed: make node_modules/.installed")
    return path


def test_a_generated_python_client_talks_to_the_service(
    document: Path, tmp_path: Path, service: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "generated_client"
    generator = Path(sys.executable).with_name("openapi-python-client")
    run(
        generator, "generate", "--path", document, "--output-path", folder, "--meta", "none",
        "--fail-on-warning",
    )  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)

    def module(name: str) -> Any:
        return importlib.import_module(f"generated_client.{name}")

    service.create(kernel={}, features=2, score_range=[0, 1])
    body = module("models").PredictRequest(x=[0.5, 0.5], id="one")
    with module("client").Client(f"http://127.0.0.1:{service.port}") as client:
        predicted = module("api.default.predict").sync("s", client=client, body=body)
        summary = module("api.default.summary").sync("s", client=client)
        problem = module("api.default.summary").sync("none", client=client)
    assert (predicted.id, predicted.threshold) == ("one", 0.0)
    assert (summary.predictions, summary.config.score_range) == (1, [0.0, 1.0])
    assert (problem.status, problem.title) == (404, "Not Found")


def test_openapi_typescript_accepts_the_document(document: Path, tmp_path: Path) -> None:
    types = tmp_path / "openapi.ts"
    run(node("openapi-typescript"), document, "--output", types)
    run(node("tsc"), *CHECK.split(), types)
    assert "StreamSummary" in types.read_text()


def test_hey_api_accepts_the_document(document: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hey-api"
    run(node("openapi-ts"), "--input", document, "--output", folder)
    run(node("tsc"), *CHECK.split(), folder / "index.ts")
    text = (folder / "sdk.gen.ts").read_text()
    for endpoint in ROUTES:
        assert f"url: '{endpoint.path}'" in text
