"""The systemd unit is accepted by systemd, and exposes little of the machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from deploy.dockerfile import ROOT
from deploy.sandbox import program

pytestmark = pytest.mark.deploy

UNIT = ROOT / "deploy" / "systemd" / "localarc.service"


def analyze(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [program("systemd-analyze", "systemd"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name  # with a program that this machine has
    unit.write_text(
        re.sub("ExecStart=/opt/localarc/bin/localarc", "ExecStart=/bin/true", UNIT.read_text())
    )
    done = analyze("verify", "--man=no", unit)
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_rejects_a_misspelt_setting(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("ProtectHome=", "ProtectHomes="))
    assert "ProtectHomes" in analyze("verify", "--man=no", unit).stderr


def test_the_unit_exposes_less_than_two_of_ten_points() -> None:
    done = analyze("security", "--offline=yes", "--threshold=20", "--no-pager", UNIT)
    assert done.returncode == 0, done.stdout
