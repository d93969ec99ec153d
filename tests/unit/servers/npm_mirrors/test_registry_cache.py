"""registry_cache.py"""

import logging
from pathlib import Path

import pytest

from tooltray.foundation.snapshots.registries import RegistryMeasurement
from tooltray.servers.npm_mirrors.registry_cache import MAX_FILE_BYTES, Measured, RegistryCache

GOOD = RegistryMeasurement("https://a.example/", "A", "mirror", "Here", 12.5)
OLD = RegistryMeasurement("https://b.example/", "B", "mirror", "", 2.5, "its copy is old")
SILENT = RegistryMeasurement("https://c.example/", "C", "mirror", "", None, "no answer")
MEASURED = Measured(123.5, (GOOD, OLD, SILENT), ("https://a.example/",), ("https://a.example/",), may_be_mirror=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registries.json"


def test_what_answered_is_known_after_a_restart_and_what_did_not_is_not(path: Path) -> None:
    RegistryCache(path).save(MEASURED)
    assert RegistryCache(path).known == Measured(123.5, (GOOD, OLD), MEASURED.candidates, MEASURED.python, False)


def test_a_round_succeeds_if_any_registry_can_be_used() -> None:
    assert MEASURED.is_success
    assert not Measured(1.0, (OLD, SILENT)).is_success


def test_at_first_nothing_is_known(path: Path) -> None:
    assert RegistryCache(path).known is None


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", '{"at": "x"}', '{"at": 1, "measurements": [{"url": 1}]}'),
        *('{"at": 1e300, "measurements": []}', '{"at": -1, "measurements": []}'),
        *('{"x": ' + "[" * 100_000, '{"at": 1, "measurements": []' + " " * MAX_FILE_BYTES + "}"),
    ],
    ids=lambda content: content[:20],
)
def test_a_file_that_cannot_be_read_is_as_good_as_none(path: Path, content: str) -> None:
    path.write_text(content)
    assert RegistryCache(path).known is None


def test_what_is_forgotten_is_gone_also_twice(path: Path) -> None:
    cache = RegistryCache(path)
    cache.save(MEASURED)
    cache.forget()
    cache.forget()
    assert RegistryCache(path).known is None


def test_a_disk_that_refuses_costs_a_measurement_and_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tooltray")
    cache = RegistryCache(tmp_path / "nowhere" / "registries.json")
    cache.save(MEASURED)
    assert "could not be saved" in caplog.text
    (tmp_path / "folder").mkdir()
    RegistryCache(tmp_path / "folder").forget()
    assert "could not be forgotten" in caplog.text
