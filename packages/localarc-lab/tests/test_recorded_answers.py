"""Recorded answers of a language model: how they are judged, and that they are as recorded."""

from __future__ import annotations

import csv
import hashlib
import math

import pytest
from benchmarks.gate.record_answers import is_right, read_reply

from localarc_lab.experiments.recorded import recorded


@pytest.mark.parametrize(
    ("answer", "truth", "right"),
    [
        ("Bogota", "Bogotá", True),
        ("the United States", "United States", True),
        ("Barbadian Dollar", "Dollar", True),
        ("Mongolia", "Ulaanbaatar", False),
        ("", "Paris", False),
    ],
)
def test_an_answer_is_right_if_its_words_are_those_of_the_truth(
    answer: str, truth: str, right: bool
) -> None:
    assert is_right(answer, truth) is right


def test_the_confidence_is_the_probability_of_all_words_together() -> None:
    tokens = [{"logprob": math.log(0.5)}, {"logprob": math.log(0.4)}]
    reply = {"choices": [{"text": " New Delhi", "logprobs": {"content": tokens}}]}
    answer, confidence = read_reply(reply)
    assert answer == "New Delhi"
    assert confidence == pytest.approx(0.2)


def test_the_answers_are_those_of_the_provenance() -> None:
    path = recorded("answers", "answers.csv")
    provenance = (path.parent / "PROVENANCE.md").read_text(encoding="utf-8")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in provenance
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2740
    assert {row["topic"] for row in rows} == {"capital", "city", "continent", "currency"}
    assert all(0.0 <= float(row["confidence"]) <= 1.0 for row in rows)
