"""The types of what the API's verbs return, for callers that get it as JSON from the control channel.

Above it: the command line and the Copilot adapter. Below it: the snapshots. The verbs' own annotations say the same (a test compares them),
but the classes that have them import the engine, which takes longer than most commands. What is not in the table is plain JSON.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from tooltray.foundation.errors import TooltrayError

RESULTS: Mapping[str, str] = {
    "add_grant": "snapshots.approvals:GrantSnapshot",
    "allow_refused": "snapshots.confinement:ConfinementSnapshot",
    "add_rule": "snapshots.approvals:GrantSnapshot",
    "anthropic_tool_use_to_mcp_tool": "snapshots.calls:MCPToolCall",
    "apply_client_edits": "snapshots.ai_clients:ClientChange[]",
    "apply_proposal": "snapshots.confinement:ConfinementSnapshot",
    "begin_sign_in": "snapshots.questions:SignInSnapshot",
    "change_settings": "snapshots.setup:SettingsDocument",
    "count_activity": "snapshots.activity:ActivityCounts",
    "create_api_token": "snapshots.http:NewApiToken",
    "diagnose": "doctor.diagnosis:Diagnosis[]",
    "gemini_function_call_to_mcp_tool": "snapshots.calls:MCPToolCall",
    "get_activity": "snapshots.activity:ActivityRow[]",
    "get_activity_choices": "snapshots.activity:ActivityChoices",
    "get_activity_entry": "snapshots.activity:ActivityDetails",
    "get_activity_figures": "snapshots.activity:ActivityFigures[]",
    "get_activity_series": "snapshots.activity:ActivityPoint[]",
    "get_audit": "snapshots.audit:AuditEntry[]",
    "get_confirmations": "snapshots.confirmations:ConfirmationSnapshot[]",
    "get_passphrase_state": "snapshots.confirmations:PassphraseState",
    "verify_audit": "snapshots.audit:AuditCheck",
    "get_approvals": "snapshots.approvals:ApprovalSnapshot[]",
    "get_bundles": "snapshots.discovery:BundleSnapshot[]",
    "get_calls_now": "snapshots.activity:CallNow[]",
    "get_client_changes": "snapshots.ai_clients:ClientChange[]",
    "get_client_modes": "snapshots.clients:ClientModeSnapshot[]",
    "get_confinement": "snapshots.confinement:ConfinementSnapshot",
    "get_confinement_support": "snapshots.confinement:ConfinementSupport",
    "get_environment": "snapshots.hub:EnvironmentSnapshot",
    "get_feedback_history": "snapshots.feedback:FeedbackEntry[]",
    "get_feedback_requests": "snapshots.feedback:FeedbackSnapshot[]",
    "get_grants": "snapshots.approvals:GrantSnapshot[]",
    "get_http_status": "snapshots.http:HttpStatus",
    "get_inmemory_servers": "snapshots.servers:InMemoryServer[]",
    "get_log": "snapshots.logs:LogPage",
    "get_journal_status": "snapshots.activity:JournalStatus",
    "get_load": "snapshots.program:ProgramLoad",
    "get_mcp_clients": "snapshots.servers:McpClientSnapshot[]",
    "get_npm_registry_status": "snapshots.registries:NpmRegistryStatus",
    "get_permissions": "snapshots.approvals:ServerPermissions[]",
    "get_profiles": "snapshots.clients:ProfileSnapshot[]",
    "get_recent_calls": "snapshots.calls:RecentCall[]",
    "get_registry_server": "snapshots.discovery:RegistryServer",
    "get_registry_updates": "snapshots.discovery:RegistryUpdate[]",
    "get_secrets": "snapshots.stored_secrets:StoredSecrets",
    "get_server_entry": "snapshots.servers:ServerEntry",
    "get_server_files": "snapshots.files:ServerFileSnapshot[]",
    "get_server_tasks": "snapshots.server_tasks:ServerTaskSnapshot[]",
    "get_sessions": "snapshots.clients:SessionSnapshot[]",
    "get_settings": "snapshots.setup:SettingsDocument",
    "get_skills": "snapshots.skills:SkillSnapshot[]",
    "get_snapshot": "snapshots.hub:HubSnapshot",
    "get_starter_servers": "snapshots.discovery:StarterServer[]",
    "get_tool_changes": "snapshots.approvals:ToolChange[]",
    "get_tool_costs": "snapshots.tools:ToolCosts",
    "get_tool_use": "snapshots.activity:ToolUse[]",
    "get_tools": "snapshots.tools:ToolSnapshot[]",
    "get_trust_requests": "snapshots.trust:TrustRequest[]",
    "get_trusted_entries": "snapshots.trust:TrustedEntry[]",
    "get_program": "snapshots.program:ProgramSnapshot",
    "get_watch": "snapshots.watch:WatchSnapshot",
    "import_servers": "snapshots.ai_clients:ImportedServer[]",
    "import_setup": "snapshots.setup:SetupChange[]",
    "list_api_tokens": "snapshots.http:ApiTokenSnapshot[]",
    "list_client_tokens": "snapshots.http:ClientTokenSnapshot[]",
    "openai_tools_to_mcp_tool": "snapshots.calls:MCPToolCall",
    "preview_client_import": "snapshots.ai_clients:ImportPlan",
    "preview_bundle": "snapshots.forms:NewServer",
    "preview_connect": "snapshots.ai_clients:ClientEdit[]",
    "preview_disconnect": "snapshots.ai_clients:ClientEdit[]",
    "preview_grant": "snapshots.tools:CoveredTool[]",
    "preview_import": "snapshots.setup:SetupChange[]",
    "preview_registry_server": "snapshots.forms:NewServer",
    "preview_reload": "snapshots.files:ReloadChange[]",
    "preview_removal": "snapshots.setup:ServerRemoval",
    "preview_reset": "snapshots.setup:SetupChange[]",
    "put_back_moved_servers": "snapshots.ai_clients:ClientChange[]",
    "read_bundle": "snapshots.discovery:BundleOffer",
    "refresh_npm_registry": "snapshots.registries:NpmRegistryStatus",
    "refresh_registry": "snapshots.discovery:RegistryStatus",
    "reload": "snapshots.files:ReloadChange[]",
    "remove_mcp_server": "snapshots.setup:ServerRemoval",
    "reset_to_default_servers": "snapshots.setup:SetupChange[]",
    "restore_grant": "snapshots.approvals:GrantSnapshot",
    "run_tool_call": "snapshots.calls:MCPToolResponse",
    "scan_ai_clients": "snapshots.ai_clients:ClientScan",
    "search_registry": "snapshots.discovery:RegistrySearch",
    "set_api_enabled": "snapshots.http:HttpStatus",
    "set_auto_detect_npm_registry": "snapshots.registries:NpmRegistryStatus",
    "set_confinement": "snapshots.confinement:ConfinementSnapshot",
    "set_custom_npm_registry": "snapshots.registries:NpmRegistryStatus",
    "set_http_enabled": "snapshots.http:HttpStatus",
    "set_start_at_login": "snapshots.program:ProgramSnapshot",
    "stop_watching": "snapshots.watch:WatchSnapshot",
    "test_npm_registry": "snapshots.registries:RegistryMeasurement",
    "try_tool": "snapshots.calls:MCPToolResponse",
    "undo_client_change": "snapshots.ai_clients:ClientChange",
    "preview_rule": "snapshots.approvals:RulePreview",
    "preview_server_update": "snapshots.edited_entries:ServerUpdatePreview",
    "test_server": "snapshots.edited_entries:ServerTest",
    "watch_server": "snapshots.watch:WatchSnapshot",
}


@cache
def result_type(verb: str) -> Any:
    """The type that a verb's JSON is converted to."""
    module, _, name = RESULTS.get(verb, "").partition(":")
    if not module:
        return Any
    kind: Any = getattr(importlib.import_module(f"tooltray.{module}"), name.removesuffix("[]"))
    return list[kind] if name.endswith("[]") else kind


def typed_result(verb: str, value: object) -> Any:
    """Converts a verb's JSON to what the verb returned.

    Raises:
        TooltrayError: it is something else, as from a hub of a much older version.
    """
    try:
        return msgspec.convert(value, result_type(verb))
    except msgspec.ValidationError as error:
        hint = "If the hub is of another version, stop it with: tooltray stop"
        raise TooltrayError("The hub's answer makes no sense", f"{verb}: {error}", hint) from None
