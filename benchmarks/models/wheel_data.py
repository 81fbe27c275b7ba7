"""Tables in the wheel of scikit-multiflow, which is downloaded once and never installed."""

from __future__ import annotations

import pandas as pd

from localarc.experiments.data import store
from localarc.experiments.data.catalogue import Dataset
from localarc.experiments.data.sources import WheelMember

_SHA256 = {
    "covtype": "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6",
    "weather": "3c38f05bdc5c4cb115f122414c66976e3662c875d96d7199d9e47fc46aff150e",
}
_MOST_BYTES = 80_000_000


def read(name: str) -> pd.DataFrame:
    """The table of that name, from the cache folder or through pip."""
    file = f"{name}.csv"
    wheel = WheelMember(
        package="scikit-multiflow==0.4.1",
        platform=("3.7", "cp", "cp37m", "manylinux1_x86_64"),
        member=f"skmultiflow/data/datasets/{file}",
        max_bytes=_MOST_BYTES,
    )
    licence = "BSD-3-Clause, with scikit-multiflow"
    dataset = Dataset(f"multiflow-{name}", name, licence, ({file: _SHA256[name]},), (wheel,))
    found = [folder for folder in store.folders(dataset) if (folder / file).is_file()]
    return pd.read_csv((found[0] if found else store._download(dataset)) / file)
