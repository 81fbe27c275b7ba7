"""README's first picture: what it says is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from localarc import Record
from localarc.cli.demo import calibrators, play
from localarc.measures import GroupRisk, group_risk
from localarc.streams import heteroscedastic

README = Path(__file__).parent.parent / "README.md"
STREAM = heteroscedastic(6000, seed=0)  # the defaults of `localarc demo`


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    """What the picture shows: nobody is told the thirds."""
    return {name: play(STREAM, calibrator) for name, calibrator in calibrators().items()}


def thirds(record: Record, rounds: slice = slice(None)) -> dict[object, GroupRisk]:
    groups = (STREAM.groups or ())[rounds]
    rows = group_risk(record.losses[rounds], groups, record.sizes[rounds])
    return {row.group: row for row in rows}


def standard_errors(row: GroupRisk) -> float:
    """How far a third is from the target."""
    return (row.risk - 0.1) / row.standard_error


@pytest.mark.parametrize("rounds", [slice(None), slice(0, 3000), slice(3000, None)])
def test_autolarc_meets_the_target_in_every_third_and_in_either_half(
    records: dict[str, Record], rounds: slice
) -> None:
    found = thirds(records["AutoLARC"], rounds)
    assert set(found) == {"easy", "middle", "hard"}
    assert all(abs(standard_errors(row)) <= 2.0 for row in found.values())


def test_arc_meets_the_target_on_average_but_not_in_the_easy_and_the_hard_third(
    records: dict[str, Record],
) -> None:
    assert records["ARC"].risk == pytest.approx(0.1, abs=0.005)
    found = thirds(records["ARC"])
    assert standard_errors(found["hard"]) > 10.0
    assert standard_errors(found["easy"]) < -10.0


def test_the_caption_has_the_numbers_of_the_run(records: dict[str, Record]) -> None:
    caption = " ".join(README.read_text(encoding="utf-8").split())
    for name, record in records.items():
        parts = thirds(record)
        risks = ", ".join(f"{100 * parts[third].risk:.1f}" for third in ("easy", "middle", "hard"))
        assert f"{risks} %" in caption, name
        assert f"{record.mean_size:.2f}" in caption, name
