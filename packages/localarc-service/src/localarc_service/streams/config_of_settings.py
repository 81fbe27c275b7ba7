"""The config of a stream for a calibrator that is there already: `build_calibrator`'s inverse."""

from __future__ import annotations

from typing import Any

import msgspec

from localarc.adaptive.settings import Settings
from localarc.calibrators.auto.settings import AutoSettings
from localarc_client.wire.config import StreamConfig
from localarc_client.wire.config_reading import read_config
from localarc_service.streams.config_defaults import completed
from localarc_service.streams.methods import adaptive, auto, build_calibrator


def config_of(
    settings: Settings | AutoSettings, features: int, names: list[str] | None = None
) -> StreamConfig:
    """The config of streams whose calibrators have these settings, for so many features.

    The automatic memory of L-ARC becomes the one that it chose. Raises ValueError, with what it is,
    if a stream cannot have one of the settings.
    """
    config: StreamConfig
    if isinstance(settings, AutoSettings):
        config = auto.config_of(settings, features, names)
    else:
        settings = adaptive.with_chosen_memory(settings, features)
        config = adaptive.config_of(settings, features, names)
    calibrator: Any = build_calibrator(config)
    made = calibrator.settings.to_json()
    for name, value in settings.to_json().items():
        if made.get(name, value) != value:  # the service has a limit of its own for pending ones
            raise ValueError(f"a stream cannot have {name} = {value}: it would be {made[name]}.")
    try:
        return completed(read_config(msgspec.to_builtins(config)))
    except msgspec.ValidationError as error:
        raise ValueError(f"a stream cannot have these settings: {error}.") from error
