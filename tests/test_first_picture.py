"""README's first picture: what it says is so."""

from __future__ import annotations

from localarc.cli.demo import pictured, play
from localarc.metrics import group_risk
from localarc.streams import heteroscedastic

STREAM = heteroscedastic(6000, seed=0)  # the defaults of `localarc demo`


def _standard_errors(name: str) -> dict[object, float]:
    """How far each third is from the target, in standard errors."""
    calibrator = pictured()[name]
    record = play(STREAM, calibrator)
    rows = group_risk(record.losses, STREAM.groups or ())
    return {row.group: (row.risk - calibrator.alpha) / row.standard_error for row in rows}


def test_autolarc_is_within_one_standard_error_of_the_target_in_every_third() -> None:
    found = _standard_errors("AutoLARC")
    assert set(found) == {"easy", "middle", "hard"}
    assert max(map(abs, found.values())) <= 1.0


def test_a_single_threshold_misses_the_target_in_the_hard_third() -> None:
    found = _standard_errors("ARC")
    assert found["hard"] > 10.0
    assert found["easy"] < -10.0
