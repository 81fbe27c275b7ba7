"""Reports: results.json, results.csv, the figures and report.html, all of them or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from localarc.figures.canvas import save_picture
from localarc.figures.palette import INK
from localarc.reporting.assessment import jsonable
from localarc.reporting.files import staged
from localarc.reporting.html.markup import document, figure, figures, heading, paragraph, table
from localarc.reporting.provenance import versions
from localarc.tables.csv import write_csv
from localarc.tables.from_rows import columns_from
from localarc_lab.experiments.experiment import Data, FigureSpec, Results, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUICK = "Quick run on a small part of the data: not the experiment's result"
_SIZE = 7.0, 4.2  # inches


def write(results: Results[Data, Setting], folder: Path, command: str) -> list[Path]:
    """Write the results, the figures and the report to a folder.

    Parameters
    ----------
    results : Results
        The results of a run.
    folder : Path
        Output folder. If anything fails, its files stay as they were.
    command : str
        The command that gives the same results, for the report.

    Returns
    -------
    list of Path
        The files written; the report is the last.

    Examples
    --------
    >>> import tempfile
    >>> from localarc_lab.experiments import EXPERIMENTS, Plan, run
    >>> plan = Plan(quick=True, trials=1, methods=("ARC",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(EXPERIMENTS["polyps"], plan, folder)
    ...     paths = write(results, Path(folder), "localarc reproduce polyps --quick")
    >>> [path.name for path in paths[:2]], paths[-1].name
    (['results.json', 'results.csv'], 'report.html')
    """
    with staged(folder) as staging:
        names = ["results.json", "results.csv"]
        text = json.dumps(_to_json(results, command), indent=1, allow_nan=False, ensure_ascii=False)
        (staging / "results.json").write_text(text + "\n", encoding="utf-8")
        write_csv(staging / "results.csv", columns_from(jsonable(results.rows)))
        for spec in results.figures():
            for extension in ("png", "svg"):
                path = staging / f"{spec.name}.{extension}"
                drawn = save_picture(path, _SIZE, partial(_draw, spec=spec, results=results))
                names += [file.name for file in drawn]
        (staging / "report.html").write_text(_render(results, command), encoding="utf-8")
    return [folder / name for name in (*names, "report.html")]


def _to_json(results: Results[Data, Setting], command: str) -> dict[str, object]:
    """The results as JSON values; docs/experiments/README.md documents the keys."""
    experiment, outcomes = results.experiment, results.outcomes
    return {
        "format": "localarc experiment 1",
        "experiment": experiment.name,
        "question": experiment.question,
        "command": command,
        "plan": asdict(results.plan),
        "options": experiment.portable_options(),
        "data_sha256": results.data_sha256,
        "versions": versions(),
        "methods": {outcome.task.method: outcome.calibrator for outcome in outcomes},
        "findings": experiment.findings(results.rows),
        "rows": [jsonable(row) for row in results.rows],
        "certificates": [
            outcome.task.description() | jsonable(dict(outcome.certificate)) for outcome in outcomes
        ],
        "timing": [
            outcome.task.description() | {"seconds": round(outcome.seconds, 3)}
            for outcome in outcomes
        ],
    }


def _render(results: Results[Data, Setting], command: str) -> str:
    """The report as HTML: the claim, what was measured, what differs from the paper."""
    experiment = results.experiment
    tables = [heading(title, 3) + table(*content) for title, content in results.tables().items()]
    drawn = [
        figure(lambda axes, s=spec: _drawn(axes, s, results), spec.name, spec.caption)  # type: ignore[misc]
        for spec in results.figures()
    ]
    return document(
        experiment.title,
        [
            heading(experiment.title, 1),
            paragraph(experiment.question),
            *([paragraph(f"{QUICK}.")] if results.plan.quick else []),
            heading("What the paper reports"),
            paragraph(experiment.claim),
            heading("What we measured"),
            _list(experiment.findings(results.rows)),
            *tables,
            heading("Figures"),
            figures(drawn),
            heading("What differs from the paper"),
            _list(experiment.differences),
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


def _draw(figure: Figure, spec: FigureSpec[Data, Setting], results: Results[Data, Setting]) -> None:
    _drawn(figure.subplots(), spec, results)


def _drawn(axes: Axes, spec: FigureSpec[Data, Setting], results: Results[Data, Setting]) -> Axes:
    """The figure, which says below it if the run was a quick one."""
    found = spec.draw(axes, results)
    if results.plan.quick and (drawing := axes.get_figure()) is not None:
        drawing.supxlabel(QUICK, x=0.99, ha="right", fontsize=8, color=INK)
    return found
