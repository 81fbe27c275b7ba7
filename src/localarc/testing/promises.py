"""The promises that every calibrator keeps, as one list of checks."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from localarc import serialization
from localarc.calibrators.role import Calibrator, require_calibrator
from localarc.calibrators.step_by_step import play_round
from localarc.curves import Curves, miscoverage
from localarc.guarantees import Evidence
from localarc.running.replay import replay
from localarc.testing.adversary import STRATEGIES, attack
from localarc.validation import FloatArray

Promise = Callable[[Any, int], None]


def check_calibrator(calibrator: Calibrator, dimension: int = 2) -> None:
    """Raise an AssertionError that names the first promise which a calibrator breaks.

    Promises about the state, the certificate and `reset` are checked where a calibrator has them.

    Parameters
    ----------
    calibrator : Calibrator
        A new calibrator, which is left as it was; checks run on copies.
    dimension : int, default 2
        The number of features of its inputs.

    Examples
    --------
    >>> from localarc import ARC
    >>> check_calibrator(ARC(alpha=0.1))
    """
    require_calibrator(calibrator)
    for needs, promise in PROMISES:
        if not all(hasattr(calibrator, name) for name in needs):
            continue
        fresh = copy.deepcopy(calibrator)
        fresh = fresh.reset() if hasattr(fresh, "reset") else fresh
        try:
            promise(fresh, dimension)
        except AssertionError as broken:
            sentence = (promise.__doc__ or promise.__name__).splitlines()[0]
            raise AssertionError(
                f"{calibrator!r} breaks a promise: {sentence} {broken}"
            ) from broken


def _threshold_is_pure(cal: Any, dimension: int) -> None:
    """Asking for a threshold changes nothing."""
    X, curves = _stream(cal, 20, dimension)
    _learn(cal, X, curves)
    before = _state(cal)
    first, second = _ask(cal, X[0], 0), _ask(cal, X[0], 0)
    assert first == second, f"Two answers: {first}, {second}."
    assert _state(cal) == before, "The state changed."


def _many_inputs_are_one_by_one(cal: Any, dimension: int) -> None:
    """An (n, d) array gives the thresholds of its rows."""
    X, curves = _stream(cal, 20, dimension)
    _learn(cal, X, curves)
    groups = [_group(t) for t in range(len(X))]
    at_once = cal.threshold(X, **({"groups": groups} if _uses_groups(cal) else {}))
    one_by_one = [_ask(cal, x, t) for t, x in enumerate(X)]
    gap = np.abs(at_once - np.array(one_by_one)).max()
    assert gap <= 1e-12, f"They differ by {gap}."


def _bad_input_changes_nothing(cal: Any, dimension: int) -> None:
    """A failed call leaves the state as it was, and a bad loss always fails."""
    X, curves = _stream(cal, 20, dimension)
    _learn(cal, X, curves)
    good = X[0]
    for loss in (
        float("nan"),
        -0.1,
        _loss_bound(cal) + 0.1,
        float("inf"),
        "much",
        None,
        [0.1, 0.2],
    ):
        assert _rejects(cal, good, loss), f"It accepted the loss {loss!r}."
    for x in (good * np.nan, good * np.inf, np.append(good, 1.0), "here", np.zeros((3, 2, 1))):
        if not _rejects(cal, x, 0.0):  # a calibrator that never reads x may accept anything
            assert np.isfinite(_ask(cal, good, 0)), f"The input {x!r} poisoned its thresholds."


def _resumes_bit_for_bit(cal: Any, dimension: int) -> None:
    """A state that was saved in mid-stream resumes exactly as the original."""
    X, curves = _stream(cal, 60, dimension)
    _learn(cal, X[:30], curves.take(slice(0, 30)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        cal.save(path)
        twin = copy.deepcopy(cal).reset().restore(serialization.read(path))
    rest = curves.take(slice(30, 60))
    (thresholds, _), (again, _) = _learn(cal, X[30:], rest), _learn(twin, X[30:], rest)
    assert np.array_equal(thresholds, again), "Thresholds differ after resuming."
    assert twin.state() == cal.state(), "The states differ after resuming."


def _replay_is_the_loop(cal: Any, dimension: int) -> None:
    """Replay gives the numbers of threshold and update in a loop."""
    X, curves = _stream(cal, 80, dimension)
    twin = copy.deepcopy(cal)
    groups = [_group(t) for t in range(len(X))]
    run = replay(cal, X, curves, groups)
    thresholds, losses = _learn(twin, X, curves)
    assert np.allclose(run.thresholds, thresholds, rtol=0, atol=1e-12), "Thresholds differ."
    assert np.array_equal(run.losses, losses), "Losses differ."
    mine, theirs = getattr(cal, "rounds", None), getattr(twin, "rounds", None)
    assert mine == theirs, "The number of rounds differs."


def _the_identity_holds(cal: Any, dimension: int) -> None:
    """The running constant accounts for every loss."""
    X, curves = _stream(cal, 80, dimension)
    _, losses = _learn(cal, X, curves)
    certificate = cal.certificate()
    losses = _promised(losses, certificate)
    assert certificate.consistent, f"The gap is {certificate.consistency_gap}."
    assert abs(certificate.risk - losses.mean()) < 1e-12, "The risk is not the mean loss."
    assert abs(losses.mean() - cal.alpha) <= certificate.observed.value + 1e-9, "CERT is broken."


def _promised(losses: FloatArray, certificate: Any) -> FloatArray:
    """The losses that are part of the promise: not those before enough scores were known."""
    return losses[getattr(certificate, "uninformed", 0) :]


def _no_adversary_breaks_the_bound(cal: Any, dimension: int) -> None:
    """The mean loss stays within the certificate's bound, for any outcomes."""
    if _uses_groups(cal):
        return  # the adversary's rounds have no groups; each group's calibrator is checked alone
    for strategy in STRATEGIES:
        twin = copy.deepcopy(cal)
        run = attack(twin, 300, strategy, dimension=dimension)
        certificate = twin.certificate(evidence=Evidence((0.0, 1.0), 0, 0))
        bound = certificate.bound
        if bound.holds:
            gap = abs(_promised(run.losses, certificate).mean() - cal.alpha)
            assert gap <= bound.value, f"{strategy!r}: {gap} exceeds {bound.value}."


def _reset_forgets(cal: Any, dimension: int) -> None:
    """After reset a calibrator is as new."""
    new = cal.state()
    X, curves = _stream(cal, 20, dimension)
    _learn(cal, X, curves)
    assert cal.reset().state() == new, "Something was remembered."


PROMISES: tuple[tuple[tuple[str, ...], Promise], ...] = (
    ((), _threshold_is_pure),
    (("partial_fit",), _many_inputs_are_one_by_one),
    (("partial_fit",), _bad_input_changes_nothing),
    (("state", "restore", "save"), _resumes_bit_for_bit),
    ((), _replay_is_the_loop),
    (("certificate",), _the_identity_holds),
    (("certificate",), _no_adversary_breaks_the_bound),
    (("reset", "state"), _reset_forgets),
)
"""Each promise, after the members without which it does not apply."""


def _stream(cal: Any, n: int, dimension: int) -> tuple[FloatArray, Curves]:
    random = np.random.default_rng(7)
    X = random.normal(size=(n, dimension))
    scores = np.abs(random.normal(size=n)) * (0.2 + np.abs(X[:, 0]))
    cost = np.full(n, _loss_bound(cal))
    return X, miscoverage(scores, cost=cost, bound=_loss_bound(cal))


def _learn(cal: Any, X: FloatArray, curves: Curves) -> tuple[FloatArray, FloatArray]:
    """The online loop."""
    thresholds, losses = np.empty((2, len(X)))
    for t, x in enumerate(X):
        thresholds[t], losses[t], _ = play_round(cal, x, curves[t], _group(t))
    return thresholds, losses


def _ask(cal: Any, x: Any, t: int) -> float:
    return float(cal.threshold(x, **_where(cal, t)))


def _where(cal: Any, t: int) -> dict[str, Any]:
    return {"groups": _group(t)} if _uses_groups(cal) else {}


def _uses_groups(cal: Any) -> bool:
    return "groups" in getattr(cal, "learns_from", ())


def _loss_bound(cal: Any) -> float:
    return float(getattr(cal, "loss_bound", 1.0))


def _state(cal: Any) -> bytes | None:
    return bytes(cal.state()) if hasattr(cal, "state") else None


def _group(t: int) -> int:
    return t % 3


def _rejects(cal: Any, x: Any, loss: Any) -> bool:
    before = _state(cal)
    try:
        cal.update(x, loss, **_where(cal, 0))
    except (TypeError, ValueError):
        assert _state(cal) == before, f"update({x!r}, {loss!r}) failed and changed the state."
        return True
    return False
