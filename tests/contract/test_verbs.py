"""presenter/verbs.py and McpPresenter: what others may call by name is what the presenter offers, with the arguments agreed on."""

import inspect
from collections.abc import Mapping
from typing import Any, get_type_hints

import msgspec
import pytest

from tooltray.errors import Problem
from tooltray.events import ClientTokenSnapshot, HttpStatus, HubSnapshot, ServerSnapshot, ServerState, ToolSnapshot
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.verbs import VERBS
from tooltray.servers.diagnosis import Diagnosis

FOR_SESSIONS = {"answer", "open_server", "end_session"}  # raw bytes of AI clients; not by name

AGREED: dict[str, tuple[str, Any]] = {
    "get_snapshot": ("()", HubSnapshot),
    "get_mcp_servers": ("()", dict[str, dict[str, Any]]),
    "add_mcp_server": ("(name, config, is_default=True)", None),
    "update_mcp_server": ("(name, config)", None),
    "remove_mcp_server": ("(name)", None),
    "start_server": ("(name)", None),
    "stop_server": ("(name)", None),
    "restart_server": ("(name)", None),
    "get_server_log": ("(name, lines=200)", list[str]),
    "get_mcp_default_servers": ("()", list[str]),
    "add_mcp_default_server": ("(name)", None),
    "remove_mcp_default_server": ("(name)", None),
    "toggle_mcp_default_server": ("(name)", bool),
    "get_mcp_enabled": ("()", bool),
    "set_mcp_enabled": ("(enabled)", None),
    "get_all_tool_definitions": ("(server=None)", list[dict[str, Any]]),
    "get_tools": ("(server=None)", list[ToolSnapshot]),
    "set_tool_enabled": ("(server, tool, enabled)", None),
    "call_tool": ("(name, arguments)", dict[str, Any]),
    "get_secret_names": ("()", list[str]),
    "set_secret": ("(name, value)", None),
    "remove_secret": ("(name)", None),
    "answer_elicitation": ("(id, action, content=None)", None),
    "check_secrets": ("()", str),
    "unlock_secrets": ("(passphrase)", None),
    "set_secret_backend": ("(kind)", None),
    "diagnose": ("(server=None)", list[Diagnosis]),
    "reset_tool_names": ("()", None),
    "get_http_status": ("()", HttpStatus),
    "set_http_enabled": ("(enabled, port=None)", HttpStatus),
    "list_client_tokens": ("()", list[ClientTokenSnapshot]),
    "create_client_token": ("(name)", str),
    "remove_client_token": ("(name)", None),
}
TYPES: dict[str, Any] = {
    "name": str,
    "content": dict[str, Any] | None,
    "config": Mapping[str, Any],
    "is_default": bool,
    "lines": int,
    "enabled": bool,
    "tool": str,
    "arguments": Mapping[str, Any],
    "value": str,
    "passphrase": str,
    "kind": str,
    "port": int | None,
}
EXAMPLES: dict[Any, Any] = {str: "x", bool: True, int: 5, Mapping[str, Any]: {"a": 1}, str | None: None, int | None: 5}
EXAMPLES[dict[str, Any] | None] = {"a": 1}


def public_coroutines() -> set[str]:
    return {name for name, _ in inspect.getmembers(McpPresenter, inspect.iscoroutinefunction) if not name.startswith("_")}


def test_the_verbs_are_the_presenters_and_each_stands_there_once() -> None:
    assert len(set(VERBS)) == len(VERBS)
    assert set(VERBS) == public_coroutines() - FOR_SESSIONS


def test_the_verbs_are_those_agreed_on() -> None:
    assert set(VERBS) == set(AGREED)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_the_arguments_agreed_on_and_gives_what_was_agreed_on(verb: str) -> None:
    method = getattr(McpPresenter, verb)
    hints = get_type_hints(method)
    parameters = [parameter for name, parameter in inspect.signature(method).parameters.items() if name != "self"]
    shown = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
    signature, result = AGREED[verb]
    assert f"({shown})" == signature
    assert hints["return"] == (type(None) if result is None else result)


@pytest.mark.parametrize("verb", VERBS)
def test_the_arguments_of_a_verb_can_come_as_json(verb: str) -> None:
    hints = get_type_hints(getattr(McpPresenter, verb))
    hints.pop("return")
    for name, hint in hints.items():
        is_optional = AGREED[verb][0] == "(server=None)"
        assert hint == (str | None if is_optional else TYPES.get(name, str))
        assert msgspec.convert(EXAMPLES[hint], hint) == EXAMPLES[hint]
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert([{}], hint)


def test_what_verbs_return_can_go_as_json() -> None:
    problem = Problem("title", "message", "hint")
    server = ServerSnapshot("s", "stdio", "x", ServerState.INSTALLING, problem=problem, pids=(1,), calls=(1, 2))
    hub = HubSnapshot(1, "1", False, 0, 1.5, (server,), (problem,))
    found = msgspec.to_builtins(hub)
    assert found["servers"][0]["state"] == "installing"
    assert found["servers"][0]["problem"] == found["notices"][0] == {"title": "title", "message": "message", "hint": "hint"}
    tool = msgspec.to_builtins([ToolSnapshot("n", "s", "o", "d", "read", True, False)])
    assert tool[0] == {
        "name": "n",
        "server": "s",
        "original_name": "o",
        "description": "d",
        "category": "read",
        "is_enabled": True,
        "is_approved": False,
    }
    assert msgspec.to_builtins([Diagnosis("s", True, "stdio", "running", command=("x",))])[0]["exit_code"] is None
