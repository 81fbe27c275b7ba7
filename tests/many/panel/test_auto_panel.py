"""A panel of AutoLARC is an AutoLARC for each key, to the last bit."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import ARC, AutoLARC, Panel
from localarc.calibrators.tickets import TicketError
from localarc.curves import Curves, miscoverage
from localarc.many.panel.auto_streams import KEY_BYTES
from localarc.serialization import StateError

NAMES: list[str | int] = ["ann", "bob", "", 0, -5, "0"]
PROTOTYPES = {
    "default": AutoLARC(0.2),
    "one-sided": AutoLARC(0.2, promise="at most", max_bytes=300_000),
    "limits": AutoLARC(0.2, limits=(0.0, 5.0), initial_threshold=0.5, evenness=2.0),
}
every_prototype = pytest.mark.parametrize("prototype", PROTOTYPES.values(), ids=PROTOTYPES)


def events(seed: int, n: int = 80, features: int = 2) -> tuple[list[Any], Any, Any, Curves]:
    random = np.random.default_rng(seed)
    keys = [NAMES[i] for i in random.integers(0, len(NAMES), n)]
    scores = np.abs(random.normal(size=n))
    X = random.normal(size=(n, features))
    return keys, X, scores, miscoverage(scores, widths=0.0)


def alone(panel: Panel) -> AutoLARC:
    """A new calibrator with the settings of every key."""
    assert isinstance(panel.prototype, AutoLARC)
    return copy.copy(panel.prototype).reset()


@every_prototype
def test_a_panel_is_an_autolarc_for_each_key_to_the_last_bit(prototype: AutoLARC) -> None:
    panel, single = Panel(prototype), dict[Any, AutoLARC]()
    for seed in range(3):
        keys, X, scores, curves = events(seed)
        known = [single.get(key, alone(panel)).threshold(x) for key, x in zip(keys, X, strict=True)]
        assert panel.thresholds(keys, X).tolist() == known
        record = panel.replay(keys, X, curves)
        for t, key in enumerate(keys):
            mine = single.setdefault(key, alone(panel))
            threshold = mine.threshold(X[t])
            loss = curves.loss_at(t, threshold)
            assert (record.thresholds[t], record.losses[t]) == (threshold, loss)
            mine.update(X[t], loss, scores[t])
        losses = np.random.default_rng(seed).uniform(size=len(keys))
        panel.update(keys, X, losses, scores)
        for t, key in enumerate(keys):
            single[key].update(X[t], float(losses[t]), float(scores[t]))
    assert panel.keys == list(single)
    for key, calibrator in single.items():
        assert panel.calibrator(key).state() == calibrator.state()
    assert panel.rounds.tolist() == [each.rounds for each in single.values()]
    risks = [each.certificate().risk for each in single.values()]
    assert panel.risks == pytest.approx(risks, rel=1e-12)


def test_a_key_has_a_small_table_unless_the_prototype_states_another() -> None:
    keys, X, _, curves = events(0)
    small, stated = Panel(AutoLARC(0.1)), Panel(AutoLARC(0.1, max_bytes=1_000_000))
    for panel in (small, stated):
        panel.replay(keys, X, curves)
    assert small.nbytes < 1.3 * KEY_BYTES * len(small)
    assert stated.nbytes > 3 * small.nbytes


def test_inputs_may_be_missing_or_have_no_features() -> None:
    panel = Panel(AutoLARC(0.1))
    panel.update(["a", "b"], None, [1.0, 0.0], [0.5, 0.2])
    single = alone(panel).update(None, 1.0, 0.5)
    assert panel.calibrator("a").state() == single.state()
    holes = Panel(AutoLARC(0.1)).update(["a"], [[np.nan, 1.0]], [1.0], [0.5])
    assert holes.calibrator("a").state() == alone(holes).update([np.nan, 1.0], 1.0, 0.5).state()


@every_prototype
def test_a_panel_resumes_bit_for_bit(prototype: AutoLARC) -> None:
    panel = Panel(prototype)
    keys, X, _, curves = events(1)
    panel.replay(keys, X, curves)
    panel.update(["holes"], [[np.nan, 0.0]], [0.0], [0.1])
    copies = [
        Panel.from_state(panel.state()),
        Panel.from_state(panel.state(), prototype),
        pickle.loads(pickle.dumps(panel)),
        copy.deepcopy(panel),
    ]
    keys, X, _, curves = events(2)
    expected = panel.replay(keys, X, curves)
    for each in copies:
        assert each.replay(keys, X, curves).thresholds.tolist() == expected.thresholds.tolist()
        assert each.state() == panel.state()


def test_a_state_of_other_settings_is_not_loaded() -> None:
    data = Panel(AutoLARC(0.1)).update(["a"], [[0.0]], [1.0], [0.5]).state()
    with pytest.raises(StateError, match="other settings"):
        Panel(AutoLARC(0.2)).restore(data)


def test_calibrators_are_put_in_taken_out_and_dropped() -> None:
    panel = Panel(AutoLARC(0.1)).update(["a", "b"], [[0.0], [1.0]], [1.0, 0.0], [0.5, 0.2])
    mine = alone(panel).update([0.5], 1.0, 0.7)
    panel.put("c", mine).put("a", mine)
    mine.update([0.5], 1.0, 0.7)
    assert [panel.calibrator(key).rounds for key in panel.keys] == [1, 1, 1]
    assert panel.thresholds(["a"], [[0.5]]) == panel.thresholds(["c"], [[0.5]])
    assert panel.drop(["a"]).keys == ["b", "c"]
    assert panel.rounds_of(["a", "c"]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="same settings"):
        panel.put("d", ARC(0.1))
    with pytest.raises(ValueError, match="1 feature"):
        panel.put("d", alone(panel).update([0.5, 0.1], 1.0, 0.7))


def test_every_key_has_its_own_certificate() -> None:
    panel = Panel(AutoLARC(0.1))
    keys, X, _, curves = events(3, n=400)
    record = panel.replay(keys, X, curves)
    for key in panel.keys:
        mine = record.losses[[name == key and type(name) is type(key) for name in keys]]
        found: Any = panel.certificate(key, losses=mine)
        assert found.consistent
        assert found.rounds + found.uninformed == len(mine)
        assert found.risk == pytest.approx(mine[found.uninformed :].mean())
        assert -found.below.value <= found.risk - 0.1 <= found.above.value


BAD: dict[str, Callable[[Panel], object]] = {
    "loss": lambda panel: panel.update(["a", "z"], [[0.0], [0.0]], [1.0, 2.0], [0.1, 0.1]),
    "no score of a new key": lambda panel: panel.update(["a", "z"], [[0.0]] * 2, [1.0, 0.0]),
    "score": lambda panel: panel.update(["a", "z"], [[0.0]] * 2, [1.0, 0.0], np.array([0.1, "x"])),
    "too few scores": lambda panel: panel.update(["a", "z"], [[0.0]] * 2, [1.0, 0.0], [0.1]),
    "features": lambda panel: panel.update(["a", "z"], [[0.0, 1.0]] * 2, [1.0, 0.0], [0.1, 0.2]),
    "too few inputs": lambda panel: panel.update(["a", "z"], [[0.0]], [1.0, 0.0], [0.1, 0.2]),
    "curves": lambda panel: panel.replay(["a", "z"], [[0.0]] * 2, miscoverage([0.1])),
    "not curves": lambda panel: panel.replay(["a"], [[0.0]], [0.1]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", BAD)
def test_a_failed_call_leaves_the_panel_as_it_was(name: str) -> None:
    panel = Panel(AutoLARC(0.1)).update(["a", "b"], [[0.0], [1.0]], [1.0, 0.0], [0.5, 0.2])
    before = panel.state()
    with pytest.raises((TypeError, ValueError)):
        BAD[name](panel)
    assert panel.state() == before


def test_only_autolarc_learns_from_scores_and_only_the_others_have_a_constant() -> None:
    with pytest.raises(TypeError, match="does not learn from scores"):
        Panel(ARC(0.1)).update(["a"], None, [1.0], [0.5])
    with pytest.raises(AttributeError, match="no constant"):
        _ = Panel(AutoLARC(0.1)).constants


def test_losses_may_come_late_and_in_any_order() -> None:
    panel = Panel(AutoLARC(0.2))
    keys, X, scores, _ = events(4)
    single = {key: alone(panel) for key in dict.fromkeys(keys)}
    tickets = panel.ask(keys, X)
    issued = [single[key].ask(x) for key, x in zip(keys, X, strict=True)]
    assert tickets == issued
    panel = Panel.from_state(panel.state())  # pending tickets are part of the state
    order = np.random.default_rng(0).permutation(len(keys)).tolist()
    losses = [float(scores[i] > tickets[i].threshold) for i in order]
    panel.tell([keys[i] for i in order], [tickets[i] for i in order], losses, scores[order])
    for i, loss in zip(order, losses, strict=True):
        single[keys[i]].tell(tickets[i], loss, float(scores[i]))
    for key, calibrator in single.items():
        assert panel.calibrator(key).state() == calibrator.state()


def test_a_ticket_is_told_once_and_only_to_its_key() -> None:
    panel = Panel(AutoLARC(0.2))
    first, second = panel.ask(["a", "a"], [[0.0], [1.0]])
    before = panel.state()
    with pytest.raises(KeyError, match="no key 'b'"):
        panel.tell(["a", "b"], [first, second], [1.0, 0.0], [0.5, 0.5])
    with pytest.raises(TicketError, match="not pending"):
        panel.tell(["a", "a"], [first, first], [1.0, 0.0], [0.5, 0.5])
    assert panel.state() == before
    with pytest.raises(TypeError, match="no tickets"):
        Panel(ARC(0.1)).ask(["a"])
