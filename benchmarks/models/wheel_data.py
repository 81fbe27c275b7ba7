"""Tables in the wheel of scikit-multiflow, which is downloaded once and never installed."""

from __future__ import annotations

import pandas as pd

from localarc_lab import data


def read(name: str) -> pd.DataFrame:
    """The table of that name, from the cache folder or through pip."""
    return pd.read_csv(data.get(f"multiflow-{name}") / f"{name}.csv")
