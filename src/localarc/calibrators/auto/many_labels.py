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
from localarc.calibrators.auto.inputs import NO_FEATURES, many_features
from localarc.calibrators.auto.labels import LabelSets
from localarc.calibrators.auto.round_input import RoundInput
from localarc.engine.auto import label_rounds, layout
from localarc.validation import FloatArray, IntArray

_ROWS_AT_ONCE = 64  # a decision has twelve numbers per label, of which a threshold keeps one


class Rows(NamedTuple):
    """Inputs, and by candidate the keys and weights of their nodes."""

    points: FloatArray  # (n, d)
    keys: IntArray  # (n, K, g)
    weights: FloatArray
    all_keys: IntArray  # (n, K g): of all candidates together
    all_weights: FloatArray
    kinds: list[RoundInput]  # with different groups or missing features; they have no points
    codes: list[int]  # (n,): the kind of each row


def thresholds(cal: LabelSets, X: Any, groups: Sequence[Groups] | None) -> FloatArray:
    """The thresholds of all labels; changes nothing."""
    with cal._exclusive():
        rows = _rows(cal, X, groups)
        engine = cal._prepared(rows.points.shape[1], rows.keys.shape[2], tickets=0)
        bases, found = cal._base.thresholds(_labels(cal)), np.empty(rows.keys.shape[:2])
        for start in range(0, len(found), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            decisions = np.empty((*found[part].shape, layout.TICKET))
            where = rows.points[part], rows.keys[part], rows.weights[part]
            label_rounds.peek(engine._table, *where, *bases, decisions)
            found[part] = decisions[:, :, layout.THRESHOLD]
    return found


def ask(
    cal: LabelSets, X: Any, scores: FloatArray, groups: Sequence[Groups] | None
) -> tuple[IntArray, FloatArray]:
    """`LabelSets.ask` for each row: ids and thresholds."""
    with cal._exclusive():
        rows, labels = _rows(cal, X, groups), _labels(cal)
        engine = cal._prepared(rows.points.shape[1], rows.all_keys.shape[1], tickets=len(scores))
        decisions = np.empty((*scores.shape, layout.TICKET))
        bases = cal._base.thresholds(labels)
        ids = int(engine.numbers[layout.ISSUED]) + 1 + np.arange(len(scores))
        widths = [1 + len(kind.groups) + len(kind.missing) for kind in rows.kinds]
        own = [keys[:, : widths[code]] for keys, code in zip(rows.keys, rows.codes, strict=True)]
        parts = [*zip(ids.tolist(), scores, own, decisions, strict=True)]
        nodes = [(_all_nodes(cal, kind), kind.missing) for kind in rows.kinds]
        cal._names.add(nodes, engine.keys)
        for number, *made in parts:
            cal._pending[number] = Candidates(labels, *made)
        where = rows.points, rows.keys, rows.weights
        together = rows.all_keys, rows.all_weights
        label_rounds.ask(engine._table, *where, *bases, decisions, *together)
        for number, *made in parts:  # copies: one pending row must not keep its batch alive
            cal._pending[number] = Candidates(labels, *(part.copy() for part in made))
    return ids, decisions[:, :, layout.THRESHOLD].copy()


def learn(
    cal: LabelSets,
    X: Any,
    scores: FloatArray,
    true: IntArray,
    groups: Sequence[Groups] | None,
    out: FloatArray | None = None,
) -> FloatArray:
    """`LabelSets.update` for each row; returns the thresholds before it, in `out` if given.

    An interrupt after the rows were learned loses no threshold in `out`, which is contiguous.
    """
    with cal._exclusive():
        rows, labels = _rows(cal, X, groups), _labels(cal)
        engine = cal._prepared(rows.points.shape[1], rows.keys.shape[2], tickets=0)
        played = dict.fromkeys(zip(rows.codes, true.tolist(), strict=True))
        kinds = [(rows.kinds[code], labels[at]) for code, at in played]
        nodes = [(kind.nodes(label), kind.missing) for kind, label in kinds]
        cal._names.add(nodes, engine.keys)
        cal._base.add([labels[at] for at in true.tolist()])
        found = np.empty(scores.shape) if out is None else out
        where = rows.points, rows.keys, rows.weights
        base = cal._base.tables, cal._base.rows_of(labels)
        label_rounds.step(engine._table, *where, *base, true, scores, found)
    return found


def tell(cal: LabelSets, ids: IntArray, true: IntArray) -> None:
    """`LabelSets.tell` for each row; ids are distinct and pending."""
    labels, numbers, places = _labels(cal), ids.tolist(), true.tolist()
    with cal._exclusive():
        made = [cal._asked(number) for number in numbers]
        pairs = [*zip(made, places, strict=True)]
        keys = _same_width([one.keys[at] for one, at in pairs], np.int64)
        decisions = [one.decisions[at] for one, at in pairs]
        scores = [one.scores[at] for one, at in pairs]
        cal._tell(numbers, keys, decisions, scores, [labels[at] for at in places])


def _labels(cal: LabelSets) -> tuple[Hashable, ...]:
    assert cal.labels is not None
    return cal.labels


def _rows(cal: LabelSets, X: Any, groups: Sequence[Groups] | None) -> Rows:
    points = many_features(X, cal.dimension)
    kinds, codes = _kinds(points, groups)
    each = [cal._resolve(name, kind) for kind in kinds for name in _labels(cal)]
    together = [cal._names.resolve(_all_nodes(cal, kind), kind.missing) for kind in kinds]
    (keys, weights), (all_keys, all_weights) = _padded(each), _padded(together)
    shape = len(kinds), len(_labels(cal)), -1
    own = keys.reshape(shape)[codes], weights.reshape(shape)[codes]
    return Rows(points, *own, all_keys[codes], all_weights[codes], kinds, codes)


def _all_nodes(cal: LabelSets, where: RoundInput) -> dict[Hashable, float]:
    """The nodes of all labels."""
    nodes = dict[Hashable, float]()
    for name in _labels(cal):
        nodes |= where.nodes(name)
    return nodes


def _padded(resolved: list[Resolved]) -> Resolved:
    """Keys and weights of several combinations as tables, 0 where one has fewer."""
    keys = _same_width([keys for keys, _ in resolved], np.int64)
    return keys, _same_width([weights for _, weights in resolved], np.float64)


def _same_width(rows: Sequence[Any], kind: type[Any]) -> Any:
    """Rows of different lengths as a table, 0 where one is shorter."""
    table = np.zeros((len(rows), max(map(len, rows), default=0)), kind)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def _kinds(
    points: FloatArray, groups: Sequence[Groups] | None
) -> tuple[list[RoundInput], list[int]]:
    """The combinations of groups and missing features, and which one each row has."""
    missing = np.isnan(points)
    if groups is None and not missing.any():
        return [RoundInput(NO_FEATURES, {}, ())], [0] * len(points)
    numbers: dict[Any, int] = {}
    found, codes = list[RoundInput](), list[int]()
    for t, row in enumerate(missing):
        given, gaps = () if groups is None else groups[t], tuple(np.flatnonzero(row).tolist())
        mark = combination(given, gaps)
        try:
            code = numbers.setdefault(mark, len(found))
        except TypeError:  # not hashable: `weights_of` says what is wrong
            code = len(found)
        if code == len(found):
            found.append(RoundInput(NO_FEATURES, weights_of(given), gaps))
        codes.append(code)
    return found, codes
