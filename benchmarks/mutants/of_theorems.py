"""Faults in bounds, chance and verdicts."""

from benchmarks.mutants.fault import Target

_THEOREM_E = Target(
    "betting/theorem_e.py",
    ("guarantees/test_auto_oracle.py", "betting/test_unavoidable_losses.py"),
    (
        # Lambda without its factor 2, and with one where there is one side
        ("most = (2.0 if self.two_sided else 1.0) *", "most = 1.0 *"),
        ("most = (2.0 if self.two_sided else 1.0) *", "most = 2.0 *"),
        ("* BETS * total / stake", "* total / stake"),
        ("+ max(0.0, most / LARGEST_TERM - 1.0)", "+ 0.0 * max(0.0, most / LARGEST_TERM - 1.0)"),
        # A without one of its terms
        ("self[layout.STAKED] + self[layout.GRANTED]", "self[layout.GRANTED]"),
        ("* self[layout.UP_INVERSE] - self[layout.UP_BASE]", "* self[layout.UP_INVERSE]"),
        ("self[layout.STAKED] + self[layout.PAID]", "self[layout.STAKED] - self[layout.PAID]"),
        # the cost and the largest drop of the other side
        ("cost = node[layout.UP_COST if up else layout.DOWN_COST]", "cost = node[layout.UP_COST]"),
        ("drop = self[layout.DROP_UP if up else layout.DROP_DOWN]", "drop = self[layout.DROP_UP]"),
        ("(1.0 + most)\n    return [2.0**-k", "(1.0 + 0.0 * most)\n    return [2.0**-k"),
        ("if 2.0**-k <= largest]", "if 2.0**-k < largest]"),
        ("(budget + beta * beta * cost) / beta", "(budget + beta * cost) / beta"),
        # what bets that were cut back did not see
        ('"above", ledger.granted) + ledger[layout.LOST_UP]', '"above", ledger.granted)'),
        (
            "_mean(ledger, node, down + ledger[layout.LOST_DOWN], alpha)",
            "_mean(ledger, node, down, alpha)",
        ),
        ("larger = max(self.above, self.below,", "larger = min(self.above, self.below,"),
        ("total = ledger.granted + ahead * growth(ledger)", "total = ledger.granted"),
        ("step = max(SQUARE + most, late)", "step = max(SQUARE, late)"),
        ("worst_stretch=top * float(node[layout.UP_GAIN])", "worst_stretch=excess"),
        # rounds apart, and a largest score that costs
        ("- self[layout.UNINFORMED_LOSSES]", "- 0.0 * self[layout.UNINFORMED_LOSSES]"),
        ("ledger[layout.COSTLIEST] >= ledger.ceiling", "ledger[layout.COSTLIEST] > ledger.ceiling"),
        # bounds that were passed
        (
            'side="above")\n    return bound.beside(ledger.deviation(node))',
            'side="above")\n    return bound',
        ),
        (
            "return min(max(0.0, (so_far + ahead * low)",
            "return min(max(0.0, (so_far - ahead * low)",
        ),
    ),
)

_THEOREMS = Target(
    "guarantees/theorems.py",
    (
        "guarantees/test_long_run_oracle.py",
        "guarantees/test_bounds.py",
    ),
    (
        ("* constant.inverse_rate + constant.lifted\n", "* constant.inverse_rate\n"),
        (
            "rise = (constant.constant - constant.lowest)",
            "rise = (constant.constant - constant.start)",
        ),
        ("value = (reach + constant.lifted)", "value = reach"),
        ("(max(high, constant.start) - floor)", "(high - floor)"),
        (
            "norms.theorem_b_bound + constant.lifted / constant.rounds",
            "norms.theorem_b_bound",
        ),
        ("norms.regularization_cost + lifted)", "norms.regularization_cost)"),
        ("low = min(low, constant.lowest, constant", "low = min(low, constant"),
        ("steps = (pending + 1) * step", "steps = pending * step"),
        ("low = scores[0] - above - steps", "low = scores[0] - below - steps"),
        (
            "math.inf, earlier + rounds)",
            "math.inf, rounds)",
        ),
        ("down = up = max(down, up)", "down = up = min(down, up)"),
    ),
)

_CHANCE = Target(
    "guarantees/chance.py",
    ("guarantees/test_verdict_oracle.py", "guarantees/test_verdict.py"),
    (
        ("math.log(2.0 * epoch * (epoch + 1)", "math.log(epoch * (epoch + 1)"),
        ("end = FIRST_LOOK * 2 ** (epoch - 1)", "end = FIRST_LOOK * 2**epoch"),
        ("math.sqrt(2.0 * end * alpha", "math.sqrt(end * alpha"),
        ("max(alpha, loss_bound - alpha) * logarithm", "(loss_bound - alpha) * logarithm"),
        ("rounds * alpha < ENOUGH_LOSSES", "rounds * alpha <= ENOUGH_LOSSES"),
        ("seen and risk > alpha + deviation(", "risk > alpha + deviation("),
    ),
)

_VERDICT = Target(
    "guarantees/verdict.py",
    (
        "guarantees/test_verdict_oracle.py",
        "guarantees/test_verdict.py",
    ),
    (
        ("abs(risk - alpha) > bound + _ROUNDING", "risk - alpha > bound + _ROUNDING"),
        ("started = rounds >= FIRST_LOOK and is_excess", "started = is_excess"),
        ("if risk < alpha - limit:", "if risk < alpha + limit:"),
        ("inv_cdf(1.0 - LEVEL / tries)", "inv_cdf(1.0 - LEVEL)"),
        ("{kind: max(least, counts[kind])", "{kind: max(1, counts[kind])"),
        ("or p.rounds >= LEAST_ROUNDS]", "or p.rounds > 0]"),
        (
            "self.risk * (loss_bound - self.risk)) / max(self.rounds",
            "self.risk * (1.0 - self.risk)) / max(self.rounds",
        ),
        ("key=lambda part: -part.risk)", "key=lambda part: -part.rounds)"),
    ),
)

TARGETS = (_THEOREM_E, _THEOREMS, _CHANCE, _VERDICT)
