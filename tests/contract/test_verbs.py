"""The API: each verb stands once, keeps name and arguments for callers of other versions, and is carried by proxies as it was called."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
from tests.fakes.verb_table import KINDS, VERBS

from tooltray.api.parts import PARTS, Api, remote_parts, verbs_of
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

DESKTOP = Path(__file__).parents[2] / "desktop"
KEPT = (Path(__file__).parent / "verbs.txt").read_text().splitlines()
EVENTS = {"server_started", "server_stopped", "tool_call_result", "config_changed", "server_status_changed", "client_list_updated"}


def shown(verb: str) -> str:
    parameters = list(inspect.signature(VERBS[verb]).parameters.values())[1:]
    return f"{verb}({', '.join(each.name if each.default is each.empty else f'{each.name}={each.default!r}' for each in parameters)})"


def test_the_name_of_a_verb_is_that_of_no_other() -> None:
    assert len(VERBS) == sum(len(verbs_of(kind)) for kind in KINDS.values())
    assert VERBS.keys().isdisjoint(PARTS)


def test_what_hubs_of_other_versions_ask_for_is_there_with_its_arguments() -> None:
    """verbs.txt may grow; a line in it stays."""
    assert set(KEPT) <= {shown(verb) for verb in VERBS}


@pytest.mark.parametrize("verb", VERBS)
def test_the_arguments_of_a_verb_can_come_as_json(verb: str) -> None:
    hints = get_type_hints(VERBS[verb])
    assert hints.pop("return") is not Any
    msgspec.json.schema_components(hints.values())  # a type that JSON cannot be converted to raises


def test_the_api_is_named_without_an_import_of_the_engine() -> None:
    names = "(name for name in sys.modules if name.startswith('tooltray.'))"
    program = f"import sys; sys.path.insert(0, {str(DESKTOP)!r}); import tooltray.api.parts; print(*{names})"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert set(ran.stdout.split()) == {
        *("tooltray.api", "tooltray.api.parts", "tooltray.foundation", "tooltray.foundation.programs", "tooltray.foundation.verbs")
    }


async def test_a_proxy_carries_a_call_as_it_was_made() -> None:
    async def carry(verb: str, *args: Any, **kwargs: Any) -> Any:
        return verb, args, kwargs

    api = Api(**remote_parts(carry))
    assert await api.servers.restart_server("s") == ("restart_server", ("s",), {})  # type: ignore[func-returns-value]
    assert await api.tools.call_tool("t", {"a": 1}, project="/p") == ("call_tool", ("t", {"a": 1}), {"project": "/p"})
    assert api.tools.call_tool.__name__ == "call_tool"


def test_a_proxy_has_no_private_names() -> None:
    part = Api(**remote_parts(lambda verb: None)).servers  # type: ignore[arg-type, return-value]
    assert not hasattr(part, "__deepcopy__")


def test_the_six_events_are_signals_under_their_names() -> None:
    meta = QtMcpPresenter.staticMetaObject
    assert {bytes(meta.method(index).name()).decode() for index in range(meta.methodCount())} >= EVENTS
