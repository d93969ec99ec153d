"""presenter/verbs.py and McpPresenter: what others may call by name is what the presenter offers, with the arguments agreed on."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import msgspec
import pytest

from tooltray.doctor.diagnosis import Diagnosis
from tooltray.errors import Problem
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.verbs import VERBS
from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, ToolChange
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse, RecentCall
from tooltray.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.snapshots.environment import EnvironmentSnapshot
from tooltray.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.snapshots.hub import HubSnapshot
from tooltray.snapshots.questions import SignInSnapshot
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import McpClientSnapshot, ServerEntry, ServerSnapshot, ServerState
from tooltray.snapshots.setup import SettingsDocument, SetupChange
from tooltray.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.snapshots.trust import TrustedEntry, TrustRequest

FOR_SESSIONS = {"answer", "open_server", "end_session", "finds_server"}  # raw bytes of AI clients; not by name

AGREED: dict[str, tuple[str, Any]] = {
    "get_snapshot": ("()", HubSnapshot),
    "get_mcp_servers": ("()", dict[str, dict[str, Any]]),
    "get_server_entry": ("(name)", ServerEntry),
    "add_mcp_server": ("(name, config, is_default=True, project=)", str),
    "update_mcp_server": ("(name, config, revision=)", None),
    "remove_mcp_server": ("(name, revision=, keep_secrets=False)", ServerRemoval),
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
    "call_tool": ("(name, arguments, project=None)", dict[str, Any]),
    "get_secret_names": ("()", list[str]),
    "set_secret": ("(name, value)", None),
    "remove_secret": ("(name)", None),
    "preview_removal": ("(name)", ServerRemoval),
    "get_unused_secrets": ("()", list[str]),
    "remove_unused_secrets": ("(names)", list[str]),
    "answer_elicitation": ("(id, action, content=None)", None),
    "check_secrets": ("()", str),
    "unlock_secrets": ("(passphrase)", None),
    "set_secret_backend": ("(kind)", None),
    "diagnose": ("(server=None, wait_s=0.0)", list[Diagnosis]),
    "reset_tool_names": ("()", None),
    "get_http_status": ("()", HttpStatus),
    "set_http_enabled": ("(enabled, port=None)", HttpStatus),
    "list_client_tokens": ("()", list[ClientTokenSnapshot]),
    "create_client_token": ("(name)", str),
    "remove_client_token": ("(name)", None),
    "initialize": ("()", None),
    "is_server_running": ("(name)", bool),
    "get_mcp_clients": ("()", list[McpClientSnapshot]),
    "run_tool_call": ("(call)", MCPToolResponse),
    "get_all_prompts": ("(server=None)", list[dict[str, Any]]),
    "get_prompt": ("(name, arguments=None)", dict[str, Any]),
    "get_all_resources": ("(server=None)", list[dict[str, Any]]),
    "get_all_resource_templates": ("(server=None)", list[dict[str, Any]]),
    "read_resource": ("(uri)", dict[str, Any]),
    "mcp_tools_to_openai_tools": ("(server=None, api=chat)", list[dict[str, Any]]),
    "openai_tools_to_mcp_tool": ("(call)", MCPToolCall),
    "mcp_tools_to_anthropic_tools": ("(server=None)", list[dict[str, Any]]),
    "anthropic_tool_use_to_mcp_tool": ("(tool_use)", MCPToolCall),
    "mcp_tools_to_gemini_tools": ("(server=None)", list[dict[str, Any]]),
    "gemini_function_call_to_mcp_tool": ("(function_call)", MCPToolCall),
    "mcp_response_to_openai": ("(response, api=chat)", dict[str, Any]),
    "mcp_response_to_anthropic": ("(response)", dict[str, Any]),
    "mcp_response_to_gemini": ("(response)", dict[str, Any]),
    "get_npm_registry_status": ("()", NpmRegistryStatus),
    "refresh_npm_registry": ("()", NpmRegistryStatus),
    "test_npm_registry": ("(url)", RegistryMeasurement),
    "set_custom_npm_registry": ("(url)", NpmRegistryStatus),
    "set_auto_detect_npm_registry": ("(enabled)", NpmRegistryStatus),
    "clear_npm_registry_cache": ("()", None),
    "apply_remedy": ("(server, kind, value=)", str),
    "begin_sign_in": ("(name)", SignInSnapshot),
    "finish_sign_in": ("(name, callback_url=None)", None),
    "cancel_sign_in": ("(name)", None),
    "sign_out": ("(name)", None),
    "export_setup": ("()", dict[str, Any]),
    "preview_import": ("(setup, replace=False)", list[SetupChange]),
    "import_setup": ("(setup, replace=False)", list[SetupChange]),
    "preview_reset": ("()", list[SetupChange]),
    "reset_to_default_servers": ("()", list[SetupChange]),
    "get_sessions": ("()", list[SessionSnapshot]),
    "get_client_modes": ("()", list[ClientModeSnapshot]),
    "set_client_mode": ("(client, mode=)", None),
    "set_client_profile": ("(client, profile=)", None),
    "set_client_auto_approve": ("(client, rules=None)", None),
    "get_profiles": ("()", list[ProfileSnapshot]),
    "set_profile": ("(name, profile)", None),
    "remove_profile": ("(name)", None),
    "set_lazy_load": ("(enabled=None, server=None)", None),
    "set_tool_override": ("(server, tool, name=None, description=None)", None),
    "get_tool_costs": ("(client=None, session=None)", ToolCosts),
    "get_allowed_folders": ("()", list[str]),
    "allow_folder": ("(path)", str),
    "disallow_folder": ("(path)", None),
    "start_for_project": ("(server, path)", None),
    "start_without_project": ("(server)", None),
    "set_session_project": ("(session, path)", None),
    "reset_deferred_state": ("()", None),
    "set_deferred": ("(server, deferred, template=None)", None),
    "get_approvals": ("()", list[ApprovalSnapshot]),
    "answer_approval": ("(id, answer)", None),
    "get_grants": ("()", list[GrantSnapshot]),
    "preview_grant": ("(server, kind=tool, tool=, client=)", list[ToolSnapshot]),
    "add_grant": ("(server, kind=tool, tool=, client=, expires_in_s=None)", GrantSnapshot),
    "remove_grant": ("(id)", None),
    "get_tool_changes": ("()", list[ToolChange]),
    "accept_tool_change": ("(server, tool)", None),
    "get_feedback_requests": ("()", list[FeedbackSnapshot]),
    "answer_feedback": ("(id, text, attachments=())", None),
    "dismiss_feedback": ("(id)", None),
    "get_feedback_history": ("(project_path=, limit=50)", list[FeedbackEntry]),
    "get_ready_answers": ("()", list[str]),
    "set_ready_answers": ("(answers)", None),
    "get_server_files": ("()", list[ServerFileSnapshot]),
    "get_trust_requests": ("(project=)", list[TrustRequest]),
    "trust_entries": ("(project, entries)", list[str]),
    "distrust_entries": ("(project, entry=)", None),
    "get_trusted_entries": ("()", list[TrustedEntry]),
    "preview_reload": ("()", list[ReloadChange]),
    "reload": ("()", list[ReloadChange]),
    "set_api_enabled": ("(enabled, trusted=None)", HttpStatus),
    "get_api_token": ("()", str),
    "rotate_api_token": ("()", str),
    "list_api_tokens": ("()", list[ApiTokenSnapshot]),
    "create_api_token": ("(name, scope=manage, expires_in_s=None, trusted=False)", NewApiToken),
    "revoke_api_token": ("(name)", None),
    "get_settings": ("()", SettingsDocument),
    "change_settings": ("(changes, revision=)", SettingsDocument),
    "set_server_auto_approve": ("(server, rules)", None),
    "get_recent_calls": ("(limit=200)", list[RecentCall]),
    "get_environment": ("()", EnvironmentSnapshot),
    "forget_environment": ("()", None),
}
TYPES: dict[str, Any] = {
    "name": str,
    "content": dict[str, Any] | None,
    "config": Mapping[str, Any],
    "is_default": bool,
    "keep_secrets": bool,
    "remove_unused_secrets.names": list[str],
    "lines": int,
    "wait_s": float,
    "enabled": bool,
    "tool": str,
    "arguments": Mapping[str, Any],
    "value": str,
    "passphrase": str,
    "kind": str,
    "port": int | None,
    "server": str | None,
    "apply_remedy.server": str,
    "set_tool_enabled.server": str,
    "get_prompt.arguments": Mapping[str, str] | None,
    "run_tool_call.call": MCPToolCall,
    "call": Mapping[str, Any],
    "tool_use": Mapping[str, Any],
    "function_call": Mapping[str, Any],
    "setup": Mapping[str, Any],
    "replace": bool,
    "response": MCPToolResponse,
    "callback_url": str | None,
    "client": str,
    "mode": str,
    "profile": str,
    "rules": list[str] | None,
    "set_server_auto_approve.server": str,
    "set_server_auto_approve.rules": list[str],
    "set_profile.profile": Mapping[str, Any],
    "set_lazy_load.enabled": bool | None,
    "set_tool_override.server": str,
    "set_tool_override.name": str | None,
    "description": str | None,
    "get_tool_costs.client": str | None,
    "get_tool_costs.session": str | None,
    "path": str,
    "start_for_project.server": str,
    "start_without_project.server": str,
    "session": str,
    "set_deferred.server": str,
    "deferred": bool,
    "template": list[str] | None,
    "id": str,
    "answer": str,
    "preview_grant.server": str,
    "add_grant.server": str,
    "expires_in_s": float | None,
    "accept_tool_change.server": str,
    "text": str,
    "attachments": Sequence[FeedbackAttachment],
    "project_path": str,
    "call_tool.project": str | None,
    "limit": int,
    "answers": list[str],
    "entries": Mapping[str, str],
    "trusted": bool | None,
    "create_api_token.trusted": bool,
    "scope": Scope,
    "changes": Mapping[str, Any],
}
EXAMPLES: dict[Any, Any] = {str: "x", bool: True, int: 5, Mapping[str, Any]: {"a": 1}, str | None: None, int | None: 5}
EXAMPLES[Mapping[str, str]] = {"a": "b"}
EXAMPLES[dict[str, Any] | None] = {"a": 1}
EXAMPLES[Mapping[str, str] | None] = {"a": "b"}
EXAMPLES |= {bool | None: None, float: 1.5, float | None: 5.0, list[str]: ["x"], list[str] | None: ["x"]}
EXAMPLES[Sequence[FeedbackAttachment]] = [FeedbackAttachment("a.png", "image/png", "eA==")]
EXAMPLES[Scope] = "call"
EXAMPLES[MCPToolCall] = MCPToolCall("1", "echo", {"a": 1})
EXAMPLES[MCPToolResponse] = MCPToolResponse("echo", "s", "c", "ok", 0.5, 1, 2, "1", {"content": []})


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
        assert hint == TYPES.get(f"{verb}.{name}", TYPES.get(name, str))
        assert msgspec.convert(msgspec.to_builtins(EXAMPLES[hint]), hint) == EXAMPLES[hint]
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
        "is_held": False,
    }
    assert msgspec.to_builtins([Diagnosis("s", True, "stdio", "running", command=("x",))])[0]["exit_code"] is None
