"""Sections: the figures of a report, each with what is to be seen in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from localarc import figures
from localarc.metrics import Neighbourhood
from localarc.record import Record
from localarc.reporting.assessment import Assessment, Run, feature_names
from localarc.reporting.format import number, place_words, plus_minus
from localarc.reporting.html.markup import figure, paragraph, table
from localarc.reporting.html.markup import figures as side_by_side
from localarc.streams import Stream
from localarc.validation import FloatArray

_MAPPED = 3000  # inputs at which the threshold function is shown
_MOST_GROUPS = 50


def running_risk(assessments: Sequence[Assessment]) -> str:
    """The mean loss against the target, with what the certificate promised of it."""
    records = _records(assessments)
    bands = {
        each.run.name: figures.promised_band(
            each.run.calibrator, each.run.record, figures.shown_rounds(len(each.run.record))
        )
        for each in assessments
    }
    caption = (
        "The mean loss up to each round. Dotted lines bound it, from the certificate of each "
        "method, for any data that keep its assumptions."
    )
    return figure(lambda axes: figures.running_risk(axes, records, bands), "risk", caption)


def groups(assessments: Sequence[Assessment]) -> str:
    """Risk and set size by group, drawn and in numbers."""
    records = _records(assessments)
    drawings = [
        figure(
            lambda axes: figures.group_risk(axes, records),
            "group-risk",
            "The mean loss in each group, with standard errors.",
        )
    ]
    if any(np.isfinite(record.sizes).any() for record in records.values()):
        drawings.append(
            figure(
                lambda axes: figures.group_size(axes, records),
                "group-size",
                "The mean set size in each group, with standard errors.",
            )
        )
    return side_by_side(drawings) + _group_table(assessments)


def _group_table(assessments: Sequence[Assessment]) -> str:
    first = assessments[0].groups
    if not first:
        return paragraph("No groups were given, so all rounds are one group.", "soft")
    rows = [{row.group: row for row in each.groups} for each in assessments]
    shown = first[-_MOST_GROUPS:]
    head = [cell for each in assessments for cell in _group_head(each.run.name)]
    body = [
        [str(row.group), f"{row.count:,}"]
        + [
            cell
            for by_group in rows
            for cell in (
                plus_minus(by_group[row.group].risk, by_group[row.group].standard_error),
                number(by_group[row.group].size),
            )
        ]
        for row in shown
    ]
    left = len(first) - len(shown)
    note = paragraph(f"{left} groups of lower risk are left out.", "soft") if left else ""
    return table(["group", "rounds", *head], body) + note


def _group_head(name: str) -> tuple[str, str]:
    return f"risk, {name}", f"size, {name}"


def thresholds(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Thresholds over time, and the threshold functions at the end over the first features."""
    records = _records(assessments)
    drawings = [
        figure(
            lambda axes: figures.threshold_over_time(axes, records),
            "time",
            "The threshold of each round.",
        )
    ]
    notes = ""
    at = stream.X[-_MAPPED:]
    for i, each in enumerate(assessments):
        values = _current(each.run, stream)
        if np.ptp(values) == 0.0:
            notes += paragraph(
                f"{each.run.name} answers every input with the same threshold, now "
                f"{number(float(values[0]))}.",
                "soft",
            )
            continue
        draw = partial(
            figures.threshold_map, X=at, thresholds=values, features=feature_names(stream)
        )
        caption = (
            f"The threshold that {each.run.name} would give next, at the latest {len(at):,} inputs"
            + (", averaged over all but the first two features." if at.shape[1] > 2 else ".")
        )
        drawings.append(figure(partial(draw, name=each.run.name), f"map{i}", caption))
    return side_by_side(drawings) + notes


def _current(run: Run, stream: Stream) -> FloatArray:
    """The threshold function of the next round, at the latest inputs."""
    at = stream.X[-_MAPPED:]
    if "groups" in run.calibrator.learns_from:
        return np.asarray(
            run.calibrator.threshold_function(at, (run.record.groups or ())[-_MAPPED:])
        )
    return np.asarray(run.calibrator.threshold_function(at))


def neighbourhoods(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Where the promise fails, or comes closest to failing."""
    if not any(each.worst for each in assessments):
        return paragraph(
            "No neighbourhood holds enough rounds to tell a bad place from bad luck. More rounds "
            "or a larger length scale would show some.",
            "soft",
        )
    names = feature_names(stream)
    drawings, rows = [], []
    for i, each in enumerate(assessments):
        draw = partial(
            figures.neighbourhoods,
            X=stream.X,
            worst=each.worst,
            alpha=each.certificate.alpha,
            features=names,
            name=each.run.name,
        )
        caption = f"Where {each.run.name} has the highest risk that chance does not explain."
        drawings.append(figure(draw, f"places{i}", caption))
        rows += [_place(rank, each, place, names) for rank, place in enumerate(each.worst, 1)]
    head = ["method", "rank", "centre", "risk nearby", "rounds nearby"]
    return side_by_side(drawings) + table(head, rows)


def _place(
    rank: int, each: Assessment, place: Neighbourhood, names: Sequence[str]
) -> tuple[str, ...]:
    risk = plus_minus(place.risk, place.standard_error)
    return each.run.name, str(rank), place_words(place, names), risk, f"{place.count:,.0f}"


def _records(assessments: Sequence[Assessment]) -> dict[str, Record]:
    return {each.run.name: each.run.record for each in assessments}
