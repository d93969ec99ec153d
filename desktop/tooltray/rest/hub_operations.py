"""The REST operations on the hub itself: settings, secrets, approvals, AI clients, files, set-up.

Above it: the table of all operations. Below it: the presenter's API.
"""

from typing import Any, Protocol

from tooltray.rest.confirmation_rules import (
    accepts_a_question,
    check_is_not_of_api,
    leaves_a_profile,
    removes_a_used_secret,
    replaces_a_secret,
    shows_more,
    switches_on,
)
from tooltray.rest.operation import Call, Operation, always
from tooltray.snapshots.calls import RecentCall
from tooltray.snapshots.feedback import FeedbackEntry
from tooltray.snapshots.http import HttpStatus
from tooltray.snapshots.setup import SettingsDocument

MOST_REPORTS = 500  # as many as a page may have
MAX_ATTACHMENTS_BYTES = 32 * 1024 * 1024  # pictures and files of an answer, as base64


class Asks(Protocol):
    """What operations take and give where that is not as the verb has it."""

    async def activity(self) -> list[RecentCall]:
        """The last tool calls, the newest first; they are kept in memory only."""

    async def http(self, enabled: bool, port: int | None = None) -> HttpStatus:
        """Switches the endpoints for AI clients and programs on or off, or moves them to another port.

        The response leaves before that happens, and shows how it is until then; afterwards this interface is where they are.
        """

    async def history(self, project_path: str = "") -> list[FeedbackEntry]:
        """Reports and answers, the newest first."""


async def _history(call: Call) -> list[FeedbackEntry]:
    return await call.presenter.get_feedback_history(call.arguments.get("project_path", ""), MOST_REPORTS)


async def _with_revision(call: Call) -> SettingsDocument:
    document: SettingsDocument = await call.verb()
    call.show_revision(document.revision)
    return document


async def _change_settings(call: Call) -> SettingsDocument:
    check_is_not_of_api(call.arguments["changes"])
    return await _with_revision(call)


async def _set_http(call: Call) -> HttpStatus:
    """Responds before the address of this connection moves; the listener follows the settings by itself."""
    await call.config.set_http(call.arguments["enabled"], call.arguments.get("port"))
    return await call.presenter.get_http_status()


def _id(item: Any) -> str:
    return str(item.id)


_HUB = (
    Operation("GET", "/mcp/hub", "get_snapshot", summary="The whole hub at this moment"),
    Operation("POST", "/mcp/hub/initialize", "initialize", status=204),
    Operation("GET", "/mcp/hub/enabled", "get_mcp_enabled", summary="Whether all is on; off is a pause", wrap="enabled"),
    Operation("PUT", "/mcp/hub/enabled", "set_mcp_enabled", status=204),
    Operation("GET", "/mcp/http", "get_http_status", summary="Whether HTTP is on, where, and what programs may do"),
    Operation("PUT", "/mcp/http", "set_http_enabled", asks=Asks.http, run=_set_http, needs_trust=always),
    Operation("GET", "/mcp/settings", "get_settings", run=_with_revision),
    Operation("PATCH", "/mcp/settings", "change_settings", whole="changes", run=_change_settings),
    Operation("GET", "/mcp/environment", "get_environment"),
    Operation("DELETE", "/mcp/environment", "forget_environment", status=204),
    Operation("GET", "/mcp/activity", "get_recent_calls", asks=Asks.activity, page_key=_id),
)

_SECRETS = (
    Operation("GET", "/mcp/secrets", "get_secret_names", summary="The names of the secrets, never their values", page_key=str),
    Operation("PUT", "/mcp/secrets/{name}", "set_secret", summary="Keeps a secret under a name", status=204, needs_trust=replaces_a_secret),
    Operation("DELETE", "/mcp/secrets/{name}", "remove_secret", summary="Forgets a secret", status=204, needs_trust=removes_a_used_secret),
    Operation("GET", "/mcp/unused-secrets", "get_unused_secrets", page_key=str),
    Operation("POST", "/mcp/unused-secrets/remove", "remove_unused_secrets", wrap="removed"),
    Operation("GET", "/mcp/secret-backend", "check_secrets", wrap="kind"),
    Operation("PUT", "/mcp/secret-backend", "set_secret_backend", status=204, needs_trust=always),
    Operation(
        "POST",
        "/mcp/secret-backend/unlock",
        "unlock_secrets",
        summary="Unlocks the encrypted file of secrets with its passphrase",
        status=204,
    ),
)

_QUESTIONS = (
    Operation("POST", "/mcp/elicitations/{id}/answer", "answer_elicitation", status=204, needs_trust=accepts_a_question),
    Operation("GET", "/mcp/approvals", "get_approvals"),
    Operation("POST", "/mcp/approvals/{id}/answer", "answer_approval", status=204),
    Operation("GET", "/mcp/grants", "get_grants", page_key=_id),
    Operation("POST", "/mcp/grants", "add_grant", status=201),
    Operation(
        "POST", "/mcp/grants/preview", "preview_grant", summary="The tools that a grant with the same content would allow", scope="read"
    ),
    Operation("DELETE", "/mcp/grants/{id}", "remove_grant", status=204),
    Operation("GET", "/mcp/tool-changes", "get_tool_changes"),
    Operation("POST", "/mcp/tool-changes/accept", "accept_tool_change", status=204),
    Operation("GET", "/mcp/feedback", "get_feedback_requests"),
    Operation("POST", "/mcp/feedback/{id}/answer", "answer_feedback", status=204, max_body_bytes=MAX_ATTACHMENTS_BYTES),
    Operation("POST", "/mcp/feedback/{id}/dismiss", "dismiss_feedback", status=204),
    Operation("GET", "/mcp/feedback/history", "get_feedback_history", asks=Asks.history, run=_history, page_key=_id),
    Operation("GET", "/mcp/feedback/ready-answers", "get_ready_answers"),
    Operation("PUT", "/mcp/feedback/ready-answers", "set_ready_answers", summary="Replaces the ready answers", status=204),
)

_CLIENTS = (
    Operation("GET", "/mcp/sessions", "get_sessions", page_key=_id),
    Operation("PUT", "/mcp/sessions/{session}/project", "set_session_project", status=204),
    Operation("GET", "/mcp/client-modes", "get_client_modes"),
    Operation("PUT", "/mcp/client-modes/mode", "set_client_mode", status=204),
    Operation("PUT", "/mcp/client-modes/profile", "set_client_profile", status=204, needs_trust=leaves_a_profile),
    Operation(
        "PUT",
        "/mcp/client-modes/auto-approve",
        "set_client_auto_approve",
        summary="Chooses which calls of one kind of AI client go unasked, in the place of the servers' own rules",
        status=204,
    ),
    Operation("GET", "/mcp/client-tokens", "list_client_tokens", summary="The AI clients that have a token"),
    Operation("POST", "/mcp/client-tokens", "create_client_token", status=201, wrap="token", needs_trust=always),
    Operation("DELETE", "/mcp/client-tokens/{name}", "remove_client_token", summary="Ends an AI client's token", status=204),
    Operation("GET", "/mcp/profiles", "get_profiles", summary="The named sets of servers and tools"),
    Operation("PUT", "/mcp/profiles/{name}", "set_profile", status=204, whole="profile", needs_trust=shows_more),
    Operation("DELETE", "/mcp/profiles/{name}", "remove_profile", summary="Removes a profile", status=204, needs_trust=always),
)

_PROJECTS = (
    Operation("GET", "/mcp/projects", "get_allowed_folders"),
    Operation("POST", "/mcp/projects", "allow_folder", status=201, wrap="path"),
    Operation("DELETE", "/mcp/projects", "disallow_folder", status=204),
    Operation("POST", "/mcp/projects/reset", "reset_deferred_state", status=204),
    Operation("GET", "/mcp/files", "get_server_files"),
    Operation("GET", "/mcp/trust", "get_trusted_entries"),
    Operation("GET", "/mcp/trust/requests", "get_trust_requests"),
    Operation("POST", "/mcp/trust", "trust_entries"),
    Operation("DELETE", "/mcp/trust", "distrust_entries", status=204),
    Operation("GET", "/mcp/reload", "preview_reload", summary="What reading all files again would do"),
    Operation("POST", "/mcp/reload", "reload"),
)

_SETUP = (
    Operation("GET", "/mcp/setup", "export_setup"),
    Operation("POST", "/mcp/setup", "import_setup", whole="setup", in_query=("replace",), needs_trust=always),
    Operation(
        "POST",
        "/mcp/setup/preview",
        "preview_import",
        summary="What taking over this set-up would do",
        scope="read",
        whole="setup",
        in_query=("replace",),
    ),
    Operation("GET", "/mcp/setup/reset", "preview_reset", summary="What putting the default servers back would do"),
    Operation("POST", "/mcp/setup/reset", "reset_to_default_servers", needs_trust=always),
    Operation("GET", "/mcp/registries", "get_npm_registry_status", summary="Where npm packages of servers come from"),
    Operation("POST", "/mcp/registries/refresh", "refresh_npm_registry"),
    Operation("POST", "/mcp/registries/test", "test_npm_registry"),
    Operation("PUT", "/mcp/registries/custom", "set_custom_npm_registry", needs_trust=always),
    Operation("PUT", "/mcp/registries/auto-detect", "set_auto_detect_npm_registry", needs_trust=switches_on),
    Operation("DELETE", "/mcp/registries/cache", "clear_npm_registry_cache", status=204),
)

OPERATIONS = (*_HUB, *_SECRETS, *_QUESTIONS, *_CLIENTS, *_PROJECTS, *_SETUP)
