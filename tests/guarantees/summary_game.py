"""The summary of a calibrated model beside theorem E: one instance for each level and end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from engine.auto_reference import Reference
from guarantees import verdict_oracle
from guarantees.auto_game import default_start
from guarantees.oracle_checks import close, judgements
from guarantees.theorem_e_oracle import ALL, Play, Rules, TheoremE, is_hat
from guarantees.verdict_oracle import Seen
from localarc.models import Calibrated, summary


@dataclass(frozen=True)
class Rows:
    """Random rows, and the model around which intervals are put."""

    coverage: tuple[float, ...] = (0.8,)
    kind: Literal["symmetric", "asymmetric"] = "symmetric"
    groups: tuple[str, ...] = ()
    placed: bool = False
    rows: int = 250
    hard: float = 1.0  # how much larger errors are in region "south"
    seed: int = 4

    @property
    def tails(self) -> tuple[str, ...]:
        return ("lower", "upper") if self.kind == "asymmetric" else ("",)


@dataclass
class Instance:
    """One threshold function: its formulas, and its bettors."""

    alpha: float
    d: int
    theorem: TheoremE = field(init=False)
    reference: Reference = field(init=False)

    def __post_init__(self) -> None:
        self.theorem = TheoremE(Rules(self.alpha))
        self.reference = Reference(self.alpha, self.d, start=default_start(self.alpha))

    def learn(self, x: Any, groups: list[tuple[str, float]], score: float, least: float) -> float:
        """The threshold that is charged: its own, or a smaller level's where that is larger."""
        sent = self.reference.ask(x, groups)
        weights = {key: weight for key, weight, _ in sent.nodes}
        play = Play(sent.base, sent.unit, -math.inf, sent.threshold)
        if weights:  # else nothing is known, and nobody bets
            play = self.theorem.play(weights, sent.base, sent.unit)
        assert play.threshold == close(sent.threshold)
        charged, made = max(sent.threshold, least), self.theorem.ask(weights, play)
        loss = float(score > charged)
        self.reference.tell(sent, loss, score)
        self.theorem.tell(made, loss, score)
        return charged

    @property
    def tightest(self) -> float:
        node = self.theorem.at(ALL)
        return min(self.theorem.observed(), max(node.above, node.below))


class SummaryGame:
    """The same rows for a calibrated model and for theorem E."""

    def __init__(self, rows: Rows, patch: pytest.MonkeyPatch) -> None:
        self.rows, self.patch, tails = rows, patch, rows.tails
        self.model = Calibrated(
            None,
            coverage=[*rows.coverage],
            kind=rows.kind,
            groups=rows.groups,
            local="prediction" if rows.placed else (),
        )
        self.levels = [
            [Instance(round(1.0 - c, 12) / len(tails), int(rows.placed)) for _ in tails]
            for c in rows.coverage
        ]
        self.random = np.random.default_rng(rows.seed)
        self.frame, self.predictions, self.y = self.draw()
        self.missed = [0] * len(rows.coverage)  # of the sets shown
        self.learned = 0

    def draw(self) -> tuple[Any, Any, Any]:
        """Until sets are bounded, outcomes are those predicted: these rows count as covered."""
        n, random = self.rows.rows, self.random
        frame = pd.DataFrame(
            {
                "region": random.choice(["north", "south"], n),
                "day": random.choice(["mon", "tue"], n),
            }
        )
        predictions = random.uniform(0.0, 10.0, n)
        size = np.where(frame["region"] == "south", self.rows.hard, 1.0)
        errors = size * random.normal(size=n)
        errors[: math.ceil(len(self.rows.tails) / (1.0 - max(self.rows.coverage)) + 1e-9)] = 0.0
        return frame, predictions, predictions + errors

    def play(self) -> SummaryGame:
        half = self.rows.rows // 2
        for part in (slice(0, half), slice(half, None)):
            predictions = self.predictions[part]
            self.model.update(self.frame[part], self.y[part], prediction=predictions)
            for t in range(*part.indices(self.rows.rows)):
                self.learn(t)
            self.check()
        return self

    def learn(self, t: int) -> None:
        prediction, y = float(self.predictions[t]), float(self.y[t])
        scores = {"": abs(y - prediction), "lower": prediction - y, "upper": y - prediction}
        x = [prediction] if self.rows.placed else []
        groups = [(f"{name}={self.frame[name][t]}", 1.0) for name in self.rows.groups]
        shown_misses = [False] * len(self.levels)
        for i, tail in enumerate(self.rows.tails):
            least = -math.inf
            for at, level in enumerate(self.levels):
                least = level[i].learn(x, groups, scores[tail], least)
                bounded = self.learned >= math.ceil(1.0 / level[i].alpha)
                shown_misses[at] |= bounded and scores[tail] > least
        self.learned += 1
        self.missed = [m + miss for m, miss in zip(self.missed, shown_misses, strict=True)]

    # ---- what is said ------------------------------------------------------------------------

    def check(self) -> None:
        self.judged = judgements(self.patch, summary, self.model.summary)
        found = self.model.summary()
        assert len(found.levels) == len(self.levels)
        for at, level in enumerate(found.levels):
            self.check_level(level, at)
        bad = [level.verdict for level in found.levels if not level.verdict.good]
        assert found.verdict == (bad[0] if bad else found.levels[-1].verdict)

    def check_level(self, level: Any, at: int) -> None:
        target, instances = self.rows.coverage[at], self.levels[at]
        nodes = [instance.theorem.at(ALL) for instance in instances]
        learned = len(instances[0].theorem.arrived)
        assert (level.target, level.rows, level.learned) == (target, self.learned, learned)
        assert level.uninformed == self.learned - learned
        assert level.coverage == close(1.0 - self.missed[at] / self.learned)
        assert level.learned_coverage == close(1.0 - sum(node.risk for node in nodes))
        assert level.at_least == close(target - sum(node.above for node in nodes))
        assert level.at_most == close(target + sum(node.below for node in nodes))
        self.check_groups(level, instances)
        self.check_places(level, instances, target)
        self.check_verdict(level, at)
        self.check_printed(level)

    def check_verdict(self, level: Any, at: int) -> None:
        """On the rows shown; beside the bound on the rows learned, if they are the same."""
        instances, alpha = self.levels[at], round(1.0 - self.rows.coverage[at], 12)
        bound = sum(instance.tightest for instance in instances)
        same = level.rows == level.learned and level.coverage == close(level.learned_coverage)
        judged = self.judged[at]
        assert judged["bound"] == (close(bound) if same else None)
        parts = [Seen(p.rounds, p.risk, p.kind) for p in judged["parts"]]
        groups = sum(part.kind == "group" for part in parts)
        assert groups == len(level.groups)
        expected = verdict_oracle.state(
            alpha, 1.0 - level.coverage, level.rows, bound if same else None, parts
        )
        large = expected == "kept" and judged["size_ratio"] >= 5.0
        assert level.verdict.state == ("cautious" if large else expected)

    def check_groups(self, level: Any, instances: Any) -> None:
        names = {key for key in instances[0].theorem.sides if key != ALL and key[0] == "group"}
        assert {part.name for part in level.groups} == {name for _, name in names}
        assert [*level.groups] == sorted(level.groups, key=lambda part: part.coverage)
        for part in level.groups:
            nodes = [instance.theorem.at(("group", part.name)) for instance in instances]
            target = 1.0 - sum(instance.alpha for instance in instances)
            assert part.rows == nodes[0].rounds
            assert part.coverage == close(1.0 - sum(node.risk for node in nodes))
            assert part.at_least == close(target - sum(node.above for node in nodes))

    def check_places(self, level: Any, instances: Any, target: float) -> None:
        assert [*level.places] == sorted(level.places, key=lambda part: part.coverage)
        assert len(level.places) <= 5
        known = []
        for instance in instances:
            theorem = instance.theorem
            hats = [theorem.at(name) for name in theorem.sides if is_hat(name)]
            heavy = [hat for hat in hats if hat.rounds >= 100.0]
            known += [(h.rounds, 1.0 - h.risk, 1.0 - instance.alpha - h.above) for h in heavy]
        for place in level.places:
            shown = pytest.approx((place.rows, place.coverage, place.at_least), abs=1e-6)
            assert any(hat == shown for hat in known)
        assert len(level.places) == min(5, len(known))  # all that are so heavy are looked at
        worst = sorted(hat[1] for hat in known)[: len(level.places)]
        assert [place.coverage for place in level.places] == pytest.approx(worst, abs=1e-6)

    def check_printed(self, level: Any) -> None:
        text = str(level)
        for part in (*level.groups, *level.places):
            (line,) = [
                each for each in text.splitlines() if each.strip().startswith(f"{part.name}:")
            ]
            assert f"{100.0 * part.coverage:.1f} %" in line
            assert f"{part.rows:,.0f}" in line
            least = f"at least {100.0 * part.at_least:.1f} %"
            assert (least in line) == (part.at_least > 0.0)
        ends = max(0.0, level.at_least), min(1.0, level.at_most)
        for value in (level.coverage, level.learned_coverage, level.target, *ends):
            assert f"{100.0 * value:.1f} %" in text
