"""era_memory.py"""

import json
import time
from pathlib import Path

import pytest

from tooltray.servers.upstream.era_memory import EraMemory

LEGACY, BOTH = frozenset({"legacy"}), frozenset({"legacy", "modern"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "eras.json"


def test_of_an_unknown_server_nothing_is_known(path: Path) -> None:
    assert EraMemory(path).eras("hash") == frozenset()


def test_what_was_saved_is_known_after_a_restart(path: Path) -> None:
    memory = EraMemory(path)
    assert memory.remember("a", LEGACY)
    assert memory.remember("b", BOTH)
    memory.save()
    again = EraMemory(path)
    assert (again.eras("a"), again.eras("b")) == (LEGACY, BOTH)


def test_only_news_has_to_be_saved(path: Path) -> None:
    memory = EraMemory(path)
    assert [memory.remember("a", eras) for eras in (LEGACY, LEGACY, BOTH, BOTH)] == [True, False, True, False]


def test_what_is_old_is_asked_again_because_servers_learn(path: Path) -> None:
    now = time.time()
    ages = {"old": 604_801, "new": 604_500, "of the future": -3600}
    path.write_text(json.dumps({name: {"eras": ["legacy"], "at": now - age} for name, age in ages.items()}))
    memory = EraMemory(path)
    assert [memory.eras(name) for name in ages] == [frozenset(), LEGACY, frozenset()]
    assert memory.remember("old", LEGACY)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a":5}', b'{"a":{"eras":"legacy","at":1}}', b"\xff"])
def test_a_file_that_is_malformed_costs_a_probe_and_is_replaced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    memory = EraMemory(path)
    assert memory.eras("a") == frozenset()
    memory.remember("a", LEGACY)
    memory.save()
    assert EraMemory(path).eras("a") == LEGACY


def test_a_file_that_cannot_be_read_or_written_is_no_failure(path: Path) -> None:
    path.mkdir()
    memory = EraMemory(path)
    memory.remember("a", LEGACY)
    memory.save()
    assert memory.eras("a") == LEGACY
    assert not list(path.iterdir())
