"""The store: `LOCALARC_DATA` first, then the user's cache folder, then a download."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from localarc.missing_data import DataError
from localarc_lab.data.catalogue import DATASETS, Dataset
from localarc_lab.data.sources import UnreachableError

VARIABLE = "LOCALARC_DATA"


def folders(dataset: Dataset) -> list[Path]:
    """Return the folders in which a data set is searched, in order.

    Parameters
    ----------
    dataset : Dataset
        A data set of the catalogue.

    Examples
    --------
    >>> folders(DATASETS["elec2"])[-1].name
    'elec2'
    """
    stated = os.environ.get(VARIABLE)
    cache = Path(platformdirs.user_cache_dir("localarc"))
    return [root / dataset.name for root in (*([Path(stated)] if stated else []), cache)]


def find(name: str) -> Path | None:
    """Return the folder with a complete data set, or None if it is not on this machine.

    Parameters
    ----------
    name : str
        Name of the data set.

    Examples
    --------
    >>> folder = find("elec2")
    >>> folder is None or folder.is_dir()
    True
    """
    dataset = _lookup(name)
    for folder in folders(dataset):
        if any(all((folder / file).is_file() for file in v) for v in dataset.variants):
            return folder
    return None


def get(name: str) -> Path:
    """Return the folder of a data set with verified checksums; download it if necessary.

    Parameters
    ----------
    name : str
        Name of the data set.

    Examples
    --------
    >>> get("elec2").name  # doctest: +SKIP
    'elec2'
    """
    dataset = _lookup(name)
    found = find(name)
    if found is not None:
        _verify(dataset, found)
        return found
    return _download(dataset)


def verify(name: str) -> list[str]:
    """Check the files of a data set against their SHA-256.

    Parameters
    ----------
    name : str
        Name of the data set.

    Returns
    -------
    list of str
        The files that were checked; a mismatch raises DataError.

    Examples
    --------
    >>> verify("elec2")  # doctest: +SKIP
    ['elec2.csv.gz']
    """
    dataset = _lookup(name)
    found = find(name)
    if found is None:
        raise DataError(f"{name} is not downloaded. Download it with: localarc data get {name}")
    return _verify(dataset, found)


def _download(dataset: Dataset) -> Path:
    target = folders(dataset)[-1]
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for source in dataset.sources:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            try:
                source.fetch(Path(folder))
                _verify(dataset, Path(folder))
            except (UnreachableError, DataError) as reason:
                failures.append(f"{source}: {reason}")
                continue
            target.mkdir(exist_ok=True)
            for file in Path(folder).iterdir():
                shutil.move(str(file), target / file.name)
            return target
    files = " or ".join(" and ".join(variant) for variant in dataset.variants)
    retry = "Either retry where pip can reach its index, or put" if failures else "Put"
    raise DataError(
        f"{dataset.name} cannot be downloaded ({'; '.join(failures) or 'no download source'}). "
        f"{retry} {files} into a folder named {dataset.name} and set {VARIABLE} to its parent "
        "folder."
    )


def _verify(dataset: Dataset, folder: Path) -> list[str]:
    verified = []
    for file, expected in dataset.files.items():
        if (folder / file).is_file():
            found = hashlib.sha256((folder / file).read_bytes()).hexdigest()
            if found != expected:
                raise DataError(
                    f"{folder / file} has SHA-256 {found}, expected {expected}. Delete it and run "
                    f"localarc data get {dataset.name}."
                )
            verified.append(file)
    if not verified:
        raise DataError(f"{folder} contains no file of {dataset.name}.")
    return verified


def _lookup(name: str, catalogue: Mapping[str, Dataset] = DATASETS) -> Dataset:
    if name not in catalogue:
        raise DataError(f"unknown data set {name!r}. Available: {', '.join(catalogue)}.")
    return catalogue[name]
