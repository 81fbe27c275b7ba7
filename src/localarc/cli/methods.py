"""The calibrators that the options of `localarc replay` describe."""

from __future__ import annotations

from dataclasses import dataclass

from localarc import ARC, LARC, Mondrian
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.cli.options import KERNELS
from localarc.kernels import Kernel
from localarc.memory import Memory
from localarc.rates import Rate


@dataclass(frozen=True)
class Methods:
    """Calibrators by name, and the kernel that defines neighbourhoods."""

    calibrators: dict[str, AdaptiveCalibrator | Mondrian]
    kernel: Kernel


def build_methods(
    *,
    method: str,
    compare: bool,
    alpha: float,
    kernel: str,
    length_scale: float | tuple[float, ...],
    rate: Rate,
    regularization: float,
    loss_bound: float,
    score_range: tuple[float, ...] | None,
    memory: Memory | str,
    clip: float | None,
    has_groups: bool,
    has_features: bool,
) -> Methods:
    """Build the calibrator of a method and, with `compare`, ARC as a second one."""
    _check_options(method, compare, clip is not None or memory != "auto", has_groups, has_features)
    shape = KERNELS[kernel](length_scale)

    def arc() -> ARC:
        return ARC(alpha, rate, loss_bound=loss_bound, score_range=score_range)  # type: ignore[arg-type]

    calibrators: dict[str, AdaptiveCalibrator | Mondrian]
    if method == "larc":
        larc = LARC(
            alpha,
            shape,
            rate,
            regularization,
            loss_bound=loss_bound,
            score_range=score_range,  # type: ignore[arg-type]  # the calibrator checks it
            memory=memory,
            clip=clip,
        )
        calibrators = {"L-ARC": larc}
    elif method == "mondrian":
        calibrators = {"Mondrian": Mondrian(arc)}
    else:
        calibrators = {"ARC": arc()}
    return Methods(calibrators | ({"ARC": arc()} if compare else {}), shape)


def _check_options(
    method: str, compare: bool, has_memory: bool, has_groups: bool, has_features: bool
) -> None:
    """Raise for options that are missing, or that the method does not have."""
    if method != "larc" and has_memory:
        raise ValueError(f"--clip and --memory require --method larc; remove them for {method}.")
    if method == "larc" and not has_features:
        raise ValueError("--method larc requires --features, the columns of the input.")
    if method == "mondrian" and not has_groups:
        raise ValueError("--method mondrian requires --group, the column to split rounds by.")
    if method == "arc" and compare:
        raise ValueError("--compare adds ARC to another method; remove it for --method arc.")
