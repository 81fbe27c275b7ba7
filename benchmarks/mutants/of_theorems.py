"""Faults in bounds, chance and verdicts."""

from benchmarks.mutants.fault import Target

_OF_THEOREM_E = "guarantees/test_auto_oracle.py", "betting/test_unavoidable_losses.py"

_GAIN = Target(
    "betting/gain.py",
    (*_OF_THEOREM_E, "guarantees/test_bands_oracle.py"),
    (
        ("sides * BETS * granted / stake", "sides * granted / stake"),
        ("np.maximum(most / cap - 1.0, 0.0)", "0.0 * np.maximum(most / cap - 1.0, 0.0)"),
        ("/ drop) / (1.0 + pending)", "/ drop) / (1.0 + 0.0 * pending)"),
        ("[..., None] >= BETAS", "[..., None] > BETAS"),
        ("+ BETAS * np.asarray(cost)", "+ np.asarray(cost)"),
    ),
)

_SUMS = Target(
    "betting/sums.py",
    _OF_THEOREM_E,
    (
        # Lambda without its factor 2, and with one where there is one side
        ("2.0 if self.two_sided else 1.0", "1.0"),
        ("2.0 if self.two_sided else 1.0", "2.0"),
        # A without one of its terms
        ("self[layout.STAKED] + self[layout.GRANTED]", "self[layout.GRANTED]"),
        ("* self[layout.UP_INVERSE] - self[layout.UP_BASE]", "* self[layout.UP_INVERSE]"),
        ("self[layout.STAKED] + self[layout.PAID]", "self[layout.STAKED] - self[layout.PAID]"),
        # the cost, the largest drop and the lost bets of the other side
        ("layout.LOST_DOWN, layout.DOWN_COST", "layout.LOST_DOWN, layout.UP_COST"),
        ("Columns(layout.DROP_DOWN,", "Columns(layout.DROP_UP,"),
        ("layout.LOST_DOWN,", "layout.LOST_UP,"),
        # rounds apart
        ("- self[layout.UNINFORMED_LOSSES]", "- 0.0 * self[layout.UNINFORMED_LOSSES]"),
    ),
)

_BOUNDS_E = Target(
    "betting/bounds.py",
    _OF_THEOREM_E,
    (
        # what bets that were cut back did not see
        ("more_cost) + sums.lost(side)", "more_cost)"),
        ("total = sums.granted + ahead * growth(sums)", "total = sums.granted"),
        ("return max(SQUARE + most, late)", "return max(SQUARE, late)"),
        # a largest score that costs
        ("sums[layout.COSTLIEST] >= sums.ceiling", "sums[layout.COSTLIEST] > sums.ceiling"),
        # bounds that were passed
        (
            'unmet, "above")\n    return bound.beside(sums.deviation(node))',
            'unmet, "above")\n    return bound',
        ),
        (
            "return min(max(0.0, (so_far + ahead * low)",
            "return min(max(0.0, (so_far - ahead * low)",
        ),
        ("STAKE_ALL, side, sums.paid)", "STAKE_ALL, side, sums.granted)"),
    ),
)

_NODE_E = Target(
    "betting/node_certificate.py",
    _OF_THEOREM_E,
    (("larger = max(self.above, self.below,", "larger = min(self.above, self.below,"),),
)

_CERTIFICATE_E = Target(
    "betting/certificate.py",
    _OF_THEOREM_E,
    (
        (
            "worst_stretch=sums[layout.TOP] * float(node[layout.UP_GAIN])",
            "worst_stretch=sums.excess(node)",
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

TARGETS = (_GAIN, _SUMS, _BOUNDS_E, _NODE_E, _CERTIFICATE_E, _THEOREMS, _CHANCE, _VERDICT)
