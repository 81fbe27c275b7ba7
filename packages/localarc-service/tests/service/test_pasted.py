"""The commands of the documentation work when they are pasted into a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from localarc_client import Client
from service.requirements import missing
from service.service_process import Server

pytestmark = pytest.mark.service

DOCS = Path(__file__).parents[4] / "docs"
BLOCK = re.compile(r"^( *)```text\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
ADMIN = "everything-is-allowed-to-me"
# A shell function that shows the status of each response after it.
CURL = 'curl() { command curl -w "\\nstatus %{http_code}\\n" "$@"; }\n'


def commands(page: Path) -> list[str]:
    """The blocks of a page that call curl."""
    found = [block for _, block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return [block for block in found if block.lstrip().startswith("curl ")]


def paste(block: str, folder: Path, **variables: str) -> tuple[list[int], str]:
    """The statuses of a block's requests, and what it printed."""
    if shutil.which("curl") is None:
        missing("curl is not installed: apt-get install curl")
    done = subprocess.run(
        ["bash", "-c", CURL + block],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | variables,
    )
    assert done.returncode == 0, done.stderr
    return [int(status) for status in re.findall(r"status (\d+)$", done.stdout, re.M)], done.stdout


def test_the_first_three_lines_of_the_service_page_create_predict_and_report(
    tmp_path: Path,
) -> None:
    first = commands(DOCS / "service.md")[0]
    assert first.count("\n") == 3
    with Server(tmp_path / "data") as server, Client(server.url) as client:
        here = first.replace("http://127.0.0.1:8090", server.url)
        assert paste(here, tmp_path)[0] == [201, 200, 200]
        assert paste(here, tmp_path)[0] == [200, 200, 200]  # pasted twice
        assert client.summary("demand").rounds == 1


def test_every_command_for_somebody_on_call_works(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"admin {ADMIN}\n")
    with (
        Server(tmp_path / "data", "--token-file", str(tmp_path / "tokens")) as server,
        Client(server.url, ADMIN) as client,
    ):
        client.create("demand", {"alpha": 0.1, "method": "arc"})
        for number in range(12):
            client.feedback("demand", client.predict("demand", id=f"p{number}").id, loss=1.0)
        assert client.summary("demand").health.status == "broken"
        blocks = commands(DOCS / "service" / "on-call.md")
        assert len(blocks) >= 9
        for block in blocks:
            codes, printed = paste(block, tmp_path, URL=server.url, STREAM="demand", TOKEN=ADMIN)
            if "grep" in block:
                assert re.search(r"^localarc_(webhook|token|wrong|audit)\w* ", printed, re.M), block
            else:
                assert set(codes) == {200}, block
        assert client.summary("demand").health.status == "ok"  # it was acknowledged
        assert (tmp_path / "demand.state").read_bytes() == client.export_state("demand")


def test_every_alert_has_a_section_for_somebody_on_call() -> None:
    rules = (DOCS / "service" / "alerts.yml").read_text(encoding="utf-8")
    page = (DOCS / "service" / "on-call.md").read_text(encoding="utf-8")
    anchors = {title.lower().replace(" ", "-") for title in re.findall(r"^## (.*)$", page, re.M)}
    for alert, anchor in re.findall(
        r"alert: (\w+).*?runbook: on-call\.md#([\w-]+)", rules, re.DOTALL
    ):
        assert f"`{alert}`" in page
        assert anchor in anchors
    assert rules.count("alert:") == rules.count("runbook:")
