"""Faults in what plays, in certificates of bands, in summaries and in groups."""

from benchmarks.mutants.fault import Target

_SAFEGUARD = Target(
    "calibrators/auto/safeguard.py",
    (
        "guarantees/test_safeguard_oracle.py",
        "calibrators/test_safeguard.py",
        "calibrators/test_rollback.py",
        "calibrators/test_guarded.py",
    ),
    (
        (
            "self._with_base(tell, asked.x, heard, known_score, asked.groups)",
            "self._with_base(tell, asked.x, heard, known_score, ())",
        ),
        (
            "heard = self._loss_today(asked, cost, known_score)",
            "heard = cost",
        ),
        (
            "return self._loss_bound if score > threshold else 0.0",
            "return 1.0 if score > threshold else 0.0",
        ),
        (
            "return self._loss_bound if score > threshold else 0.0",
            "return self._loss_bound if score >= threshold else 0.0",
        ),
        (
            "partial(engine.tell, number, cost, known_score)",
            'partial(engine.tell, number, cost, float("nan"))',
        ),
        (
            'where = {"groups": groups} if "groups" in _wanted(self.base) else {}',
            "where: dict[str, Any] = {}",
        ),
        ("loss not in (0.0, self._loss_bound)", "loss not in (0.0, 1.0)"),
        ("covered = score <= max(thresholds[t], at_least[t])", "covered = score <= thresholds[t]"),
        ("losses[t] = 0.0 if covered else self._loss_bound", "losses[t] = 0.0 if covered else 1.0"),
        ('more["score"] = None if score != score else score', 'more["score"] = loss'),
        ("promise=promise,", 'promise="both",'),
    ),
)

_BETTORS = Target(
    "betting/bettors.py",
    (
        "guarantees/test_bands_oracle.py",
        "forecasting/test_rounds.py",
    ),
    (
        ("up, down = z, -share * z", "up, down = z, -z"),
        ('sums["paid"][cell] += z * bet', 'sums["paid"][cell] += np.abs(z) * bet'),
        ("(1.0 - share) * np.maximum(-z, 0.0)", "(1.0 - share) * np.maximum(z, 0.0)"),
        ("np.where(waiting > 0.0, LATE_RESTART, 1.0)", "1.0"),
        (
            'self.cells["staked"][cell] += again * price',
            'self.cells["staked"][cell] += 0.0 * price',
        ),
        (
            'np.where(again, 0.0, self.cells["up cost"][cell] + cost)',
            'self.cells["up cost"][cell] + cost',
        ),
        ("budget(granted, STAKE_ALL, 2.0,", "budget(granted, STAKE_ALL, 1.0,"),
        (
            'most_gain(most_won, sums["down cost"][cells], largest_bet(most, self._down_drop))',
            'most_gain(most_won, sums["down cost"][cells], largest_bet(most, self._up_drop))',
        ),
        ('return up, down + sums["lost"][cells]', "return up, down"),
        ("fell = LATE_FACTOR * np.abs(y)", "fell = np.abs(y)"),
    ),
)

_CERTIFICATE = Target(
    "forecasting/certificate.py",
    ("guarantees/test_bands_oracle.py", "forecasting/test_certificate.py"),
    (
        ("rounds.by_phase[:, [0, 1 + level]]", "rounds.by_phase[:, [0, 1]]"),
        (
            "np.minimum(up, self.visits * (1.0 - self.alpha) / self.top)",
            "np.minimum(up, (1.0 - self.alpha) / self.top)",
        ),
        ("float(1.0 + bettors.cells", "float(bettors.cells"),
        ("sums.node(grid[:, h])", "sums.node(grid[:, -1 - h])"),
        ("excess=misses - self.alpha * rounds", "excess=misses - self.alpha"),
        ("share * part.rounds, part.risk)", "part.rounds, part.risk)"),
    ),
)

_SUMMARY = Target(
    "models/summary.py",
    ("guarantees/test_summary_oracle.py", "models/test_summary.py"),
    (
        ("if any(bound.passed for bound", "if all(bound.passed for bound"),
        ("consistent=all(c.consistent", "consistent=any(c.consistent"),
        ("target - above,\n        target + below,", "target - below,\n        target + above,"),
        ("Seen(rows, sum(c.risk for c", "Seen(rows, max(c.risk for c"),
        ("return sum(b.value for b in bounds if b)", "return max(b.value for b in bounds if b)"),
        ("promised = 1.0 - sum(t.alpha for t in tails)", "promised = 1.0 - tails[0].alpha"),
        ("places(_ALL_PLACES, LEAST_ROUNDS)", "places(_ALL_PLACES, 20.0)"),
        ("bound=bound if judged is learned else None", "bound=bound if judged is shown else None"),
    ),
)

_GROUPS = Target(
    "calibrators/auto/groups.py",
    (
        "calibrators/test_group_labels.py",
        "guarantees/test_label_oracle.py",
    ),
    (
        ("{_label(name): w for name, value", "{_label(name): 1.0 for name, value"),
        ("return int(label)\n", "return bool(label)\n"),
        (
            "type(groups), frozenset(groups) if isinstance(groups, set) else groups, missing",
            "type(groups), frozenset(groups) if isinstance(groups, set) else groups, ()",
        ),
        ("if not 0.0 <= weight <= 1.0:", "if not 0.0 <= weight < 1.0:"),
        ("return dict, tuple(groups.items()), missing", "return dict, tuple(groups), missing"),
    ),
)

TARGETS = (_SAFEGUARD, _BETTORS, _CERTIFICATE, _SUMMARY, _GROUPS)
