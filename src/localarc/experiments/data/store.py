"""The store: `LOCALARC_DATA` first, then the user's cache folder, then the catalogue's places."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from localarc.experiments.data.catalogue import DATASETS, Dataset
from localarc.experiments.data.sources import UnreachableError

VARIABLE = "LOCALARC_DATA"


class DataError(RuntimeError):
    """A data set that cannot be had, or is not what it should be."""


def folders(dataset: Dataset) -> list[Path]:
    """Where a data set is looked for, in order."""
    stated = os.environ.get(VARIABLE)
    cache = Path(platformdirs.user_cache_dir("localarc"))
    return [root / dataset.name for root in (*([Path(stated)] if stated else []), cache)]


def find(name: str) -> Path | None:
    """The folder that holds a complete data set, or None."""
    dataset = _known(name)
    for folder in folders(dataset):
        if any(all((folder / file).is_file() for file in v) for v in dataset.variants):
            return folder
    return None


def get(name: str) -> Path:
    """The folder of a data set, fetched into the cache if need be, with checksums that fit."""
    dataset = _known(name)
    found = find(name)
    if found is not None:
        _check(dataset, found)
        return found
    return _fetch(dataset)


def verify(name: str) -> list[str]:
    """Check the files that are there; their names, or an error that names the bad one."""
    dataset = _known(name)
    found = find(name)
    if found is None:
        raise DataError(f"{name} is not on this machine. Fetch it: localarc data get {name}")
    return _check(dataset, found)


def _fetch(dataset: Dataset) -> Path:
    target = folders(dataset)[-1]
    target.parent.mkdir(parents=True, exist_ok=True)
    tried = []
    for place in dataset.places:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            try:
                place.fetch(Path(folder))
                _check(dataset, Path(folder))
            except (UnreachableError, DataError) as reason:
                tried.append(f"{place}: {reason}")
                continue
            target.mkdir(exist_ok=True)
            for file in Path(folder).iterdir():
                shutil.move(str(file), target / file.name)
            return target
    files = " or ".join(" and ".join(variant) for variant in dataset.variants)
    again = "Either try again where pip reaches its index, or put" if tried else "Put"
    raise DataError(
        f"{dataset.name} cannot be fetched ({'; '.join(tried) or 'no place offers it'}). {again} "
        f"{files} into a folder {dataset.name} and set {VARIABLE} to the folder that holds it."
    )


def _check(dataset: Dataset, folder: Path) -> list[str]:
    good = []
    for file, expected in dataset.files.items():
        if (folder / file).is_file():
            found = hashlib.sha256((folder / file).read_bytes()).hexdigest()
            if found != expected:
                raise DataError(
                    f"{folder / file} has SHA-256 {found}, expected {expected}. Delete it and run "
                    f"localarc data get {dataset.name}."
                )
            good.append(file)
    if not good:
        raise DataError(f"{folder} holds no file of {dataset.name}.")
    return good


def _known(name: str, catalogue: Mapping[str, Dataset] = DATASETS) -> Dataset:
    if name not in catalogue:
        raise DataError(f"there is no data set {name!r}. Known are: {', '.join(catalogue)}.")
    return catalogue[name]
