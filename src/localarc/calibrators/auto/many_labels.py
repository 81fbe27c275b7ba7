"""Many rounds of LabelSets in few compiled calls: bit for bit what as many single calls would do.

Scores are an (n, K) array in the order of `labels`, which the calibrator must have. Thresholds come
back as an (n, K) array. All input is checked before anything changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from localarc.calibrators.auto.candidates import Candidates
from localarc.calibrators.auto.groups import Groups, Resolved, combination, weights_of
from localarc.calibrators.auto.inputs import many_features
from localarc.calibrators.auto.labels import LabelSets, nodes_of
from localarc.engine.auto import label_rounds, layout
from localarc.validation import FloatArray, IntArray


class Rows(NamedTuple):
    """Inputs, and by candidate the keys and weights of their nodes."""

    points: FloatArray  # (n, d)
    keys: IntArray  # (n, K, g)
    weights: FloatArray
    all_keys: IntArray  # (n, K g): of all candidates together
    all_weights: FloatArray
    combinations: list[tuple[dict[Hashable, float], tuple[int, ...]]]  # to be remembered


def thresholds(cal: LabelSets, X: Any, groups: Sequence[Groups] | None) -> FloatArray:
    """The thresholds of all labels; changes nothing."""
    with cal._exclusive():
        rows = _rows(cal, X, groups)
        engine = cal._prepared(rows.points.shape[1], rows.keys.shape[2], tickets=0)
        decisions, bases = _room(rows), cal._base.thresholds(_labels(cal))
        where = rows.points, rows.keys, rows.weights
        label_rounds.peek(engine._table, *where, *bases, decisions)
    return decisions[:, :, layout.THRESHOLD].copy()


def ask(
    cal: LabelSets, X: Any, scores: FloatArray, groups: Sequence[Groups] | None
) -> tuple[IntArray, FloatArray]:
    """`LabelSets.ask` for each row: ids and thresholds."""
    with cal._exclusive():
        rows, labels = _rows(cal, X, groups), _labels(cal)
        engine = cal._prepared(rows.points.shape[1], rows.all_keys.shape[1], tickets=len(scores))
        decisions, bases = _room(rows), cal._base.thresholds(labels)
        ids = int(engine.numbers[layout.ISSUED]) + 1 + np.arange(len(scores))
        parts = [*zip(ids.tolist(), scores, rows.keys, decisions, strict=True)]
        _remember(cal, rows)
        for number, *made in parts:
            cal._pending[number] = Candidates(labels, *made)
        where = rows.points, rows.keys, rows.weights
        together = rows.all_keys, rows.all_weights
        label_rounds.ask(engine._table, *where, *bases, decisions, *together)
        for number, *made in parts:  # copies: a row that is told must not keep the others alive
            cal._pending[number] = Candidates(labels, *(part.copy() for part in made))
    return ids, decisions[:, :, layout.THRESHOLD].copy()


def learn(
    cal: LabelSets, X: Any, scores: FloatArray, true: IntArray, groups: Sequence[Groups] | None
) -> FloatArray:
    """`LabelSets.update` for each row; returns the thresholds before it."""
    with cal._exclusive():
        rows, labels = _rows(cal, X, groups), _labels(cal)
        engine = cal._prepared(rows.points.shape[1], rows.keys.shape[2], tickets=0)
        _remember(cal, rows)
        decisions = _room(rows)
        own = scores[np.arange(len(true)), true].tolist()
        for t, (at, score) in enumerate(zip(true.tolist(), own, strict=True)):
            where = rows.points[t], rows.keys[t], rows.weights[t]
            bases = cal._base.thresholds(labels)
            loss = label_rounds.step(engine._table, *where, *bases, decisions[t], at, score)
            cal._learn(labels[at], score, loss)
    return decisions[:, :, layout.THRESHOLD].copy()


def tell(cal: LabelSets, ids: IntArray, true: IntArray) -> None:
    """`LabelSets.tell` for each row."""
    labels = _labels(cal)
    for number, at in zip(ids.tolist(), true.tolist(), strict=True):
        cal.tell(number, labels[at])


def _labels(cal: LabelSets) -> tuple[Hashable, ...]:
    assert cal.labels is not None
    return cal.labels


def _room(rows: Rows) -> FloatArray:
    return np.empty((*rows.keys.shape[:2], layout.TICKET))


def _rows(cal: LabelSets, X: Any, groups: Sequence[Groups] | None) -> Rows:
    engine = cal._engine
    fixed = engine.dimensions if engine is not None and engine.started else None
    points = many_features(X, fixed)
    kinds, codes = _kinds(points, groups)
    each, together, combinations = [], [], []
    for given, gaps in kinds:
        place = points[:1], weights_of(given), gaps
        nodes = dict[Hashable, float]()
        for name in _labels(cal):
            each.append(cal._resolve(name, place))
            nodes |= nodes_of(name, place)
        together.append(cal._names.resolve(nodes, gaps))
        combinations.append((nodes, gaps))
    (keys, weights), (all_keys, all_weights) = _padded(each), _padded(together)
    shape = len(kinds), len(_labels(cal)), -1
    own = keys.reshape(shape)[codes], weights.reshape(shape)[codes]
    return Rows(points, *own, all_keys[codes], all_weights[codes], combinations)


def _padded(resolved: list[Resolved]) -> Resolved:
    """Keys and weights of several combinations as tables, 0 where one has fewer."""
    width = max((len(keys) for keys, _ in resolved), default=0)
    keys, weights = np.zeros((len(resolved), width), np.int64), np.zeros((len(resolved), width))
    for i, (its_keys, its_weights) in enumerate(resolved):
        keys[i, : len(its_keys)], weights[i, : len(its_keys)] = its_keys, its_weights
    return keys, weights


def _remember(cal: LabelSets, rows: Rows) -> None:
    """Thresholds are about to go out: the groups are known."""
    for nodes, gaps in rows.combinations:
        cal._names.add(nodes, gaps)


def _kinds(
    points: FloatArray, groups: Sequence[Groups] | None
) -> tuple[list[tuple[Any, tuple[int, ...]]], list[int]]:
    """The combinations of groups and missing features, and which one each row has."""
    missing = np.isnan(points)
    if groups is None and not missing.any():
        return [((), ())], [0] * len(points)
    known: dict[Any, int] = {}
    found, codes = list[tuple[Any, tuple[int, ...]]](), list[int]()
    for t, row in enumerate(missing):
        given = () if groups is None else groups[t]
        gaps = tuple(np.flatnonzero(row).tolist())
        mark = combination(given, gaps)
        if mark not in known:
            known[mark] = len(found)
            found.append((given, gaps))
        codes.append(known[mark])
    return found, codes
