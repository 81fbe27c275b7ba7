"""Options that name a database: what cannot be one is refused before anything starts."""

from __future__ import annotations

import sys

import pytest

from localarc.cli import main
from localarc_service.storage.postgres.connection import Address

URL = "postgresql://localarc@127.0.0.1:1/none"


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words])
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "--data or --store is required"),
        (["--store", "postgresql://localhost/db?nonsense=1"], "must be a PostgreSQL URL such as"),
        (["--store", URL, "--store-schema", "Bad Name"], "must be lower-case letters"),
        (["--store", URL, "--store-schema", "pg_catalog"], "must be lower-case letters"),
        (["--store", URL, "--store-schema", "s" * 62, "--workers", "2"], "must be lower-case"),
    ],
)
def test_what_cannot_be_a_store_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert told in refusal(capsys, *words)


def test_the_error_without_psycopg_names_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("psycopg")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, Address.__module__)
    assert "pip install './packages/localarc-service[postgres]'" in refusal(capsys, "--store", URL)


def test_the_environment_names_a_database_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALARC_STORE", "mysql://localhost/db")
    assert "must be a PostgreSQL URL such as" in refusal(capsys)


def test_no_message_shows_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert "secret" not in repr(Address("postgresql://me:secret@localhost/db"))
    told = refusal(capsys, "--store", "postgresql://me:secret@localhost/db?nonsense=1")
    assert "secret" not in told


def test_each_schema_has_a_lock_of_its_own() -> None:
    keys = {Address(URL, f"part_{number}").lock_key for number in range(1000)}
    assert len(keys) == 1000
    assert Address(URL).lock_key == -5533213907725401225  # the same in every release
