"""Labels: the misses of every true class, and the size of sets, against methods without labels."""

from __future__ import annotations

import gzip
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.auto.measured import Measured, at_most, plain, with_error
from localarc import ARC, AutoLARC, LabelSets, LabelTicket
from localarc.validation import FloatArray, IntArray
from localarc_lab import data

ALPHA = 0.1
SEEDS = range(200, 206)  # not those with which the base was chosen
ROUNDS = 6_000
CLASSES = 0.4, 0.3, 0.2, 0.1  # how often each is true
SCALES = 30.0 ** np.linspace(0.0, 1.0, len(CLASSES))
ENOUGH = 200  # rounds of a class, to be judged
Thresholds = Callable[["Scored"], Iterator[FloatArray]]


@dataclass(frozen=True)
class Scored:
    """Rounds of a classifier: the score of every class, and the true one."""

    scores: FloatArray  # (n, classes)
    truth: IntArray

    @property
    def true_scores(self) -> FloatArray:
        return np.asarray(self.scores[np.arange(len(self.truth)), self.truth])


def measure() -> list[Measured]:
    streams = {
        "scores differ by a factor of 30": [scales(seed) for seed in SEEDS],
        "the same, doubled half-way": [scales(seed, drift=True) for seed in SEEDS],
        "Elec2, price up or down": [prices()],
    }
    rows = [row for name, part in streams.items() for row in _compare(name, part, METHODS)]
    doubled = "the same, doubled half-way"
    return rows + _compare(doubled, streams[doubled], LATE)


def _compare(name: str, trials: list[Scored], methods: dict[str, Thresholds]) -> list[Measured]:
    rows = []
    for method, thresholds in methods.items():
        judged = [judge(trial, np.array([*thresholds(trial)])) for trial in trials]
        deviation, risk, _ = max(judged)
        sizes = [size for _, _, size in judged]
        what, text = f"{method}: worst class misses", f"{risk:.3f}, {deviation:.2f} allowances"
        if method == "LabelSets":
            rows.append(at_most(name, what, deviation, 1.0, text))
        else:
            rows.append(plain(name, what, deviation, text))
        shown = with_error(sizes) if len(sizes) > 1 else f"{sizes[0]:.3f}"
        rows.append(plain(name, f"{method}: labels per set", float(np.mean(sizes)), shown))
    return rows


def judge(trial: Scored, thresholds: FloatArray) -> tuple[float, float, float]:
    """Of the worst class: |misses - target| over max(0.02, two standard errors); its misses.

    Last, the mean number of labels in a set.
    """
    missed = trial.true_scores > thresholds[np.arange(len(trial.truth)), trial.truth]
    parts = [missed[trial.truth == label] for label in np.unique(trial.truth)]
    found = [_deviation(part) for part in parts if len(part) >= ENOUGH]
    return *max(found), float((trial.scores <= thresholds).sum(axis=1).mean())


def _deviation(missed: FloatArray) -> tuple[float, float]:
    allowance = max(0.02, 2.0 * float(np.sqrt(ALPHA * (1.0 - ALPHA) / len(missed))))
    risk = float(missed.mean())
    return abs(risk - ALPHA) / allowance, risk


# ---- methods -------------------------------------------------------------------------------------


def label_sets(trial: Scored) -> Iterator[FloatArray]:
    """A threshold and a unit per label."""
    cal = LabelSets(ALPHA, range(trial.scores.shape[1]))
    for scores, label in zip(trial.scores, trial.truth.tolist(), strict=True):
        yield np.array([*cal.thresholds().values()])
        cal.update(None, scores, label)


def labels_as_groups(trial: Scored) -> Iterator[FloatArray]:
    """A threshold per label, in the same unit for all."""
    cal, classes = AutoLARC(ALPHA), range(trial.scores.shape[1])
    for score, label in zip(trial.true_scores.tolist(), trial.truth.tolist(), strict=True):
        thresholds = np.array([cal.threshold([], groups=name) for name in classes])
        yield thresholds
        cal.update([], float(score > thresholds[label]), score, groups=label)


def auto_larc(trial: Scored) -> Iterator[FloatArray]:
    """One threshold for all labels."""
    cal, classes = AutoLARC(ALPHA), trial.scores.shape[1]
    for score in trial.true_scores.tolist():
        threshold = cal.threshold([])
        yield np.full(classes, threshold)
        cal.update([], float(score > threshold), score)


def arc(trial: Scored) -> Iterator[FloatArray]:
    """One threshold for all labels, with a rate that knows the spread of all scores."""
    cal, classes = ARC(ALPHA, float(trial.true_scores.std())), trial.scores.shape[1]
    for score in trial.true_scores.tolist():
        threshold = cal.threshold(None)
        yield np.full(classes, threshold)
        cal.update(None, float(score > threshold))


def late_labels(delay: int) -> Thresholds:
    """A threshold and a unit per label; labels arrive after `delay` further rounds."""

    def thresholds(trial: Scored) -> Iterator[FloatArray]:
        cal, pending = LabelSets(ALPHA, range(trial.scores.shape[1])), deque[LabelTicket]()
        for t, scores in enumerate(trial.scores):
            pending.append(cal.ask(None, scores))
            yield np.array([*pending[-1].thresholds.values()])
            if len(pending) > delay:
                cal.tell(pending.popleft(), int(trial.truth[t - delay]))

    return thresholds


METHODS: dict[str, Thresholds] = {
    "LabelSets": label_sets,
    "AutoLARC, labels as groups": labels_as_groups,
    "AutoLARC without labels": auto_larc,
    "ARC": arc,
}
LATE: dict[str, Thresholds] = {f"LabelSets, {n} late": late_labels(n) for n in (10, 100)}


# ---- streams -------------------------------------------------------------------------------------


def scales(seed: int, drift: bool = False) -> Scored:
    """Classes whose scores differ by a factor of 30; wrong labels have larger scores."""
    random = np.random.default_rng(seed)
    truth = random.choice(len(CLASSES), ROUNDS, p=CLASSES)
    noise = np.abs(random.normal(size=(ROUNDS, len(CLASSES))))
    is_true = np.arange(len(CLASSES)) == truth[:, None]
    scores = np.where(is_true, noise, 1.5 + 1.5 * noise) * SCALES
    if drift:
        scores[ROUNDS // 2 :] *= 2.0
    return Scored(scores, truth.astype(np.int64))


def prices() -> Scored:
    """Probabilities of an online logistic regression; every second half-hour."""
    X, up = _read_prices()
    weights, chances = np.zeros(X.shape[1]), np.empty(len(X))
    for t, x in enumerate(X):
        chances[t] = 1.0 / (1.0 + np.exp(-float(x @ weights)))
        weights += 0.05 * (up[t] - chances[t]) * x
    return Scored(np.column_stack([chances, 1.0 - chances]), up)


def _read_prices() -> tuple[FloatArray, IntArray]:
    """Six features in [0, 1] after a 1, and whether the price is up, as 1 or 0."""
    folder = data.get("elec2")
    path = next(p for p in (folder / name for name in data.DATASETS["elec2"].files) if p.exists())
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    rows = [line.split(",")[-7:] for line in text.splitlines()[1::2]]  # of both file formats
    X = np.array([[1.0, *map(float, row[:-1])] for row in rows])
    return X, np.array([int(row[-1] in ("UP", "1")) for row in rows])
