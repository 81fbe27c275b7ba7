"""The calibrators that the options of `localarc replay` describe."""

from __future__ import annotations

from dataclasses import dataclass

from localarc import ARC, LARC, AutoLARC, Mondrian
from localarc.calibrators.base import BaseCalibrator
from localarc.kernels import KERNELS, Kernel
from localarc.memory import Memory
from localarc.rates import InverseSqrt, Rate
from localarc.streams import Stream

NAMES = {"auto": "AutoLARC", "larc": "L-ARC", "arc": "ARC", "mondrian": "Mondrian"}
_RATED = ("larc", "arc", "mondrian")
_OWNERS = {  # of options that only some methods have
    "rate": _RATED,
    "score_range": _RATED,
    "regularization": ("larc",),
    "memory": ("larc",),
    "clip": ("larc",),
    "limits": ("auto",),
    "promise": ("auto",),
    "evenness": ("auto",),
}


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """What the command line says about methods; None for an option that was not given."""

    method: str | None
    compare: bool
    alpha: float
    loss_bound: float
    kernel: str | None
    length_scale: float | tuple[float, ...] | None
    rate: Rate | None
    regularization: float | None
    memory: Memory | str
    clip: float | None
    score_range: tuple[float, ...] | None
    limits: tuple[float | None, float | None] | None
    promise: str | None
    evenness: float | None
    has_groups: bool
    has_features: bool

    @property
    def chosen(self) -> str:
        """The method: L-ARC if a kernel is named, else AutoLARC, unless one is given."""
        return self.method or ("larc" if self._names_kernel else "auto")

    @property
    def _names_kernel(self) -> bool:
        return self.kernel is not None or self.length_scale is not None

    def main(self) -> BaseCalibrator:
        """Build the calibrator of the method; raise for options that it lacks or does not have."""
        self._check()
        return {"auto": self._auto, "larc": self._larc, "arc": self._arc}.get(
            self.chosen, lambda: Mondrian(self._arc)
        )()

    def all(self, main: BaseCalibrator, stream: Stream) -> dict[str, BaseCalibrator]:
        """Return the calibrators by name: the main one and, with `compare`, ARC."""
        named: dict[str, BaseCalibrator] = {NAMES[self.chosen]: main}
        if self.compare:
            named[NAMES["arc"]] = self._arc(self._suitable_rate(stream))
        return named

    def neighbourhood(self) -> Kernel | None:
        """Return the kernel that was named, also where it only defines neighbourhoods."""
        if not self.has_features or not (self._names_kernel or self.chosen == "larc"):
            return None
        return self._kernel()

    def _kernel(self) -> Kernel:
        length_scale = 1.0 if self.length_scale is None else self.length_scale
        return KERNELS[self.kernel or "rbf"](length_scale)

    def _auto(self) -> AutoLARC:
        return AutoLARC(
            self.alpha,
            limits=self.limits or (None, None),
            promise=self.promise or "both",
            evenness=1.0 if self.evenness is None else self.evenness,
            loss_bound=self.loss_bound,
        )

    def _larc(self) -> LARC:
        return LARC(
            self.alpha,
            self._kernel(),
            self.rate or 1.0,
            1e-4 if self.regularization is None else self.regularization,
            loss_bound=self.loss_bound,
            score_range=self.score_range,  # type: ignore[arg-type]  # the calibrator checks it
            memory=self.memory,
            clip=self.clip,
        )

    def _arc(self, rate: Rate | None = None) -> ARC:
        return ARC(
            self.alpha,
            rate or self.rate or 1.0,
            loss_bound=self.loss_bound,
            score_range=self.score_range,  # type: ignore[arg-type]  # the calibrator checks it
        )

    def _suitable_rate(self, stream: Stream) -> Rate | None:
        """Return a rate for ARC in the units of the scores, beside a method that needs none."""
        if self.chosen != "auto" or self.rate is not None:
            return None
        from localarc.running.from_data import score_unit

        return InverseSqrt(float(f"{score_unit(stream.curves, self.alpha):.3g}"))

    def _check(self) -> None:
        """Raise for options that are missing, or that the method does not have."""
        for option, owners in _OWNERS.items():
            given = getattr(self, option) not in (None, "auto")
            shared = option == "rate" and self.compare  # ARC has one
            if given and self.chosen not in owners and not shared:
                default = "" if self.method else ", the default without --kernel"
                needed = " or ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
                raise ValueError(
                    f"--{option.replace('_', '-')} requires --method {needed}; remove it for "
                    f"--method {self.chosen}{default}."
                )
        if self.chosen == "larc" and not self.has_features:
            raise ValueError("--method larc requires --features, the columns of the input.")
        if self.chosen == "mondrian" and not self.has_groups:
            raise ValueError("--method mondrian requires --group, the column to split rounds by.")
        if self.chosen == "arc" and self.compare:
            raise ValueError("--compare adds ARC to another method; remove it for --method arc.")
