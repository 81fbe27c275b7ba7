"""The electricity experiment through the command, as a user runs it."""

import csv
import json
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

pytestmark = pytest.mark.usefixtures("elec2")
FEW = ["--methods", "ARC,L-ARC l=1,Mondrian"]


def reproduce(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "localarc.cli", "reproduce", "electricity", "--quick"]
    return subprocess.run(
        [*command, "--out", str(out), *options], capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def finished(elec2: str, tmp_path_factory: Any) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("electricity")
    done = reproduce(out, "--jobs", "1", *FEW)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def results(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return loaded


def test_a_quick_run_leaves_everything_it_names(finished: tuple[Path, str]) -> None:
    out, printed = finished
    names = [line.removeprefix("wrote ") for line in printed.splitlines() if "wrote" in line]
    assert len(names) == 11
    for name in names:
        assert Path(name).stat().st_size > 500
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


def test_the_rows_add_up(finished: tuple[Path, str]) -> None:
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


def test_the_certificates_hold(finished: tuple[Path, str]) -> None:
    certificates = results(finished[0])["certificates"]
    assert len(certificates) == 6
    for certificate in certificates:
        assert certificate["identity_holds"]
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


def test_the_report_says_the_claim_the_measurement_and_the_difference(
    finished: tuple[Path, str],
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
    finished: tuple[Path, str], tmp_path: Path
) -> None:
    assert reproduce(tmp_path, "--jobs", "2", *FEW).returncode == 0
    one, two = results(finished[0]), results(tmp_path)
    assert one.pop("timing").keys() == two.pop("timing").keys()
    assert one == two


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "localarc.cli", "reproduce", "electricity", "--quick"]
    child = subprocess.Popen(
        [*command, "--out", str(tmp_path), "--jobs", "1", *FEW],
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
    done = reproduce(tmp_path, "--jobs", "1", *FEW)
    assert f"{kept} task(s) were finished before" in done.stdout
    assert len(results(tmp_path)["rows"]) == 180


def test_a_damaged_task_is_run_again(finished: tuple[Path, str]) -> None:
    out = finished[0]
    before = results(out)
    victim = next(iter(out.glob("tasks/*.npz")))
    victim.write_bytes(victim.read_bytes()[:100])
    done = reproduce(out, "--jobs", "1", *FEW)
    assert "5 task(s) were finished before" in done.stdout
    after = results(out)
    before.pop("timing")
    after.pop("timing")
    assert before == after


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--methods", "ARC,LARC"], "there is no method 'LARC'"),
        (["--length-scales", "one"], "expected numbers"),
        (["--trials", "3"], "nothing in this experiment is random"),
        (["--data", "nowhere.csv"], "is not Elec2"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    done = reproduce(tmp_path / "out", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "results.json").exists()


def test_other_length_scales_can_be_asked_for(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "--length-scales", "3", "--methods", "ARC,L-ARC l=3", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert set(results(tmp_path)["methods"]) == {"ARC", "L-ARC l=3"}
    assert np.isfinite([row["risk"] for row in results(tmp_path)["rows"]]).all()
