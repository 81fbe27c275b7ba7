"""The jobs of docs/jobs, run as a reader would run them: the scripts and notebooks of the site.

`python -m benchmarks.jobs [NAME ...]` runs them and prints what each takes. With `--write`, what a
page's code prints goes into its `text` blocks, and its picture into docs/jobs. It requires
`pip install 'localarc[jobs]'` and two minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import runpy
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "jobs"
PAGES = {page.stem: page for page in sorted(FOLDER.glob("*.md")) if page.stem != "index"}
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "site" / "hooks" / "jobs.py"))
BETWEEN = "\x1e"  # the record separator: no page prints it
LONGEST = 300.0  # seconds until a run that hangs is given up


@dataclass(frozen=True)
class Run:
    """What a job printed, the pictures that it drew by name, and its processor time."""

    output: str
    pictures: dict[str, bytes]
    seconds: float


def run(code: str) -> Run:
    """Run a script in a folder of its own."""
    before = _seconds_of_children()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.py").write_text(code, encoding="utf-8")
        output = _output_of([sys.executable, "job.py"], folder, MPLBACKEND="Agg")
        return Run(output, _pictures(folder), _seconds_of_children() - before)


def run_notebook(content: str) -> Run:
    """Run a notebook in a kernel of its own, as Jupyter does."""
    before = _seconds_of_children()
    with tempfile.TemporaryDirectory() as folder:
        notebook = Path(folder, "job.ipynb")
        notebook.write_text(content, encoding="utf-8")
        command = [sys.executable, "-m", "jupyter", "execute", "--inplace", notebook.name]
        _output_of(command, folder, IPYTHONDIR=folder)
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        printed = "".join("".join(output["text"]) for output in outputs if _is_printed(output))
        return Run(printed, _pictures(folder), _seconds_of_children() - before)


def _output_of(command: list[str], folder: str, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    if done.returncode:
        raise RuntimeError(f"{done.stdout}\n{done.stderr}")
    return done.stdout


def _is_printed(output: dict[str, object]) -> bool:
    return output["output_type"] == "stream" and output["name"] == "stdout"


def _pictures(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.png")}


def filled(page: str) -> tuple[str, Run]:
    """The page with a `text` block below each block of code that prints, and the run."""
    cells = [cell for cell in TOOL["cells"](page) if cell.kind != "text"]
    code = [cell.text for cell in cells if cell.kind == "python"]
    found = run("\n".join(f"{text}\nprint({BETWEEN!r}, end='')" for text in code))
    outputs = iter(found.output.split(BETWEEN))
    parts = []
    for cell in cells:
        if cell.kind == "prose":
            parts.append(cell.text)
        else:
            parts.append(f"```{cell.kind}\n{cell.text}\n```")
        if cell.kind == "python" and (output := next(outputs)):
            parts.append(f"```text\n{output.rstrip()}\n```")
    return "\n\n".join(parts) + "\n", found


def main() -> None:
    """Run the chosen pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="jobs to run; all by default")
    parser.add_argument("--write", action="store_true", help="store outputs and pictures")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(PAGES):
        parser.error(f"no such job: {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    for name in chosen.names or PAGES:
        page, found = filled(PAGES[name].read_text(encoding="utf-8"))
        print(f"{name}: {found.seconds:.1f} s of processor time")
        if chosen.write:
            PAGES[name].write_text(page, encoding="utf-8")
            for picture, content in found.pictures.items():
                (FOLDER / picture).write_bytes(content)


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
