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
    "add_grant": "foundation.snapshots.approvals:GrantSnapshot",
    "allow_refused": "foundation.snapshots.confinement:ConfinementSnapshot",
    "add_rule": "foundation.snapshots.approvals:GrantSnapshot",
    "anthropic_tool_use_to_mcp_tool": "foundation.snapshots.calls:MCPToolCall",
    "apply_client_edits": "foundation.snapshots.ai_clients:ClientChange[]",
    "apply_proposal": "foundation.snapshots.confinement:ConfinementSnapshot",
    "begin_sign_in": "foundation.snapshots.questions:SignInSnapshot",
    "change_settings": "foundation.snapshots.setup:SettingsDocument",
    "count_activity": "foundation.snapshots.activity:ActivityCounts",
    "create_api_token": "foundation.snapshots.http:NewApiToken",
    "diagnose": "sources.doctor.diagnosis:Diagnosis[]",
    "gemini_function_call_to_mcp_tool": "foundation.snapshots.calls:MCPToolCall",
    "get_activity": "foundation.snapshots.activity:ActivityRow[]",
    "get_activity_choices": "foundation.snapshots.activity:ActivityChoices",
    "get_activity_entry": "foundation.snapshots.activity:ActivityDetails",
    "get_activity_figures": "foundation.snapshots.activity:ActivityFigures[]",
    "get_activity_series": "foundation.snapshots.activity:ActivityPoint[]",
    "get_audit": "foundation.snapshots.audit:AuditEntry[]",
    "get_confirmations": "foundation.snapshots.confirmations:ConfirmationSnapshot[]",
    "get_passphrase_state": "foundation.snapshots.confirmations:PassphraseState",
    "verify_audit": "foundation.snapshots.audit:AuditCheck",
    "get_approvals": "foundation.snapshots.approvals:ApprovalSnapshot[]",
    "get_bundles": "foundation.snapshots.discovery:BundleSnapshot[]",
    "get_calls_now": "foundation.snapshots.activity:CallNow[]",
    "get_client_changes": "foundation.snapshots.ai_clients:ClientChange[]",
    "get_client_modes": "foundation.snapshots.clients:ClientModeSnapshot[]",
    "get_confinement": "foundation.snapshots.confinement:ConfinementSnapshot",
    "get_confinement_support": "foundation.snapshots.confinement:ConfinementSupport",
    "get_environment": "foundation.snapshots.hub:EnvironmentSnapshot",
    "get_feedback_history": "foundation.snapshots.feedback:FeedbackEntry[]",
    "get_feedback_requests": "foundation.snapshots.feedback:FeedbackSnapshot[]",
    "get_grants": "foundation.snapshots.approvals:GrantSnapshot[]",
    "get_http_status": "foundation.snapshots.http:HttpStatus",
    "get_inmemory_servers": "foundation.snapshots.servers:InMemoryServer[]",
    "get_log": "foundation.snapshots.logs:LogPage",
    "get_journal_status": "foundation.snapshots.activity:JournalStatus",
    "get_load": "foundation.snapshots.program:ProgramLoad",
    "get_mcp_clients": "foundation.snapshots.servers:McpClientSnapshot[]",
    "get_npm_registry_status": "foundation.snapshots.registries:NpmRegistryStatus",
    "get_permissions": "foundation.snapshots.approvals:ServerPermissions[]",
    "get_profiles": "foundation.snapshots.clients:ProfileSnapshot[]",
    "get_recent_calls": "foundation.snapshots.calls:RecentCall[]",
    "get_registry_server": "foundation.snapshots.discovery:RegistryServer",
    "get_registry_updates": "foundation.snapshots.discovery:RegistryUpdate[]",
    "get_secrets": "foundation.snapshots.stored_secrets:StoredSecrets",
    "get_server_entry": "foundation.snapshots.servers:ServerEntry",
    "get_server_files": "foundation.snapshots.files:ServerFileSnapshot[]",
    "get_server_tasks": "foundation.snapshots.server_tasks:ServerTaskSnapshot[]",
    "get_sessions": "foundation.snapshots.clients:SessionSnapshot[]",
    "get_settings": "foundation.snapshots.setup:SettingsDocument",
    "get_skills": "foundation.snapshots.skills:SkillSnapshot[]",
    "get_snapshot": "foundation.snapshots.hub:HubSnapshot",
    "get_starter_servers": "foundation.snapshots.discovery:StarterServer[]",
    "get_tool_changes": "foundation.snapshots.approvals:ToolChange[]",
    "get_tool_costs": "foundation.snapshots.tools:ToolCosts",
    "get_tool_use": "foundation.snapshots.activity:ToolUse[]",
    "get_tools": "foundation.snapshots.tools:ToolSnapshot[]",
    "get_trust_requests": "foundation.snapshots.trust:TrustRequest[]",
    "get_trusted_entries": "foundation.snapshots.trust:TrustedEntry[]",
    "get_program": "foundation.snapshots.program:ProgramSnapshot",
    "get_watch": "foundation.snapshots.watch:WatchSnapshot",
    "import_servers": "foundation.snapshots.ai_clients:ImportedServer[]",
    "import_setup": "foundation.snapshots.setup:SetupChange[]",
    "list_api_tokens": "foundation.snapshots.http:ApiTokenSnapshot[]",
    "list_client_tokens": "foundation.snapshots.http:ClientTokenSnapshot[]",
    "openai_tools_to_mcp_tool": "foundation.snapshots.calls:MCPToolCall",
    "preview_client_import": "foundation.snapshots.ai_clients:ImportPlan",
    "preview_bundle": "foundation.snapshots.forms:NewServer",
    "preview_connect": "foundation.snapshots.ai_clients:ClientEdit[]",
    "preview_disconnect": "foundation.snapshots.ai_clients:ClientEdit[]",
    "preview_grant": "foundation.snapshots.tools:CoveredTool[]",
    "preview_import": "foundation.snapshots.setup:SetupChange[]",
    "preview_registry_server": "foundation.snapshots.forms:NewServer",
    "preview_reload": "foundation.snapshots.files:ReloadChange[]",
    "preview_removal": "foundation.snapshots.setup:ServerRemoval",
    "preview_reset": "foundation.snapshots.setup:SetupChange[]",
    "put_back_moved_servers": "foundation.snapshots.ai_clients:ClientChange[]",
    "read_bundle": "foundation.snapshots.discovery:BundleOffer",
    "refresh_npm_registry": "foundation.snapshots.registries:NpmRegistryStatus",
    "refresh_registry": "foundation.snapshots.discovery:RegistryStatus",
    "reload": "foundation.snapshots.files:ReloadChange[]",
    "remove_mcp_server": "foundation.snapshots.setup:ServerRemoval",
    "reset_to_default_servers": "foundation.snapshots.setup:SetupChange[]",
    "restore_grant": "foundation.snapshots.approvals:GrantSnapshot",
    "run_tool_call": "foundation.snapshots.calls:MCPToolResponse",
    "scan_ai_clients": "foundation.snapshots.ai_clients:ClientScan",
    "search_registry": "foundation.snapshots.discovery:RegistrySearch",
    "set_api_enabled": "foundation.snapshots.http:HttpStatus",
    "set_auto_detect_npm_registry": "foundation.snapshots.registries:NpmRegistryStatus",
    "set_confinement": "foundation.snapshots.confinement:ConfinementSnapshot",
    "set_custom_npm_registry": "foundation.snapshots.registries:NpmRegistryStatus",
    "set_http_enabled": "foundation.snapshots.http:HttpStatus",
    "set_start_at_login": "foundation.snapshots.program:ProgramSnapshot",
    "stop_watching": "foundation.snapshots.watch:WatchSnapshot",
    "test_npm_registry": "foundation.snapshots.registries:RegistryMeasurement",
    "try_tool": "foundation.snapshots.calls:MCPToolResponse",
    "undo_client_change": "foundation.snapshots.ai_clients:ClientChange",
    "preview_rule": "foundation.snapshots.approvals:RulePreview",
    "preview_server_update": "foundation.snapshots.edited_entries:ServerUpdatePreview",
    "test_server": "foundation.snapshots.edited_entries:ServerTest",
    "watch_server": "foundation.snapshots.watch:WatchSnapshot",
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
