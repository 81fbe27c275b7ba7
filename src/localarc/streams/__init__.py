"""Streams: where rounds come from."""

from localarc.streams.stream import Round, Stream

__all__ = ["Round", "Stream"]
