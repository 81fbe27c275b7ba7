from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, Mondrian, replay
from localarc.curves import Curves, miscoverage
from localarc.serialization import StateError


def stream(T: int, seed: int = 0) -> tuple[Any, Curves, list[str]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(T, 2))
    groups = [("north", "south", "west")[i] for i in random.integers(0, 3, T)]
    return X, miscoverage(np.abs(random.normal(size=T))), groups


def larc() -> LARC:
    return LARC(0.2, RBF.from_paper(1.0))


def test_one_group_is_no_group() -> None:
    X, curves, _ = stream(80)
    one = replay(Mondrian(larc, group_of=lambda x: "all"), X, curves)
    none = replay(larc(), X, curves)
    assert np.array_equal(one.thresholds, none.thresholds)


def test_each_group_is_calibrated_as_if_it_were_alone() -> None:
    X, curves, groups = stream(120)
    run = replay(Mondrian(larc), X, curves, groups)
    for group in set(groups):
        rounds = np.array([g == group for g in groups])
        alone = replay(larc(), X[rounds], curves.take(rounds))
        assert np.array_equal(run.thresholds[rounds], alone.thresholds)


def test_the_names_of_groups_do_not_matter() -> None:
    X, curves, groups = stream(90)
    renamed = [{"north": 3, "south": (1, "a"), "west": None}[g] or "w" for g in groups]
    first = replay(Mondrian(larc), X, curves, groups)
    second = replay(Mondrian(larc), X, curves, renamed)
    assert np.array_equal(first.thresholds, second.thresholds)


def test_the_online_loop_and_replay_agree() -> None:
    X, curves, groups = stream(90)
    online, replayed = Mondrian(larc), Mondrian(larc)
    thresholds = []
    for t, (x, group) in enumerate(zip(X, groups, strict=True)):
        thresholds.append(online.threshold(x, group))
        online.update(x, curves.loss_at(t, thresholds[-1]), groups=group)
    run = replay(replayed, X, curves, groups)
    assert np.allclose(run.thresholds, thresholds, rtol=0, atol=1e-12)
    assert np.allclose(
        online.averaged_threshold_function(X, groups),
        replayed.averaged_threshold_function(X, groups),
        rtol=0,
        atol=1e-12,
    )
    assert np.allclose(
        online.threshold_function(X, groups), online.threshold(X, groups), rtol=0, atol=0
    )


def test_an_unseen_group_starts_from_the_beginning_and_leaves_no_trace() -> None:
    cal = Mondrian(lambda: ARC(0.1, initial_threshold=0.3))
    cal.update([0.0], 1.0, groups="a")
    before = cal.state()
    assert cal.threshold([0.0], "b") == 0.3
    assert cal.state() == before
    with pytest.raises(ValueError, match="loss must lie"):
        cal.update([0.0], 2.0, groups="b")
    assert cal.state() == before


def test_groups_survive_saving(tmp_path: Any) -> None:
    cal = Mondrian(larc)
    for group in ["a", 1, 2.5, True, ("x", 3), np.int64(7)]:
        cal.update([0.0, 1.0], 1.0, groups=group)
    cal.save(tmp_path / "m")
    twin = Mondrian.load(tmp_path / "m")
    assert twin.state() == cal.state()
    assert list(twin.calibrators) == list(cal.calibrators)
    twin.update([0.0, 1.0], 0.5, groups="new")
    assert twin.calibrators["new"].alpha == 0.2


def test_a_saved_group_function_has_to_be_passed_again(tmp_path: Any) -> None:
    def sign(x: Any) -> bool:
        return bool(x[0] > 0)

    cal = Mondrian(larc, sign).update([1.0], 1.0)
    cal.save(tmp_path / "m")
    with pytest.raises(StateError, match="group_of="):
        Mondrian.load(tmp_path / "m")
    assert Mondrian.load(tmp_path / "m", group_of=sign).state() == cal.state()


def test_the_certificate_averages_over_groups_and_keeps_each() -> None:
    X, curves, groups = stream(200)
    cal = Mondrian(lambda: ARC(0.2))
    run = replay(cal, X, curves, groups)
    certificate = cal.certificate(evidence=run.evidence)
    assert certificate.risk == pytest.approx(run.risk)
    assert certificate.rounds == 200
    assert set(certificate.groups) == set(groups)
    assert certificate.consistent
    assert abs(run.risk - 0.2) <= certificate.observed.value
    assert abs(run.risk - 0.2) <= certificate.theorem_a.value
    with pytest.raises(ValueError, match="Use one group's"):
        certificate.forward(1000)
    assert certificate.groups["north"].forward(1000).holds


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda cal: cal.threshold([0.0]), "no group was given"),
        (lambda cal: cal.threshold([0.0], groups=float("nan")), "equal to itself"),
        (lambda cal: cal.threshold([0.0], groups=[1]), "hashable"),
        (lambda cal: cal.threshold(np.zeros((3, 1)), ["a"]), "one entry per input"),
    ],
)
def test_a_bad_group_says_what_is_wrong(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(Mondrian(larc))


def test_it_wants_something_that_makes_calibrators() -> None:
    with pytest.raises(TypeError, match="make_calibrator must be a function"):
        Mondrian(ARC(0.1))  # type: ignore[arg-type]
    used = ARC(0.1).update(None, 1.0)
    with pytest.raises(TypeError, match="must return a new calibrator"):
        Mondrian(lambda: used)


def test_a_group_that_cannot_be_saved_is_refused_when_it_is_first_seen() -> None:
    cal = Mondrian(larc).update([0.0], 1.0, groups="known")
    before = cal.state()
    for call in (cal.update, lambda x, loss, groups: cal.ask(x, groups)):
        with pytest.raises(StateError, match="Use text, numbers or tuples"):
            call([0.0], 1.0, groups=frozenset({1}))
    assert cal.state() == before
