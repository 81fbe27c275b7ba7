"""The page: settings, results, guarantees and worst neighbourhoods of one or more runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from localarc import atomic_write
from localarc.kernels import Kernel
from localarc.measures import RISK, SIZE
from localarc.measures.text import mean_size, plus_minus
from localarc.reporting.assessment import (
    Assessment,
    Run,
    assess,
    describe_centre,
    feature_names,
)
from localarc.reporting.format import describe_bound, format_bound
from localarc.reporting.html import sections
from localarc.reporting.html.guarantees import guarantees
from localarc.reporting.html.markup import document, heading, paragraph, table
from localarc.reporting.neighbourhood import default_kernel
from localarc.streams import Stream


def write_report(
    path: str | os.PathLike[str],
    stream: Stream,
    runs: Sequence[Run],
    kernel: Kernel | None = None,
) -> None:
    """Write the report of one or more runs over a stream, as a single HTML file.

    Parameters
    ----------
    path : str or path-like
        File to write, or to replace.
    stream : Stream
        The stream that was replayed.
    runs : sequence of Run
        One per method, the main method first.
    kernel : Kernel, optional
        Defines neighbourhoods. Default: the kernel of the first L-ARC, else a Gaussian kernel with
        about a tenth of the rounds in a typical neighbourhood.

    Examples
    --------
    >>> import tempfile
    >>> from localarc import LARC, RBF, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), LARC(alpha=0.1, kernel=RBF(0.4))
    >>> record = replay(cal, stream.X, stream.curves, stream.groups)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/report.html", stream, [Run("L-ARC", cal, record)])
    """
    chosen = kernel or default_kernel(stream, [run.calibrator for run in runs])
    page = render(stream, [assess(stream, run, chosen) for run in runs])
    atomic_write.write(path, page.encode())


def render(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Return the page as text."""
    parts = [
        _head(stream, assessments[0]),
        heading("Summary") + _summary(stream, assessments),
        heading("Running risk") + sections.running_risk(assessments),
        heading("Guarantees") + "".join(guarantees(stream, item) for item in assessments),
        heading("Groups") + sections.groups(assessments),
        heading("Thresholds") + sections.thresholds(stream, assessments),
        heading("Worst neighbourhoods") + sections.neighbourhoods(stream, assessments),
    ]
    return document(f"{stream.name}: online risk control", parts)


def _head(stream: Stream, first: Assessment) -> str:
    """Return the title, the verdict on the main method, its tightest bound, and the stream."""
    names = feature_names(stream)
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    rounds = "1 round" if len(stream) == 1 else f"{len(stream):,} rounds"
    return (
        heading(stream.name, 1)
        + paragraph(first.verdict.text, "verdict" if first.verdict.good else "verdict bad")
        + "".join(paragraph(text, "bad") for text in first.run.record.warnings)
        + paragraph(describe_bound(first.certificate))
        + paragraph(
            f"{first.run.name}, {rounds} "
            + (
                f"with the feature{'s' * (len(names) > 1)} {shown}." if names else "and no feature."
            ),
            "soft",
        )
    )


def _summary(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Return the table of methods and their settings."""
    head = ["method", "verdict", "rounds", RISK.title, "target", "bound", SIZE.title, "worst group"]
    rows = [_row(item, feature_names(stream)) for item in assessments]
    settings = [f"<br><code>{escape(item.run.record.calibrator)}</code>" for item in assessments]
    return (
        table([*head, "worst neighbourhood"], rows)
        + paragraph(
            f"{RISK.about} The bound limits its distance from the target. Errors are standard "
            "errors that treat rounds as independent.",
            "soft",
        )
        + f'<p class="soft">Settings:{"".join(settings)}</p>'
    )


def _row(assessment: Assessment, names: Sequence[str]) -> list[str]:
    """Return the row of one method."""
    group, place = "no groups", "too few rounds"
    if assessment.groups:
        row = assessment.groups[-1]
        group = f"{row.group}: {plus_minus(row.risk, row.standard_error)}"
    if assessment.worst:
        worst = assessment.worst[0]
        at = describe_centre(worst, names)
        place = f"{at}: {plus_minus(worst.risk, worst.standard_error)}"
    return [
        assessment.run.name,
        assessment.verdict.text,
        f"{len(assessment.run.record):,}",
        RISK.text(assessment.certificate.risk),
        f"{assessment.certificate.alpha:g}",
        format_bound(assessment.certificate.bound),
        mean_size(assessment.size, assessment.run.record.unbounded),
        group,
        place,
    ]
