"""Every call of every public object changes everything or nothing, wherever it is interrupted."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import interrupts
from interrupt_cases import CASES, actuals, forecasts
from localarc.forecasting import Bands

pytestmark = pytest.mark.filterwarnings("ignore")  # of runs that are as short as these
SIGNALS = 200


OFTEN = (
    *("ARC", "AutoLARC", "LabelSets", "Mondrian", "Safeguard", "Bands", "Monitor"),
    *("Calibrated", "Panel of LARC", "KeyedStreams"),
)


def calls(*, often: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """All calls of all objects, one test each; fast are those of one object of each kind."""
    return pytest.mark.parametrize(
        ("case", "call"),
        [
            pytest.param(
                case,
                call,
                id=f"{name}, {what}",
                marks=[] if not often or name in often else pytest.mark.slow,
            )
            for name, case in CASES.items()
            for what, call in case.calls.items()
        ],
    )


@calls(often=OFTEN)
def test_an_interrupt_where_a_call_takes_effect_leaves_it_done_or_not_made(
    case: interrupts.Case, call: interrupts.Call
) -> None:
    assert interrupts.faults_around_the_change(case, call) == []


@pytest.mark.slow
@calls()
def test_no_place_leaves_a_call_half_done(case: interrupts.Case, call: interrupts.Call) -> None:
    assert interrupts.all_faults(case, call, stride=3) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_signal_of_two_hundred_leaves_a_call_half_done(name: str) -> None:
    case = CASES[name]
    made = [interrupts.Outcomes(case, call) for call in case.calls.values()]
    random = np.random.default_rng(0)
    durations = [interrupts.duration(outcomes) for outcomes in made]
    found = []
    for number in range(SIGNALS):
        at = number % len(made)
        delay = random.uniform(1e-6, 4.0 * durations[at] + 1e-4)  # a first call takes longer
        found.append(interrupts.signalled(made[at], delay))
    assert "before" in found
    assert {*found} <= {"before", "after"}


def test_a_signal_waits_until_a_destructor_is_left() -> None:
    left = []

    class Slow:
        def __del__(self) -> None:
            end = time.perf_counter() + 0.05
            while time.perf_counter() < end:
                pass
            left.append(time.perf_counter())

    def call() -> None:
        made = Slow()
        del made
        time.sleep(1.0)

    with interrupts.alarm():
        assert interrupts.comes_in_time(call, 0.01)
    assert len(left) == 1


@pytest.mark.parametrize("what", ["observe", "observe many"])
def test_an_interrupted_call_that_is_repeated_counts_once(what: str) -> None:
    case = CASES["Bands"]
    call = case.calls[what]
    done = copy.deepcopy(case.start())
    call(done)
    for n in range(0, interrupts.places(case, call), 150):
        target = copy.deepcopy(case.start())
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupted(target, call, n)
        call(target)
        assert target.state() == done.state()


def test_bands_in_four_threads_say_so_and_lose_nothing() -> None:
    bands, refused = Bands(horizon=3), []

    def work(first: int) -> None:
        for t in range(first, first + 30):
            try:
                bands.predict(forecasts(t))
                bands.observe(actuals(t))
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work, args=(100 * i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
        assert not thread.is_alive()
    assert all("in use by another thread" in text for text in refused)
    assert Bands.from_state(bands.state()).pending == bands.pending


def test_bands_that_another_thread_is_inside_raise() -> None:
    bands = CASES["Bands"].start()
    with bands._exclusive():
        for call in CASES["Bands"].calls.values():
            with pytest.raises(RuntimeError, match="in use by another thread"):
                call(bands)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_copy_is_a_deep_copy(case: interrupts.Case) -> None:
    origin = copy.deepcopy(case.start())
    before = case.facts(origin)
    twin = copy.copy(origin)
    assert case.facts(twin) == before
    case.finish(twin)
    assert case.facts(origin) == before


_SEEDED = """
import hashlib
from localarc import AutoLARC, LabelSets
cal = LabelSets(0.1, ["x", "y"], max_bytes=150_000)
auto = AutoLARC(0.1, max_bytes=150_000)
for t in range(12):
    groups = {"north", "night", "rain", ("a", t % 3), t % 2}
    cal.update(None, [0.1 * t, 0.5], "xy"[t % 2], groups=groups)
    auto.update(None, float(t % 4 == 0), 0.1 * t, groups)
cal.ask(None, [0.3, 0.6], groups={"snow", "day", "south"})
print(hashlib.sha256(cal.state() + auto.state()).hexdigest())
"""


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _SEEDED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "012"
    }
    assert len(found) == 1
