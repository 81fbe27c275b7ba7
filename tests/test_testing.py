from typing import Any

import pytest

from examples import KERNELS, sparse
from localarc import (
    ARC,
    LARC,
    RBF,
    Constant,
    KeepAll,
    KeepLast,
    Mondrian,
)
from localarc.calibrators.base import BaseCalibrator
from localarc.testing.promises import PROMISES, check_calibrator

MEMORIES = [KeepAll(), KeepLast(9), KeepLast(9, archive=False)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "memory"), sparse([*KERNELS], MEMORIES))
def test_every_kernel_and_memory_keeps_the_promises(name: str, memory: Any) -> None:
    check_calibrator(LARC(0.1, KERNELS[name], memory=memory))


@pytest.mark.parametrize(
    "calibrator",
    [
        ARC(0.1),
        ARC(0.9, Constant(0.3), loss_bound=2.0),
        LARC(0.2, RBF.from_paper(1.0), clip=0.3),
        LARC(0.2, RBF.from_paper(1.0), radius=0.3, regularization=0.0),
        LARC(0.2, RBF.from_paper(1.0), regularization=0.9, memory=KeepLast(5)),
        Mondrian(lambda: ARC(0.1)),
        Mondrian(lambda: LARC(0.1, RBF.from_paper(1.0))),
        Mondrian(lambda: LARC(0.1, RBF.from_paper(1.0)), group_of=lambda x: int(x[0] > 0)),
    ],
    ids=repr,
)
def test_every_calibrator_keeps_the_promises(calibrator: BaseCalibrator) -> None:
    check_calibrator(calibrator)
    check_calibrator(calibrator, dimension=1)


def test_the_calibrator_itself_is_left_alone() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0, 0.0], 1.0)
    before = cal.state()
    check_calibrator(cal)
    assert cal.state() == before


class Restless(ARC):
    """Changes when asked."""

    def threshold(self, x: Any, groups: Any = ()) -> Any:
        self._constant.constant += 1e-3
        return super().threshold(x)


class Trusting(ARC):
    """Takes any loss."""

    def update(self, x: Any, loss: Any, *more: Any, **others: Any) -> Any:
        return super().update(x, loss if isinstance(loss, float) and 0 <= loss <= 1 else 0.5)


class Careless(LARC):
    """Counts a round before it has looked at the loss."""

    def update(self, x: Any, loss: Any, *more: Any, **others: Any) -> Any:
        self._constant.rounds += 1
        super().update(x, loss)
        self._constant.rounds -= 1
        return self


class Forgetful(ARC):
    """Saves less than it knows."""

    def state(self) -> bytes:
        return ARC.state(Forgetful(0.1))


class Creative(ARC):
    """Reports half of the losses."""

    def certificate(self, *args: Any, **options: Any) -> Any:
        self._constant.loss_sum /= 2
        return super().certificate(*args, **options)


class Hoarder(ARC):
    """Does not forget."""

    def reset(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("calibrator", "words"),
    [
        (Restless(0.1), "Asking for a threshold changes nothing"),
        (Trusting(0.1), "It accepted the loss nan"),
        (Careless(0.1, RBF.from_paper(1.0)), "leaves the state as it was"),
        (Forgetful(0.1), "resumes exactly as the original"),
        (Creative(0.1), "accounts for every loss"),
        (Hoarder(0.1), "as new"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_calibrator_is_told_which_promise_it_breaks(
    calibrator: BaseCalibrator, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_calibrator(calibrator)


def test_the_list_of_promises_is_long_enough() -> None:
    assert len({promise.__doc__ for _, promise in PROMISES}) == len(PROMISES) == 8
