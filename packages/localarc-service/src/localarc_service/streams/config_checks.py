"""Checks of a config: which fields apply to which method, and whether a stream can be stored."""

from __future__ import annotations

from localarc_service.storage.format import Config

MAX_BYTES = 2**28
"""Size limit of a stream's local part: a snapshot is one value in the database."""

_LOSSES = "arc", "larc", "mondrian", "auto"

_FIELDS: dict[str, tuple[tuple[str, ...], object]] = {
    "kernel": (("larc",), None),
    "clip": (("larc",), None),
    "regularization": (("arc", "larc", "mondrian"), 1e-4),
    "rate": (("arc", "larc", "mondrian"), 1.0),
    "floor": (("arc", "larc", "mondrian"), None),
    "loss_bound": (_LOSSES, 1.0),
    "score_range": (_LOSSES, None),
    "initial_threshold": (_LOSSES, 0.0),
    "set": (_LOSSES, None),
    "limits": (("auto",), (None, None)),
    "promise": (("auto",), "both"),
    "evenness": (("auto",), 1.0),
    "unit": (("auto",), None),
}
"""The methods that a field applies to, and its value where it does not."""

_MEMORIES = {"larc": ("auto", "lattice", "dictionary", "keep-last", "keep-all")}


def check_fields(config: Config) -> None:
    """Raise ValueError if fields contradict each other; calibrators check their own values."""
    method = config.method
    if method == "larc" and config.kernel is None:
        raise ValueError("method larc requires a kernel: add one, or use method auto.")
    for name, (methods, unused) in _FIELDS.items():
        if method not in methods and getattr(config, name) != unused:
            raise ValueError(
                f"{name} applies to method {_either(methods)}, not to {method}: omit it, or set "
                "method."
            )
    _check_memory(config)
    _check_default_loss(config)
    _check_watch(config)


def _either(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _check_memory(config: Config) -> None:
    kind, method = config.memory.kind, config.method
    kinds = {"auto", "nodes"} if method in ("auto", "gate") else _MEMORIES.get(method, ("auto",))
    if kind not in kinds:
        raise ValueError(
            f"memory {kind} does not apply to method {method}: nodes applies to auto and gate, all "
            "others configure the local part of larc, which requires a kernel. Omit it."
        )
    if config.kernel is not None and not config.features:
        raise ValueError(
            "features must be the length of x, at least 1 for a stream with a kernel, got 0."
        )
    if config.memory.m is not None:
        most = MAX_BYTES // _bytes_of(1, config.features)
        if config.memory.m > most:
            raise ValueError(
                f"keep-last can hold at most {most} rounds of {config.features} feature(s), "
                f"{MAX_BYTES} bytes, got m = {config.memory.m}. Use a smaller m, or a dictionary."
            )


def _check_default_loss(config: Config) -> None:
    if config.default_loss is None:
        return
    if config.timeout is None:
        raise ValueError("default_loss applies after the timeout: set timeout as well.")
    if config.default_loss > config.loss_bound:
        raise ValueError(
            f"default_loss must be at most the loss bound {config.loss_bound}, got "
            f"{config.default_loss}."
        )
    if config.method == "gate" and config.default_loss not in (0.0, 1.0):
        raise ValueError(
            "default_loss of a gate must be 1, an expired answer was wrong, or 0, it was right, "
            f"got {config.default_loss}. Omit it to count such answers neither way."
        )


def _check_watch(config: Config) -> None:
    names = config.feature_names
    if names is not None and not len(names) == len(set(names)) == config.features:
        raise ValueError(
            f"feature_names must be {config.features} different name(s), one per feature, got "
            f"{names}."
        )
    if config.alpha < config.loss_bound <= config.alpha + config.tolerance:
        raise ValueError(
            f"alpha + tolerance must be below the loss bound {config.loss_bound}, got "
            f"{config.alpha} + {config.tolerance}: no risk could exceed it. Use a smaller "
            "tolerance."
        )


def check_room(config: Config, rounds: int) -> None:
    """Raise if one more round would not fit into a snapshot."""
    if config.memory.kind == "keep-all" and _bytes_of(rounds + 1, config.features) > MAX_BYTES:
        raise ValueError(
            f"the stream keeps all of its {rounds} rounds and has reached its size limit: create "
            "a new stream with constant memory, such as a lattice or a dictionary."
        )


def _bytes_of(rounds: int, features: int) -> int:
    return 8 * rounds * (features + 3)
