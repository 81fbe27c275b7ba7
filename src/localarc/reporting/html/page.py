"""The page: what was run, what it came to, what is promised, and where that fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from localarc import atomic_write
from localarc.calibrators.larc import LARC
from localarc.kernels import Kernel
from localarc.reporting.assessment import Assessment, Run, assess, feature_names
from localarc.reporting.format import number, place_words, plus_minus, promised
from localarc.reporting.html import sections
from localarc.reporting.html.markup import document, heading, paragraph, table
from localarc.reporting.html.promise import promise
from localarc.streams import Stream


def write_report(
    path: str | os.PathLike[str],
    stream: Stream,
    runs: Sequence[Run],
    kernel: Kernel | None = None,
) -> None:
    """Write the report of one or more runs over a stream as a single HTML file.

    `kernel` says what a neighbourhood is; without one it is that of the first L-ARC.
    """
    kernels = [run.calibrator.kernel for run in runs if isinstance(run.calibrator, LARC)]
    seen = kernel or next((each for each in kernels if each is not None), None)
    page = render(stream, [assess(stream, run, seen) for run in runs])
    atomic_write.write(path, page.encode())


def render(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """The page as text; nothing in it is fetched from anywhere."""
    parts = [
        _head(stream, assessments[0]),
        heading("Summary") + _summary(stream, assessments),
        heading("Running risk") + sections.running_risk(assessments),
        heading("What is promised") + "".join(promise(each) for each in assessments),
        heading("By group") + sections.groups(assessments),
        heading("Thresholds") + sections.thresholds(stream, assessments),
        heading("Worst neighbourhoods") + sections.neighbourhoods(stream, assessments),
    ]
    return document(f"{stream.name}: online risk control", parts)


def _head(stream: Stream, first: Assessment) -> str:
    names = feature_names(stream)
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    rounds = "1 round" if len(stream) == 1 else f"{len(stream):,} rounds"
    return heading(stream.name, 1) + paragraph(
        f"{rounds} with the feature{'s' if len(names) > 1 else ''} {shown}. {first.run.name} was "
        f"asked for a mean loss of {first.certificate.alpha:g} and came to "
        f"{first.certificate.risk:.4f}."
    )


def _summary(stream: Stream, assessments: Sequence[Assessment]) -> str:
    head = ["method", "rounds", "risk", "target", "bound", "mean size", "worst group"]
    rows = [_row(each, feature_names(stream)) for each in assessments]
    settings = [f"<br><code>{escape(each.run.record.calibrator)}</code>" for each in assessments]
    return (
        table([*head, "worst neighbourhood"], rows)
        + paragraph(
            "Risk is the mean loss; the bound is on its distance from the target. Errors are "
            "standard errors as if rounds were independent.",
            "soft",
        )
        + f'<p class="soft">As run:{"".join(settings)}</p>'
    )


def _row(each: Assessment, names: Sequence[str]) -> list[str]:
    group, place = "no groups", "too few rounds"
    if each.groups:
        row = each.groups[-1]
        group = f"{row.group}: {plus_minus(row.risk, row.standard_error)}"
    if each.worst:
        worst = each.worst[0]
        at = place_words(worst, names)
        place = f"{at}: {plus_minus(worst.risk, worst.standard_error)}"
    return [
        each.run.name,
        f"{len(each.run.record):,}",
        f"{each.certificate.risk:.4f}",
        f"{each.certificate.alpha:g}",
        promised(each.certificate.bound),
        number(each.size),
        group,
        place,
    ]
