"""The electricity experiment through the command, as a user runs it."""

import csv
import os
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from experiments.commands import assert_one_sentence, reproduce, results, written
from localarc_lab.experiments import Electricity, Plan, run

pytestmark = pytest.mark.usefixtures("elec2")
METHODS = "ARC,L-ARC l=1,Mondrian"
FEW = ["--quick", "--jobs", "1", "--methods", METHODS]


@pytest.fixture(scope="module")
def finished(elec2: str, tmp_path_factory: Any) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("electricity")
    done = reproduce("electricity", out, *FEW)
    assert done.exit_code == 0, done.stderr
    return out, done


def test_a_quick_run_writes_every_file_it_lists(finished: tuple[Path, Result]) -> None:
    out, done = finished
    assert len(written(done)) == 11
    for path in written(done):
        assert path.stat().st_size > 500
    found = results(out)
    assert found["command"] == (
        "localarc reproduce electricity --seed 0 --quick --methods 'ARC,L-ARC l=1,Mondrian'"
    )
    assert len(found["data_sha256"]) == 64
    assert {"localarc", "numpy", "python"} <= set(found["versions"])
    with (out / "results.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(found["rows"]) == 2 * 3 * 3 * 10
    assert found["rows"][0]["risk"] == float(table[0]["risk"])


def test_the_rows_add_up(finished: tuple[Path, Result]) -> None:
    rows = results(finished[0])["rows"]
    for split in ("alternating", "forward"):
        for evaluation in ("online", "average", "last"):
            chosen = {
                row["group"]: row
                for row in rows
                if (row["split"], row["evaluation"], row["method"]) == (split, evaluation, "ARC")
            }
            total = sum(chosen[g]["rounds"] * chosen[g]["risk"] for g in ("weekday", "weekend"))
            assert total / chosen["all"]["rounds"] == pytest.approx(chosen["all"]["risk"])
            assert chosen["all"]["difference_to_arc"] is None
    online = [r for r in rows if r["evaluation"] == "online" and r["group"] == "all"]
    for row in online:
        assert abs(row["risk"] - 0.1) < 0.03
    other = next(r for r in rows if r["method"] == "L-ARC l=1" and r["group"] == "weekend")
    assert other["difference_low"] <= other["difference_to_arc"] <= other["difference_high"]


def test_the_certificates_hold(finished: tuple[Path, Result]) -> None:
    certificates = results(finished[0])["certificates"]
    assert len(certificates) == 6
    for certificate in certificates:
        assert certificate["consistent"]
        for bound in certificate["bounds"]:
            if bound["holds"]:
                assert abs(certificate["risk"] - 0.1) <= bound["value"]


class Page(HTMLParser):
    """What a browser would fetch, and the text it would show."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.text = ""
        self.drawings = 0

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.drawings += tag == "svg"
        self.fetched += [v for k, v in attributes if k in ("src", "href") and not v.startswith("#")]

    def handle_data(self, text: str) -> None:
        self.text += text


def test_the_report_has_the_claim_the_measurements_and_the_differences(
    finished: tuple[Path, Result],
) -> None:
    page = Page()
    page.feed((finished[0] / "report.html").read_text())
    assert page.drawings == 4
    assert [target for target in page.fetched if "xlink" not in target] == []
    for words in ("What the paper reports", "What we measured", "What differs from the paper"):
        assert words in page.text
    assert "released code's 2, 1, 0.5 are l = 4, 1, 0.25" in page.text
    assert "L-ARC l=1: long-run miscoverage" in page.text


def test_the_numbers_do_not_depend_on_the_number_of_jobs(
    finished: tuple[Path, Result], tmp_path: Path
) -> None:
    parallel = run(Electricity(), Plan(quick=True, methods=tuple(METHODS.split(","))), tmp_path, 2)
    assert list(parallel.rows) == results(finished[0])["rows"]


def test_a_killed_run_resumes_where_it_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "localarc.cli", "reproduce", "electricity"]
    child = subprocess.Popen(
        [*command, "--out", str(tmp_path), *FEW],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("tasks/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    kept = len(list(tmp_path.glob("tasks/*.npz")))
    assert 1 <= kept <= 6
    assert not (tmp_path / "results.json").exists() or kept == 6
    plan = Plan(quick=True, methods=tuple(METHODS.split(",")))
    resumed = run(Electricity(), plan, tmp_path)
    assert resumed.reused == kept
    assert len(resumed.rows) == 180


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--methods", "ARC,LARC"], "no method 'LARC'"),
        (["--trials", "3"], "nothing in it is random"),
        (["-o", "data=nowhere.csv"], "is not Elec2"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    assert_one_sentence(reproduce("electricity", tmp_path, "--quick", *options), words, tmp_path)


def test_other_length_scales_can_be_chosen(tmp_path: Path) -> None:
    plan = Plan(quick=True, length_scales=(3.0,), methods=("ARC", "L-ARC l=3"))
    found = run(Electricity(), plan, tmp_path)
    assert {row["method"] for row in found.rows} == {"ARC", "L-ARC l=3"}
    assert np.isfinite([row["risk"] for row in found.rows]).all()
