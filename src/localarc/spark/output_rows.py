"""Output: the rows that leave a bucket, good and bad, with what was learnt beside them."""

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


def output(events: Events, verdicts: Verdicts, learnt: dict[str, Any]) -> Any:
    """One row an event, as a pandas frame: what came, what was learnt, the rule that was broken."""
    import pandas

    columns: dict[str, Any] = {"key": events.keys(), "order": events.orders}
    columns |= {f"x{i}": column for i, column in enumerate(events.X.T)}
    columns |= {"value": events.values, **learnt}
    columns["rejected"] = [RULES[verdict].name or None for verdict in verdicts.tolist()]
    return pandas.DataFrame(columns)


def played_scores(bucket: Bucket, events: Events, good: Good) -> dict[str, Any]:
    """Let good events play, and give their columns; nothing stands beside the others."""
    part = events.take(good)
    thresholds, losses = bucket.play(part)
    covered = np.full(len(events), None, object)
    covered[good] = within(part.values, thresholds)
    return {
        "threshold": _spread(thresholds, good),
        "loss": _spread(losses, good),
        "covered": covered,
    }


def learnt_losses(bucket: Bucket, events: Events, good: Good) -> dict[str, Any]:
    """Learn the losses of good events, and give the column of their next thresholds."""
    return {"next_threshold": _spread(bucket.learn(events.take(good)), good)}


def _spread(values: FloatArray, good: Good) -> FloatArray:
    """One value for each good row, NaN for the others."""
    spread = np.full(len(good), np.nan)
    spread[good] = values
    return spread
