"""Settings that are checked before any row is read."""

from __future__ import annotations

from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel.kinds import Prototype, is_auto


def rejects_bad_rows(bad_rows: str) -> bool:
    """Whether bad rows are returned; raises ValueError unless that was said."""
    if bad_rows not in ("fail", "reject"):
        raise ValueError(f'bad_rows must be "fail" or "reject", got {bad_rows!r}.')
    return bad_rows == "reject"


def check_settings(
    columns: Columns, calibrator: Prototype, limits: Limits, *, delays: bool
) -> None:
    """Raise unless columns, calibrator and limits go together; `delays` as in `Limits.check`."""
    limits.check(columns, delays)
    panel = Panel(calibrator)  # raises unless it is a new ARC, LARC or AutoLARC
    if not columns.given_losses and calibrator.loss_bound < 1.0:
        raise ValueError(
            f"a score above the threshold costs 1, and the calibrator's loss bound is "
            f"{calibrator.loss_bound}. Construct it with loss_bound=1.0, or pass losses."
        )
    if is_auto(calibrator):
        if columns.given_losses:
            calibrator.checked_score(None)  # raises if thresholds would have no unit or no floor
        return
    if not panel.ignores_inputs and not columns.features:
        raise ValueError(
            "a calibrator with a kernel requires features, and none were named. "
            'Name them, e.g. features=["x1", "x2"], or use ARC.'
        )
