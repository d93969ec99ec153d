"""parts.py: verbs by their names."""

from typing import Any

import pytest

from tooltray.api.parts import PARTS, Api, VerbTable
from tooltray.foundation.verbs import LazyPart


class Part:
    async def restart_server(self, name: str) -> str:
        return name


@pytest.fixture
def made() -> list[str]:
    return []


@pytest.fixture
def table(made: list[str]) -> VerbTable:
    def make(name: str) -> Part:
        made.append(name)
        return Part()

    parts: dict[str, Any] = {name: LazyPart(lambda name=name: make(name)) for name in PARTS}  # type: ignore[misc]
    return VerbTable(Api(**parts))


async def test_a_part_is_made_when_one_of_its_verbs_is_looked_up(table: VerbTable, made: list[str]) -> None:
    assert made == []
    assert await table["restart_server"](name="s") == "s"
    assert await table.get("restart_server")(name="t") == "t"
    assert made == ["servers"]


def test_what_is_no_verb_is_not_found(table: VerbTable, made: list[str]) -> None:
    assert table.get("fly") is None
    with pytest.raises(KeyError):
        table["fly"]
    assert made == []


def test_a_verb_can_be_replaced(table: VerbTable) -> None:
    async def other() -> None: ...

    table["restart_server"] = other
    assert table.get("restart_server") is other
