"""The rows that a bucket returns, good and bad, with thresholds and violated rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves.scores import within
from localarc.spark.bucket import Bucket
from localarc.spark.events import Events
from localarc.spark.validation import RULES, Verdicts
from localarc.validation import FloatArray

Good = NDArray[np.bool_]


def output_rows(events: Events, verdicts: Verdicts, results: dict[str, Any]) -> Any:
    """One row per event, as a pandas frame: the input, the results, the violated rule."""
    import pandas

    columns: dict[str, Any] = {"key": events.keys(), "order": events.orders}
    columns |= {f"x{i}": column for i, column in enumerate(events.X.T)}
    columns |= {"value": events.values, **results}
    columns["rejected"] = [RULES[verdict].name or None for verdict in verdicts.tolist()]
    return pandas.DataFrame(columns)


def replay_scores(bucket: Bucket, events: Events, good: Good) -> dict[str, Any]:
    """Replay the good events, and return their result columns; the others are empty."""
    part = events.take(good)
    thresholds, losses = bucket.play(part)
    covered = np.full(len(events), None, object)
    covered[good] = within(part.values, thresholds)
    return {
        "threshold": _fill(thresholds, good),
        "loss": _fill(losses, good),
        "covered": covered,
    }


def learn_losses(bucket: Bucket, events: Events, good: Good) -> dict[str, Any]:
    """Learn the losses of good events, and return the column of next thresholds."""
    return {"next_threshold": _fill(bucket.learn(events.take(good)), good)}


def _fill(values: FloatArray, good: Good) -> FloatArray:
    """One value for each good row, NaN for the others."""
    spread = np.full(len(good), np.nan)
    spread[good] = values
    return spread
