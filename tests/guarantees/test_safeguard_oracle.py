"""Every number of a Safeguard's certificate, recomputed from the log and a twin of its base."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guarantees.auto_game import Stream
from guarantees.safeguard_game import Base, FunctionBase, GroupBase, SafeguardGame
from localarc import ARC, Safeguard


class Learner:
    """A calibrator of the library as a base; it hears of losses alone."""

    def __init__(self, cal: Any) -> None:
        self.cal, self.alpha = cal, cal.alpha

    def threshold(self, x: Any, groups: Any = ()) -> float:
        return float(self.cal.threshold(x))

    def update(self, x: Any, loss: float, score: float | None = None, groups: Any = ()) -> None:
        self.cal.update(x, loss)


GAMES: dict[str, tuple[Any, Stream]] = {
    "function": (FunctionBase, Stream(d=1, alpha=0.3)),
    "function, limits": (FunctionBase, Stream(limits=(0.1, 0.9), alpha=0.3, harmless=0.3)),
    "ARC": (lambda: Learner(ARC(0.3, 0.2)), Stream(alpha=0.3, delay=1, rounds=400)),
    "groups": (GroupBase, Stream(groups=("a", "b"), alpha=0.4, adverse=0.2)),
    "groups, late": (GroupBase, Stream(rounds=400, delay=2, groups=("a", "b"), alpha=0.4)),
    "late, large losses": (
        lambda: Learner(ARC(0.6, 0.2, loss_bound=2.0)),
        Stream(delay=3, alpha=0.6, bound=2.0),
    ),
    "groups, at most": (
        GroupBase,
        Stream(two=False, delay=1, groups=("a",), alpha=0.5, bound=2.0, fractional=True),
    ),
}


@pytest.mark.parametrize(("base", "stream"), GAMES.values(), ids=GAMES)
def test_the_certificate_is_the_theorem_for_the_log(base: type[Base], stream: Stream) -> None:
    SafeguardGame(stream, base).play()


def test_the_target_of_the_base_is_the_default() -> None:
    assert Safeguard(GroupBase()).alpha == 0.3
    assert Safeguard(GroupBase(), 0.2).alpha == 0.2


def test_covering_rows_charges_the_larger_threshold_with_the_whole_loss() -> None:
    random = np.random.default_rng(8)
    scores, least = random.exponential(size=120), random.exponential(size=120)
    groups = [{"a": 0.5} if t % 2 else {"b": 1.0} for t in range(120)]
    made, slow = (Safeguard(GroupBase(), loss_bound=2.0) for _ in range(2))
    thresholds, losses = made.cover(np.empty((120, 0)), scores, groups, least)
    for t, score in enumerate(scores.tolist()):
        threshold = slow.threshold([], groups[t])
        loss = 2.0 if score > max(threshold, least[t]) else 0.0
        assert (thresholds[t], losses[t]) == (threshold, loss)
        slow.update([], loss, score, groups[t])
    assert {0.0, 2.0} == {*losses.tolist()}
    assert made.certificate().risk == slow.certificate().risk == pytest.approx(losses.mean())
