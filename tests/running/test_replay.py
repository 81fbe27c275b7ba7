import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, AssumptionWarning, Mondrian, Record, replay
from localarc.curves import false_negatives, from_table, miscoverage
from localarc.guarantees import Evidence
from localarc.serialization import StateError
from localarc.streams import Round
from localarc.streams.synthetic import heteroscedastic


class Halving:
    """A user's own calibrator, which has nothing but the two methods."""

    alpha = 0.25

    def __init__(self) -> None:
        self.value = 1.0

    def threshold(self, x: Any) -> float:
        return self.value

    def update(self, x: Any, loss: float) -> None:
        self.value *= 2.0 if loss else 0.5


def test_any_object_with_threshold_and_update_can_be_run() -> None:
    run = replay(Halving(), np.zeros((4, 1)), miscoverage([0.5, 0.6, 0.1, 9.0]))
    assert run.thresholds.tolist() == [1.0, 0.5, 1.0, 0.5]
    assert run.losses.tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "make", [lambda: LARC(0.1, RBF.from_paper(0.3)), lambda: Mondrian(lambda: ARC(0.1))]
)
def test_an_iterator_of_rounds_gives_the_same_record(make: Any) -> None:
    stream = heteroscedastic(150, seed=1)
    packed = replay(make(), stream.X, stream.curves, stream.groups)
    one_by_one = replay(make(), iter(stream))
    assert np.allclose(packed.thresholds, one_by_one.thresholds, rtol=0, atol=1e-12)
    assert np.array_equal(packed.losses, one_by_one.losses)
    assert np.allclose(packed.sizes, one_by_one.sizes, rtol=0, atol=1e-12)
    assert packed.groups == one_by_one.groups


def test_replay_can_be_split_anywhere() -> None:
    stream = heteroscedastic(150, seed=1)
    whole, parts = LARC(0.1, RBF.from_paper(0.3)), LARC(0.1, RBF.from_paper(0.3))
    run = replay(whole, stream.X, stream.curves)
    first = replay(parts, stream.X[:40], stream.curves.take(slice(0, 40)))
    second = replay(parts, stream.X[40:], stream.curves.take(slice(40, 150)))
    joined = np.concatenate([first.thresholds, second.thresholds])
    assert np.allclose(run.thresholds, joined, rtol=0, atol=1e-12)


def test_progress_counts_every_round() -> None:
    stream = heteroscedastic(50, seed=1)
    for make in (lambda: ARC(0.1), lambda: LARC(0.1, RBF.from_paper(1.0)), Halving):
        done: list[int] = []
        replay(make(), stream.X, stream.curves, progress=done.append)
        assert sum(done) == 50


def test_an_empty_stream_is_an_empty_record() -> None:
    run = replay(ARC(0.1), np.zeros((0, 2)), miscoverage([]))
    assert len(run) == 0
    assert np.isnan(run.risk)
    assert len(replay(Halving(), iter([]))) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: replay(ARC(0.1), np.zeros((3, 1)), miscoverage([0.1])), "3 rows and 1 curves"),
        (
            lambda: replay(ARC(0.1), [[0.0]], miscoverage([0.1]), groups=[1, 2]),
            "groups must have one entry per round",
        ),
        (
            lambda: replay(ARC(0.1), [[0.0]], miscoverage([0.1], cost=[2.0], bound=2.0)),
            "loss_bound=2.0",
        ),
        (lambda: replay(ARC(0.1), np.zeros((3, 1))), "a round must be"),
        (lambda: replay(ARC(0.1), [(1.0,)]), "as round 0"),
        (lambda: replay(Mondrian(lambda: ARC(0.1)), [[0.0]], miscoverage([0.1])), "no group"),
    ],
)
def test_a_bad_stream_says_what_is_wrong(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_record_survives_saving(tmp_path: Path) -> None:
    stream = heteroscedastic(60, seed=2)
    labels = [("a", 1), "b", 3] * 20
    for groups in (labels, None):
        run = replay(LARC(0.1, RBF.from_paper(1.0)), stream.X, stream.curves, groups)
        run.save(tmp_path / "record")
        back = Record.load(tmp_path / "record")
        for name in ("thresholds", "losses", "sizes"):
            assert np.array_equal(getattr(back, name), getattr(run, name))
        assert (back.groups, back.alpha, back.calibrator) == (run.groups, 0.1, run.calibrator)
        assert back.evidence == run.evidence


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04broken"])
def test_a_file_that_is_no_record_is_rejected(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(StateError, match="not a localarc record"):
        Record.load(tmp_path / "f")


def test_a_truncated_record_is_rejected(tmp_path: Path) -> None:
    replay(ARC(0.1), [[0.0]], miscoverage([0.1])).save(tmp_path / "f")
    data = (tmp_path / "f").read_bytes()
    (tmp_path / "f").write_bytes(data[: len(data) // 2])
    with pytest.raises(StateError, match="not a localarc record"):
        Record.load(tmp_path / "f")


def test_a_record_is_a_table() -> None:
    pytest.importorskip("pandas")
    run = replay(ARC(0.1), [[0.0], [1.0]], miscoverage([0.5, 0.5], widths=0.0), ["a", "b"])
    frame = run.to_pandas()
    assert list(frame.columns) == ["round", "group", "threshold", "loss", "size"]
    assert frame["round"].tolist() == [1, 2]
    assert frame["size"].tolist() == [0.0, 1.8]


def test_without_pandas_the_way_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install 'localarc\\[pandas\\]'"):
        replay(ARC(0.1), [[0.0]], miscoverage([0.5])).to_pandas()


def test_a_record_says_what_was_run() -> None:
    run = replay(LARC(0.1, RBF.from_paper(1.0)), [[0.0]], miscoverage([0.5]))
    assert "memory=Lattice(tolerance=1e-15" in run.calibrator  # what "auto" chose
    assert "mean loss 1.0000, target 0.1" in repr(run)
    assert run.evidence == Evidence((0.5, 0.5), 0, 0, rounds=1)


def test_rounds_of_images_work_like_any_other() -> None:
    scores = np.random.default_rng(0).normal(size=(30, 5, 5))
    curves = false_negatives(scores, np.ones((30, 5, 5)))
    run = replay(ARC(0.2), np.zeros((30, 1)), curves)
    assert (run.sizes + run.losses) == pytest.approx(np.ones(30))
    assert Round(np.zeros(1), curves[0]).group is None


class Scored:
    alpha, learns_from = 0.1, {"curve", "score"}

    def __init__(self) -> None:
        self.seen: list[float] = []

    def threshold(self, x: Any) -> float:
        return 0.0

    def update(self, x: Any, loss: float, curve: Any, score: float) -> None:
        assert curve.loss(score) <= self.alpha < curve.loss(score - 1e-9)
        self.seen.append(score)


def test_a_method_that_learns_from_scores_receives_score_and_curve() -> None:
    scores = [0.3, -0.1, 0.2]
    learner = Scored()
    replay(learner, np.zeros((3, 1)), miscoverage(scores))
    assert learner.seen == scores
    replay(learner, ((0.0, miscoverage(scores)[t]) for t in range(3)))
    assert learner.seen == scores * 2


def test_an_iterator_of_rounds_is_examined_like_packed_curves() -> None:
    scores = np.random.default_rng(0).random(50)
    costs = (scores > 0.9).astype(float)  # some rounds must fail, others cannot
    curves = from_table(costs[:, None], grid=[0.5], below=np.maximum(costs, scores > 0.2))
    X = np.zeros((50, 1))
    with pytest.warns(AssumptionWarning) as packed_warnings:
        packed = replay(ARC(0.1), X, curves)
    with pytest.warns(AssumptionWarning) as iterated_warnings:
        iterated = replay(ARC(0.1), ((x, curves[t]) for t, x in enumerate(X)))
    assert iterated.evidence == packed.evidence
    assert packed.evidence.full_set_fails
    assert packed.evidence.empty_set_passes
    assert [str(w.message) for w in iterated_warnings] == [str(w.message) for w in packed_warnings]
