"""Sections: the figures of a report, with captions and tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from localarc import figures, measures
from localarc.measures import Neighbourhood
from localarc.measures.text import number, plus_minus
from localarc.reporting.assessment import Assessment, Run, describe_centre, feature_names
from localarc.reporting.format import omitted_groups
from localarc.reporting.html.markup import figure, paragraph, table
from localarc.reporting.html.markup import figures as side_by_side
from localarc.running.record import Record
from localarc.streams import Stream
from localarc.validation import FloatArray

_MAP_INPUTS = 3000  # number of inputs at which the threshold function is shown
_MAX_GROUPS = 50


def running_risk(assessments: Sequence[Assessment]) -> str:
    """Return the figure of the running risk, with the bounds of the certificates."""
    records = _records(assessments)
    bands = {assessment.run.name: _band(assessment.run) for assessment in assessments}
    caption = (
        "Mean loss up to each round."
        + " The dotted lines are the bounds of the certificates, for any data that satisfy the "
        "assumptions." * any(np.isfinite(band).any() for band in bands.values())
    )
    return figure(lambda axes: figures.running_risk(axes, records, bands), "risk", caption)


def _band(run: Run) -> FloatArray:
    """Return the bound at each shown round; infinity everywhere if the risk ever passed it."""
    rounds = figures.shown_rounds(len(run.record))
    band = figures.bound_over_time(run.calibrator, run.record, rounds)
    distance = measures.distance_to_target(run.record.losses, run.record.alpha)[rounds - 1]
    return np.full(len(band), np.inf) if (distance > band + 1e-9).any() else band


def groups(assessments: Sequence[Assessment]) -> str:
    """Return the figures and the table of risk and set size per group."""
    records = _records(assessments)
    drawings = [
        figure(
            lambda axes: figures.group_risk(axes, records),
            "group-risk",
            "Mean loss per group, with standard errors.",
        )
    ]
    if any(np.isfinite(record.sizes).any() for record in records.values()):
        drawings.append(
            figure(
                lambda axes: figures.group_size(axes, records),
                "group-size",
                "Mean set size per group, with standard errors.",
            )
        )
    return side_by_side(drawings) + _group_table(assessments)


def _group_table(assessments: Sequence[Assessment]) -> str:
    """Return risk and set size per group, for every method."""
    first = assessments[0].groups
    if not first:
        return paragraph("The stream has no groups; all rounds are shown as one.", "soft")
    rows = [{row.group: row for row in item.groups} for item in assessments]
    shown = first[-_MAX_GROUPS:]
    head = [cell for item in assessments for cell in _group_head(item.run.name)]
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
    note = paragraph(f"{omitted_groups(left)}.", "soft") if left else ""
    return table(["group", "rounds", *head], body) + note


def _group_head(name: str) -> tuple[str, str]:
    """Return the column heads of one method."""
    return f"risk, {name}", f"size, {name}"


def thresholds(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Return thresholds over time, and the final threshold function of every method."""
    records = _records(assessments)
    drawings = [
        figure(
            lambda axes: figures.threshold_over_time(axes, records),
            "time",
            "Threshold of each round.",
        )
    ]
    notes = ""
    for i, assessment in enumerate(assessments):
        name, values = assessment.run.name, _next_thresholds(assessment.run, stream)
        if not np.isfinite(values).all():
            notes += paragraph(f"{name} has seen too few scores for a threshold.", "soft")
        elif np.ptp(values) == 0.0 or not stream.X.shape[1]:
            notes += paragraph(_in_words(name, values), "soft")
        else:
            drawings.append(_map(f"map{i}", name, values, stream))
    return side_by_side(drawings) + notes


def _in_words(name: str, values: FloatArray) -> str:
    """Describe next thresholds that do not depend on features."""
    low, high = number(float(values.min())), number(float(values.max()))
    if low == high:
        return f"{name} has the same threshold for every input, currently {low}."
    return f"The next threshold of {name} depends on the group: it lies between {low} and {high}."


def _map(identifier: str, name: str, values: FloatArray, stream: Stream) -> str:
    """Return the figure of the next thresholds at the latest inputs."""
    at = stream.X[-_MAP_INPUTS:]
    caption = f"Next threshold of {name} at the latest {len(at):,} inputs" + (
        ", averaged over all but the first two features." if at.shape[1] > 2 else "."
    )
    return figure(
        partial(
            figures.threshold_map,
            X=at,
            thresholds=values,
            features=feature_names(stream),
            name=name,
        ),
        identifier,
        caption,
    )


def _next_thresholds(run: Run, stream: Stream) -> FloatArray:
    """Return the threshold function of the next round at the latest inputs."""
    at = stream.X[-_MAP_INPUTS:]
    if "groups" in run.calibrator.learns_from and run.record.groups is not None:
        return np.asarray(run.calibrator.threshold_function(at, run.record.groups[-_MAP_INPUTS:]))
    return np.asarray(run.calibrator.threshold_function(at))


def neighbourhoods(stream: Stream, assessments: Sequence[Assessment]) -> str:
    """Return the figures and the table of the neighbourhoods with the highest risk."""
    if not stream.X.shape[1]:
        return paragraph("The stream has no features, hence no neighbourhoods.", "soft")
    if not any(assessment.worst for assessment in assessments):
        return paragraph(
            "No neighbourhood has enough rounds for a reliable estimate. Use more rounds or a "
            "larger length scale.",
            "soft",
        )
    names = feature_names(stream)
    drawings, rows = [], []
    for i, assessment in enumerate(assessments):
        draw = partial(
            figures.neighbourhoods,
            X=stream.X,
            worst=assessment.worst,
            alpha=assessment.certificate.alpha,
            features=names,
            name=assessment.run.name,
        )
        caption = f"Neighbourhoods in which {assessment.run.name} has the highest risk."
        drawings.append(figure(draw, f"places{i}", caption))
        rows += [
            _place(rank, assessment, place, names) for rank, place in enumerate(assessment.worst, 1)
        ]
    head = ["method", "rank", "centre", "risk", "effective rounds"]
    return side_by_side(drawings) + table(head, rows)


def _place(
    rank: int, assessment: Assessment, place: Neighbourhood, names: Sequence[str]
) -> tuple[str, ...]:
    """Return the row of one neighbourhood."""
    risk = plus_minus(place.risk, place.standard_error)
    return (
        assessment.run.name,
        str(rank),
        describe_centre(place, names),
        risk,
        f"{place.count:,.0f}",
    )


def _records(assessments: Sequence[Assessment]) -> dict[str, Record]:
    """Return the records by method."""
    return {assessment.run.name: assessment.run.record for assessment in assessments}
