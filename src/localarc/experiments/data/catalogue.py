"""The catalogue: each data set's title, licence, checksums and download sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localarc.experiments.data.sources import Source, WheelMember


@dataclass(frozen=True)
class Dataset:
    """A data set, which may come in several variants.

    Parameters
    ----------
    name : str
        Name in `localarc data` and of its folder.
    title : str
        One line that describes it.
    licence : str
        Terms of use.
    variants : tuple of mappings
        File names to SHA-256, for each form that the data come in; one form is enough.
    sources : tuple of Source
        Where it can be downloaded from, in order of preference.

    Examples
    --------
    >>> from localarc.experiments.data import DATASETS
    >>> sorted(DATASETS["elec2"].files)
    ['elec.csv', 'elec2.csv.gz']
    """

    name: str
    title: str
    licence: str
    variants: tuple[Mapping[str, str], ...]
    sources: tuple[Source, ...]

    @property
    def files(self) -> dict[str, str]:
        """Every known file with its SHA-256."""
        return {name: digest for variant in self.variants for name, digest in variant.items()}


ELEC2 = Dataset(
    name="elec2",
    title="Elec2: half-hourly electricity demand in New South Wales, 1996-1998 (Harries 1999)",
    licence="public since 1999; the copy in scikit-multiflow is BSD-3-Clause",
    variants=(
        {"elec2.csv.gz": "fb2895139b562359013e993d74d61ea390a1a2fa195ad883fb824ac1041485aa"},
        {"elec.csv": "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97"},
    ),
    sources=(
        WheelMember(
            package="scikit-multiflow==0.4.1",
            platform=("3.7", "cp", "cp37m", "manylinux1_x86_64"),
            member="skmultiflow/data/datasets/elec.csv",
        ),
    ),
)

POLYPS = Dataset(
    name="polyps",
    title="Polyps: 2,248 colonoscopy images with masks from five sources, at 352 x 352 pixels",
    licence="research and education only, with citation of each source; no redistribution",
    variants=(
        {
            "polyp_train_352.zip": (
                "f0ce3aa705cb69f2c27038c9bc1a28fad06e6581400342cac53025c698759c3a"
            ),
            "polyp_test_352.zip": (
                "15fb0ff4fad044ad19528eb975542ab17f0b814724915d60a83d0b49c2fe73c0"
            ),
        },
    ),
    sources=(),
)

FRUITS360 = Dataset(
    name="fruits360",
    title="Fruits-360, version 2020.05.18.0: pictures of 131 fruits, at 64 x 64 pixels",
    licence="MIT, copyright 2017-2020 Mihai Oltean and Horea Muresan",
    variants=(
        {
            "fruits360_training_64.zip": (
                "8d1e3d9ea15cad90d890ea514a3be9c4c2b62010fb0450ea625777ac1cb54cf8"
            ),
            "fruits360_test_64.zip": (
                "e15278abd84614487105594b5ca3098976e609693919a426de30cb191261b4c4"
            ),
            "index.csv": "9701450a6c860e5071e3ee8709535edc3ffcf6ae389dbad736ba67f3d40367f0",
        },
    ),
    sources=(),
)

DATASETS = {dataset.name: dataset for dataset in (ELEC2, POLYPS, FRUITS360)}
"""Every data set, by name."""
