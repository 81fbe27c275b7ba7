"""The arguments of keyed calls from one list of settings, so that a test can change one of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from localarc.many import Columns, Limits


def keyed_settings(**given: Any) -> dict[str, Any]:
    """Columns and limits as the structs that `calibrate` and the others require."""
    for name, struct in (("columns", Columns), ("limits", Limits)):
        known = [field.name for field in fields(struct) if field.name in given]
        if known or struct is Columns:
            given[name] = struct(**{each: given.pop(each) for each in known})
    return given
