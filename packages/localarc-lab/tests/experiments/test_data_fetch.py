"""Downloading through pip, and the message where pip cannot reach its index."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def fetch(cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k != "LOCALARC_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "localarc.cli", "data", "get", "elec2"],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean | {"XDG_CACHE_HOME": str(cache), "HOME": str(cache)} | environment,
    )


@pytest.mark.slow
def test_elec2_is_downloaded_with_pip_alone_or_the_error_says_why(tmp_path: Path) -> None:
    done = fetch(tmp_path)
    if done.returncode == 0:
        folder = Path(done.stdout.strip().removeprefix("elec2 is in "))
        assert (folder / "elec.csv").stat().st_size == 3_200_575
    else:
        assert "elec2 cannot be downloaded" in done.stderr
        assert "scikit-multiflow==0.4.1" in done.stderr


@pytest.mark.slow
def test_without_a_network_the_error_names_both_remedies(tmp_path: Path) -> None:
    done = fetch(
        tmp_path,
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_EXTRA_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_FIND_LINKS="",
        PIP_CONFIG_FILE=os.devnull,
        PIP_RETRIES="0",
        PIP_TIMEOUT="2",
        PIP_NO_CACHE_DIR="1",
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for words in ("elec2 cannot be downloaded", "retry where pip can reach", "set LOCALARC_DATA"):
        assert words in done.stderr
