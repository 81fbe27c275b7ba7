"""`localarc reproduce` inside the test's process."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from localarc.cli import main


def reproduce(name: str, out: Path, *options: str) -> Result:
    """Run the command; the result has exit_code, stdout and stderr."""
    return CliRunner().invoke(main, ["reproduce", name, "--out", str(out), *options])


def assert_one_sentence(done: Result, words: str, out: Path) -> None:
    """The command failed with one line on standard error and wrote nothing."""
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not (out / "results.json").exists()


def results(folder: Path) -> dict[str, Any]:
    """What results.json holds."""
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return loaded


def written(done: Result) -> list[Path]:
    """The files that the command says it wrote."""
    lines = done.stdout.splitlines()
    return [Path(line.removeprefix("wrote ")) for line in lines if line.startswith("wrote ")]
