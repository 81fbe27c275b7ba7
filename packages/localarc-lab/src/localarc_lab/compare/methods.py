"""Methods by name, ready for a stream: published defaults, and units from the stream."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from localarc import validation
from localarc.calibrators.arc import ARC
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.calibrators.role import Calibrator, require_calibrator
from localarc.curves import Curves
from localarc.kernels import RBF, Kernel
from localarc.rates import Constant, InverseSqrt
from localarc.running.from_data import lengths_by_share, regularization, score_unit
from localarc.streams import Stream
from localarc_lab import peers
from localarc_lab.peers.first_rounds import CALIBRATION

Make: TypeAlias = Callable[[float], Calibrator]
"""Returns a new calibrator for a target."""

Methods: TypeAlias = Sequence[str | Make] | Mapping[str, str | Make] | str
"""Methods: names, files with a class, or functions that make a calibrator."""


@dataclass(frozen=True)
class Setting:
    """What a method may know in advance: the target, and the kind of stream."""

    alpha: float
    stream: Stream
    kernel: Kernel | None = None

    @property
    def common(self) -> dict[str, Any]:
        """Settings that every calibrator has."""
        return {"alpha": self.alpha, "loss_bound": self.stream.curves.bound}

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.stream)

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len(validation.rounds_by_group(self.stream.groups or ()))

    @cached_property
    def first(self) -> Curves:
        """The first rounds, as many as peers fix their units with: no later outcome is used."""
        return self.stream.curves.take(slice(0, CALIBRATION))

    @cached_property
    def unit(self) -> float:
        """The spread of the scores in the first rounds, with three digits."""
        return float(f"{score_unit(self.first, self.alpha):.3g}")

    @property
    def floor(self) -> float | None:
        """0 if no score is negative."""
        scores = self.stream.curves.min_thresholds(self.alpha)
        return None if (scores[np.isfinite(scores)] < 0.0).any() else 0.0

    def arc(self) -> ARC:
        """ARC with steps in the units of the scores."""
        return ARC(rate=InverseSqrt(self.unit), **self.common)

    def larc(self) -> LARC:
        """L-ARC with a kernel that reaches a tenth of the rounds, unless one is given."""
        kernel = self.kernel or RBF(lengths_by_share(self.stream.X, [0.1])[0])
        decay = regularization(self.first, self.alpha)
        return LARC(kernel=kernel, rate=InverseSqrt(self.unit), regularization=decay, **self.common)


@dataclass(frozen=True)
class Known:
    """A method that has a name: how reports call it, how it is made, and what it requires."""

    title: str
    make: Callable[[Setting], Calibrator]
    needs: str = ""


KNOWN = {
    "auto": Known("AutoLARC", lambda s: AutoLARC(**s.common)),
    "larc": Known("L-ARC", Setting.larc, "features"),
    "arc": Known("ARC", Setting.arc),
    "mondrian": Known("Mondrian", lambda s: Mondrian(s.arc), "groups"),
    "aci": Known("ACI", lambda s: peers.ACI(**s.common)),
    "agaci": Known("AgACI", lambda s: peers.AgACI(**s.common)),
    "dtaci": Known("DtACI", lambda s: peers.DtACI(**s.common)),
    "group-aci": Known("ACI per group", lambda s: peers.GroupACI(**s.common), "groups"),
    "pid": Known("PID", lambda s: peers.ConformalPID(integrator=_integrator(s), **s.common)),
    "pid-p": Known("PID, P only", lambda s: peers.ConformalPID(integrator=None, **s.common)),
    "pid-theta": Known(
        "PID, scorecaster",
        lambda s: peers.ConformalPID(
            integrator=_integrator(s), scorecaster=peers.Theta(), **s.common
        ),
    ),
    "sf-ogd": Known("SF-OGD", lambda s: peers.SFOGD(floor=s.floor, **s.common)),
    "saocp": Known("SAOCP", lambda s: peers.SAOCP(floor=s.floor, **s.common)),
    "tracking": Known("Quantile tracking, decaying", lambda s: peers.QuantileTracking(**s.common)),
    "tracking-fixed": Known(
        "Quantile tracking, fixed",
        lambda s: peers.QuantileTracking(rate=Constant(0.05), **s.common),
    ),
    "mvp": Known("MVP", lambda s: peers.MVP(**s.common)),
    "gcaci": Known("GCACI", lambda s: peers.GCACI(**s.common)),
    "pogo": Known("POGO", lambda s: peers.POGO(group_count=s.group_count, **s.common)),
    "olcp": Known("OLCP", lambda s: peers.OLCP(horizon=s.rounds, **s.common), "features"),
    "olcp-hedge": Known(
        "OLCP-Hedge", lambda s: peers.OLCPHedge(horizon=s.rounds, **s.common), "features"
    ),
    "knn": Known("kNN quantile", lambda s: peers.NearestQuantile(**s.common), "features"),
    "kernel": Known("Kernel quantile", lambda s: peers.KernelQuantile(**s.common), "features"),
    "rff": Known(
        "Fourier quantile regression",
        lambda s: peers.RandomFourierQuantile(**s.common),
        "features",
    ),
    "rolling": Known("Rolling quantile", lambda s: peers.RollingQuantile(**s.common)),
}
"""The methods that have a name."""

DEFAULT = ("auto", "arc", "aci", "dtaci", "pid", "saocp", "rolling")
"""The methods that are compared if none is named."""


def _integrator(setting: Setting) -> peers.TangentIntegrator:
    return peers.TangentIntegrator(horizon=max(setting.rounds, 3))


@dataclass(frozen=True)
class Method:
    """A method of a comparison: its title, and a name, a file or a function that makes it."""

    title: str
    source: str | Make

    def build(self, setting: Setting) -> Calibrator:
        """Return a new calibrator."""
        if isinstance(self.source, str) and self.source in KNOWN:
            return KNOWN[self.source].make(setting)
        make = _class_of(self.source)
        try:
            made: object = make(setting.alpha)
        except TypeError as error:
            raise TypeError(
                f"{self.title} must make a calibrator from a target alone, as a class does with "
                f"`def __init__(self, alpha)`: {error}."
            ) from error
        if not isinstance(made, Calibrator):
            raise TypeError(
                f"{self.title} must make a calibrator from a target, with alpha, threshold and "
                f"update, got {made!r:.60}."
            )
        require_calibrator(made)
        return made

    @property
    def identity(self) -> str | None:
        """What tells this method from others, beyond localarc's code; None if unknown."""
        if not isinstance(self.source, str):
            return None
        if self.source in KNOWN:
            return self.source
        path, name = _parts(self.source)
        return f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def find(source: str) -> Method:
    """Return the method of a name or of a file, "my_method.py:Mine"; raise if there is none."""
    if source in KNOWN:
        return Method(KNOWN[source].title, source)
    return Method(str(_class_of(source).__name__), source)


def resolve(methods: Methods | None, stream: Stream) -> list[Method]:
    """Return the methods of a comparison, each with a title of its own; raise for unknown ones."""
    wanted = DEFAULT if methods is None else methods
    wanted = [wanted] if isinstance(wanted, str) else wanted
    pairs = wanted.items() if isinstance(wanted, Mapping) else [(None, each) for each in wanted]
    found = [_method(title, source, stream) for title, source in pairs]
    if not found:
        raise ValueError(f"methods must name at least one method, among {', '.join(KNOWN)}.")
    titles = [method.title for method in found]
    repeated = [title for title in titles if titles.count(title) > 1]
    if repeated:
        raise ValueError(
            f"methods must differ in their names, got {repeated[0]!r} twice. Pass a mapping from "
            "names to methods."
        )
    return found


def _method(title: str | None, source: object, stream: Stream) -> Method:
    if isinstance(source, str) and source in KNOWN:
        known = KNOWN[source]
        has = {"features": stream.X.shape[1] > 0, "groups": stream.groups is not None, "": True}
        if not has[known.needs]:
            raise ValueError(f"{source} requires {known.needs}, and the stream has none.")
    if isinstance(source, str):
        found = find(source)
        return Method(title or found.title, source)
    if not callable(source) or isinstance(source, Calibrator):
        raise TypeError(
            f"a method must be a name, a file such as my_method.py:Mine, or a function of the "
            f"target that makes a calibrator, got {source!r:.60}. For example lambda alpha: "
            "ARC(alpha)."
        )
    return Method(title or str(getattr(source, "__name__", source)), source)


def _parts(source: str) -> tuple[Path, str]:
    """The file and the class of `my_method.py:Mine`."""
    file, colon, name = source.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise ValueError(
            f"there is no method {source!r}. Known are {', '.join(KNOWN)}; a class of your own is "
            "my_method.py:Mine."
        )
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"{path} is not a file: pass the path of a Python file and a class.")
    return path, name


def _class_of(source: str | Make) -> Any:
    """The function of the target that makes a calibrator."""
    if not isinstance(source, str):
        return source
    path, name = _parts(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be imported as a Python module.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{path} has no class or function {name!r}.")
    return found
