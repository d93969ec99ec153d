"""tool_words.py"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import one_server, started_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue import tool_words
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import TooltrayError

ICON = {"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
DRAWN = {"src": "data:image/png;base64,AAAA"}


def override(**members: Any) -> ToolOverride:
    return ToolOverride.model_validate(members)


def replaced(given: ToolOverride | None, own_hints: object = None) -> dict[str, Any]:
    return {name: json.loads(bytes(value)) for name, value in tool_words.replaced(given, own_hints).items()}


def test_what_is_given_stands_in_the_place_of_the_servers_own_and_nothing_else() -> None:
    assert replaced(None) == replaced(override(name="x")) == replaced(override(annotations={})) == {}
    given = override(title="T", description="", annotations={"readOnlyHint": True, "title": "A", "unknown": 1}, icons=[ICON, DRAWN])
    assert replaced(given, {"readOnlyHint": False, "idempotentHint": True, "vendor": 1}) == {
        "title": "T",
        "description": "",
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "vendor": 1, "title": "A"},
        "icons": [ICON, DRAWN],
    }
    assert replaced(override(icons=[])) == {"icons": []}


@pytest.mark.parametrize("own", [None, "text", ["a"], {"readOnlyHint": "yes"}, {"title": None}])
def test_hints_of_a_wrong_type_are_left_behind(own: object) -> None:
    assert replaced(override(annotations={"destructiveHint": True}), own) == {"annotations": {"destructiveHint": True}}


def test_rules_believe_the_server_and_of_an_override_what_is_more_careful() -> None:
    own = {"readOnlyHint": False, "destructiveHint": True}
    harmless = override(annotations={"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
    assert tool_words.hints_for_rules(harmless, own) is own
    assert tool_words.hints_for_rules(None, own) is own
    careful = override(annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True})
    assert tool_words.hints_for_rules(careful, {"readOnlyHint": True, "idempotentHint": True}) == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


async def test_what_cannot_be_shown_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("read")))) as parts:
        with pytest.raises(TooltrayError, match="'read' cannot be shown like this"):
            await parts.presenter.set_tool_override("s", "read", icons=[{"src": "javascript:alert(1)"}])
        assert json.loads(bytes(await parts.tools.listing())) == {"tools": [tool("read")]}


async def test_a_title_hints_and_icons_are_listed_and_taken_back(tmp_path: Path) -> None:
    program = ScriptedServer(tool("drop", annotations={"destructiveHint": True, "readOnlyHint": 5}, icons=7))
    async with started_parts(tmp_path, **one_server(program, autoApprove=["read", "hint:non-destructive"])) as parts:
        before = bytes(await parts.tools.listing())
        await parts.presenter.set_tool_override(
            "s", "drop", title="Drop", annotations={"readOnlyHint": True, "destructiveHint": False}, icons=[ICON]
        )
        for server in (None, "s"):
            (listed,) = json.loads(bytes(await parts.tools.listing(server)))["tools"]
            assert (listed["title"], listed["icons"]) == ("Drop", [ICON])
            assert listed["annotations"] == {"destructiveHint": False, "readOnlyHint": True}
        assert not next(parts.tools.all_routes("s")).decision.is_approved  # whatever AI clients are told
        assert not (await parts.presenter.get_tools("s"))[0].is_approved
        await parts.presenter.set_tool_override("s", "drop")
        assert bytes(await parts.tools.listing()) == before


async def test_a_hint_that_is_more_careful_makes_a_tool_ask(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read_it", annotations={"readOnlyHint": True}))
    async with started_parts(tmp_path, **one_server(program, autoApprove=["read"])) as parts:
        await parts.tools.listing()
        assert next(parts.tools.all_routes("s")).decision.is_approved
        await parts.presenter.set_tool_override("s", "read_it", annotations={"readOnlyHint": False})
        assert not next(parts.tools.all_routes("s")).decision.is_approved
        assert not (await parts.presenter.get_permissions())[0].tools[0].is_free
