"""The three terms of a gate's promise, from its counts and the sums of its bettors."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.betting.sums import Sums
from localarc.calibrators.gate.closed import Closed
from localarc.calibrators.gate.counts import Counts
from localarc.calibrators.gate.terms import GateTerms
from localarc.constants import STAKE, STAKE_ALL
from localarc.engine.auto import layout
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from localarc.calibrators.gate.gate import Gate

_ROUNDING = 1e-9
_COUNTED = (
    *("answered", "wrong", "withheld", "checked", "checked_wrong"),
    *("waiting", "forgotten", "draws"),
)


def terms_of(gate: Gate) -> tuple[dict[str, Any], dict[Hashable, GateTerms]]:
    """The fields of the terms for everyone, and the terms of each topic."""
    engine = gate._bettors.engine
    sums = Sums.of(engine)
    present = gate._bettors.names.present(engine.keys)
    topics = {}
    for name, counts in gate._records.topics.items():
        node = engine.node(present[name]) if name in present else None
        terms = _terms(sums, counts, node, STAKE, gate.credit)
        topics[name] = GateTerms(**terms, closed=_closed(gate, name))
    return terms_of_everyone(gate) | {"closed": _closed(gate, None)}, topics


def terms_of_everyone(gate: Gate) -> dict[str, Any]:
    """The fields of the terms for everyone."""
    engine = gate._bettors.engine
    return _terms(Sums.of(engine), gate._records.everyone, engine.node(), STAKE_ALL, gate.credit)


def _closed(gate: Gate, name: Hashable | None) -> Closed | None:
    """Why nothing of a topic is answered, at no place in particular."""
    nowhere = np.full(gate._bettors.features_fixed or 0, math.nan)
    topics = {} if name is None else {name: 1.0}
    return gate._base.why_closed(name, gate._bettors.threshold(nowhere, groups=topics))


def _terms(
    sums: Sums, counts: Counts, node: FloatArray | None, stake: float, credit: float
) -> dict[str, Any]:
    """A node that a full table dropped has forgotten rounds, and has no bound for all of them."""
    found = {name: getattr(counts, name) for name in _COUNTED}
    found |= {"alpha": sums[layout.ALPHA], "credit": credit}
    if node is None or not math.isclose(
        node[layout.VISITS], counts.answered + counts.withheld, rel_tol=_ROUNDING, abs_tol=_ROUNDING
    ):
        return found | {"bound": math.inf, "consistent": stake != STAKE_ALL}
    alpha, top = sums[layout.ALPHA], sums[layout.TOP]
    charged = counts.wrong - alpha * counts.answered - credit * counts.withheld
    gap = abs(charged - top * float(node[layout.EXCESS]))
    bound = top * sums.most_gain(node, stake, "above", sums.granted)
    same = gap <= _ROUNDING * (1.0 + counts.answered + counts.withheld)
    return found | {"bound": bound, "consistent": same}
