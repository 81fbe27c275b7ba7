"""The catalogue: what each data set is, under which terms, with which checksums, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localarc.data.places import Place, WheelMember


@dataclass(frozen=True)
class Dataset:
    """A data set that may come in several variants, each a set of files with their SHA-256."""

    name: str
    title: str
    licence: str
    variants: tuple[Mapping[str, str], ...]
    places: tuple[Place, ...]

    @property
    def files(self) -> dict[str, str]:
        """Every known file with its checksum."""
        return {name: digest for variant in self.variants for name, digest in variant.items()}


ELEC2 = Dataset(
    name="elec2",
    title="Elec2: half-hourly electricity demand in New South Wales, 1996-1998 (Harries 1999)",
    licence="public since 1999; the copy in scikit-multiflow is BSD-3-Clause",
    variants=(
        {"elec2.csv.gz": "fb2895139b562359013e993d74d61ea390a1a2fa195ad883fb824ac1041485aa"},
        {"elec.csv": "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97"},
    ),
    places=(
        WheelMember(
            package="scikit-multiflow==0.4.1",
            platform=("3.7", "cp", "cp37m", "manylinux1_x86_64"),
            member="skmultiflow/data/datasets/elec.csv",
        ),
    ),
)

DATASETS = {dataset.name: dataset for dataset in (ELEC2,)}
