"""Output: results.json, results.csv, the figures and one report, all of them or none."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localarc.experiments.experiment import Drawing, Results
from localarc.reporting.assessment import jsonable, version
from localarc.reporting.files import staged
from localarc.reporting.html.markup import document, figure, figures, heading, paragraph, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = 7.0, 4.2
_PACKAGES = ("numpy", "numba", "matplotlib", "joblib")


def write(results: Results, folder: Path, command: str) -> list[Path]:
    """Write everything that an experiment came to; the paths, the report last."""
    with staged(folder) as place:
        names = ["results.json", "results.csv"]
        text = json.dumps(to_json(results, command), indent=1, allow_nan=False, ensure_ascii=False)
        (place / "results.json").write_text(text + "\n", encoding="utf-8")
        _write_csv(place / "results.csv", results.rows)
        for drawing in results.drawings():
            for kind in ("png", "svg"):
                name = f"{drawing.name}.{kind}"
                _drawn(drawing, results).savefig(place / name, dpi=160)
                names.append(name)
        (place / "report.html").write_text(render(results, command), encoding="utf-8")
    return [folder / name for name in (*names, "report.html")]


def to_json(results: Results, command: str) -> dict[str, Any]:
    """The results as JSON values; docs/experiments/README.md documents the keys."""
    experiment = results.experiment
    return {
        "format": "localarc experiment 1",
        "experiment": experiment.name,
        "question": experiment.question,
        "command": command,
        "plan": asdict(results.plan) | {"source": None},
        "data_sha256": results.data_sha256,
        "versions": versions(),
        "methods": {each.task.method: each.calibrator for each in results.outcomes},
        "findings": experiment.findings(results.rows),
        "rows": [jsonable(row) for row in results.rows],
        "certificates": [
            asdict(each.task) | jsonable(dict(each.certificate)) for each in results.outcomes
        ],
        "timing": {
            f"{each.task.method}, {each.task.trial}": round(each.seconds, 3)
            for each in results.outcomes
        },
    }


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return {"localarc": version(), "python": platform.python_version()} | packages


def render(results: Results, command: str) -> str:
    """The report: the claim, what was measured, what differs."""
    experiment = results.experiment
    tables = [heading(title, 3) + table(*made) for title, made in results.tables().items()]
    drawings = [
        figure(lambda axes, d=drawing: d.draw(axes, results), drawing.name, drawing.caption)  # type: ignore[misc]
        for drawing in results.drawings()
    ]
    return document(
        experiment.title,
        [
            heading(experiment.title, 1),
            paragraph(experiment.question),
            heading("What the paper reports"),
            paragraph(experiment.claim),
            heading("What we measured"),
            _list(experiment.findings(results.rows)),
            *tables,
            heading("Figures"),
            figures(drawings),
            heading("What differs from the paper"),
            _list(experiment.differs),
            heading("How this was made"),
            f"<p><code>{escape(command)}</code></p>",
            paragraph(
                ", ".join(f"{name} {number}" for name, number in versions().items())
                + f"; data SHA-256 {results.data_sha256[:16]}…",
                "soft",
            ),
        ],
    )


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def _drawn(drawing: Drawing, results: Results) -> Figure:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=_SIZE, layout="constrained")
    drawing.draw(drawn.subplots(), results)
    return drawn


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(jsonable(row) for row in rows)
