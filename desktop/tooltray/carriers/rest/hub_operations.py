"""The REST operations on the hub itself: settings, secrets, approvals, AI clients, files, set-up.

Above it: the table of all operations. Below it: the presenter's API.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tooltray.api.presenter.hub_api import HubApi
from tooltray.api.presenter.program_api import ProgramApi
from tooltray.carriers.rest.confirmation_rules import (
    accepts_a_question,
    check_is_not_of_api,
    leaves_a_profile,
    removes_a_used_secret,
    replaces_a_secret,
    shows_more,
    switches_on,
)
from tooltray.carriers.rest.operation import Call, Operation, always
from tooltray.catalogue.views.api import ViewsApi
from tooltray.config.settings.settings_edits import http_access
from tooltray.consent.approvals.api import ApprovalsApi
from tooltray.consent.tokens.api import AccessApi
from tooltray.foundation.snapshots.ai_clients import ImportedServer, ImportPlan
from tooltray.foundation.snapshots.feedback import FeedbackEntry
from tooltray.foundation.snapshots.forms import FieldValue
from tooltray.foundation.snapshots.http import HttpStatus
from tooltray.foundation.snapshots.setup import SettingsDocument
from tooltray.gateway.calls.api import QuestionsApi
from tooltray.gateway.feedback.api import FeedbackApi
from tooltray.servers.npm_mirrors.api import RegistriesApi
from tooltray.sources.bundles.api import BundlesApi
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.entries.files_api import FilesApi
from tooltray.sources.entries.secrets_api import SecretsApi
from tooltray.sources.entries.settings_api import SettingsApi
from tooltray.sources.entries.setup_api import SetupApi
from tooltray.sources.projects.api import ProjectsApi

MOST_REPORTS = 500  # as many as a page may have
MAX_IMPORT_BYTES = 16 * 1024 * 1024  # a client's whole file may be given as a text
MAX_ATTACHMENTS_BYTES = 32 * 1024 * 1024  # pictures and files of an answer, as base64


class Asks(Protocol):
    """What operations take and give where that is not as the verb has it."""

    async def http(self, enabled: bool, port: int | None = None) -> HttpStatus:
        """Switches the endpoints for AI clients and programs on or off, or moves them to another port.

        The response leaves before that happens, and shows how it is until then; afterwards this interface is where they are.
        """

    async def history(self, project_path: str = "") -> list[FeedbackEntry]:
        """Reports and answers, the newest first."""

    async def preview_import(self, clients: Sequence[str] = (), text: str = "") -> ImportPlan:
        """What can be imported from AI clients or a text, and how it compares with what is here: each server once, in however many
        clients it stands.
        """

    async def import_servers(
        self,
        choices: Sequence[str],
        names: Mapping[str, str] = {},
        values: Mapping[str, Mapping[str, FieldValue]] = {},
        tidy: bool = False,
        clients: Sequence[str] = (),
        text: str = "",
    ) -> list[ImportedServer]:
        """Adds servers of AI clients, or of a text, and waits until each has listed its tools or is known to be held up by something.

        `choices` are ids of the preview of the same clients or text. Servers of a text wait for a person's yes, one by one; those of
        clients come in at once, and with `tidy` leave the clients' files, so that this needs a person's yes beforehand.
        """


async def _history(call: Call) -> list[FeedbackEntry]:
    return await call.presenter.feedback.get_feedback_history(call.arguments.get("project_path", ""), MOST_REPORTS)


async def _with_revision(call: Call) -> SettingsDocument:
    document: SettingsDocument = await call.verb()
    call.show_revision(document.revision)
    return document


async def _change_settings(call: Call) -> SettingsDocument:
    check_is_not_of_api(call.arguments["changes"])
    return await _with_revision(call)


async def _set_http(call: Call) -> HttpStatus:
    """Responds before the address of this connection moves; the listener follows the settings by itself."""
    await call.config.edit(http_access(call.arguments["enabled"], call.arguments.get("port")))
    return await call.presenter.access.get_http_status()


def _server(item: Any) -> str:
    return str(item.server)


def _id(item: Any) -> str:
    return str(item.id)


_HUB = (
    Operation("GET", "/mcp/hub", HubApi.get_snapshot, summary="The whole hub at this moment"),
    Operation("POST", "/mcp/hub/initialize", HubApi.initialize, status=204),
    Operation("GET", "/mcp/hub/enabled", HubApi.get_mcp_enabled, summary="Whether all is on; off is a pause", wrap="enabled"),
    Operation("PUT", "/mcp/hub/enabled", HubApi.set_mcp_enabled, status=204),
    Operation("GET", "/mcp/http", AccessApi.get_http_status, summary="Whether HTTP is on, where, and what programs may do"),
    Operation("PUT", "/mcp/http", AccessApi.set_http_enabled, asks=Asks.http, run=_set_http, needs_trust=always),
    Operation("GET", "/mcp/settings", SettingsApi.get_settings, run=_with_revision),
    Operation("PATCH", "/mcp/settings", SettingsApi.change_settings, whole="changes", run=_change_settings),
    Operation("GET", "/mcp/environment", HubApi.get_environment),
    Operation("DELETE", "/mcp/environment", HubApi.forget_environment, status=204),
    Operation("GET", "/mcp/program", ProgramApi.get_program),
    Operation("GET", "/mcp/program/load", ProgramApi.get_load),
    Operation("PUT", "/mcp/program/start-at-login", ProgramApi.set_start_at_login, needs_trust=always),
    Operation("GET", "/mcp/program/licences", ProgramApi.get_licences, wrap="licences"),
    Operation("GET", "/mcp/program/diagnostics", ProgramApi.get_diagnostics, wrap="diagnostics"),
)

_SECRETS = (
    Operation("GET", "/mcp/secrets", SecretsApi.get_secret_names, summary="The names of the secrets, never their values", page_key=str),
    Operation(
        "PUT",
        "/mcp/secrets/{name}",
        SecretsApi.set_secret,
        summary="Keeps a secret under a name",
        status=204,
        needs_trust=replaces_a_secret,
    ),
    Operation(
        "DELETE", "/mcp/secrets/{name}", SecretsApi.remove_secret, summary="Forgets a secret", status=204, needs_trust=removes_a_used_secret
    ),
    Operation("POST", "/mcp/secrets/{name}/restore", SecretsApi.restore_secret, status=204, needs_trust=always),
    Operation("GET", "/mcp/stored-secrets", SecretsApi.get_secrets),
    Operation("GET", "/mcp/unused-secrets", SecretsApi.get_unused_secrets, page_key=str),
    Operation("POST", "/mcp/unused-secrets/remove", SecretsApi.remove_unused_secrets, wrap="removed"),
    Operation("GET", "/mcp/secret-backend", SecretsApi.check_secrets, wrap="kind"),
    Operation("PUT", "/mcp/secret-backend", SecretsApi.set_secret_backend, status=204),
    Operation(
        "POST",
        "/mcp/secret-backend/unlock",
        SecretsApi.unlock_secrets,
        summary="Unlocks the encrypted file of secrets with its passphrase",
        status=204,
    ),
)

_QUESTIONS = (
    Operation("POST", "/mcp/elicitations/{id}/answer", QuestionsApi.answer_elicitation, status=204, needs_trust=accepts_a_question),
    Operation("GET", "/mcp/approvals", ApprovalsApi.get_approvals),
    Operation("POST", "/mcp/approvals/{id}/answer", ApprovalsApi.answer_approval, status=204),
    Operation("GET", "/mcp/grants", ApprovalsApi.get_grants, page_key=_id),
    Operation("POST", "/mcp/grants", ApprovalsApi.add_grant, status=201),
    Operation(
        "POST",
        "/mcp/grants/preview",
        ApprovalsApi.preview_grant,
        summary="The tools that a grant with the same content would allow",
        scope="read",
    ),
    Operation("POST", "/mcp/grants/rules", ApprovalsApi.add_rule, status=201),
    Operation("POST", "/mcp/grants/rules/preview", ApprovalsApi.preview_rule),
    Operation("DELETE", "/mcp/grants/{id}", ApprovalsApi.remove_grant, status=204),
    Operation("POST", "/mcp/grants/{id}/restore", ApprovalsApi.restore_grant),
    Operation("GET", "/mcp/permissions", ApprovalsApi.get_permissions, page_key=_server),
    Operation("GET", "/mcp/tool-changes", ApprovalsApi.get_tool_changes),
    Operation("POST", "/mcp/tool-changes/accept", ApprovalsApi.accept_tool_change, status=204),
    Operation("GET", "/mcp/feedback", FeedbackApi.get_feedback_requests),
    Operation("POST", "/mcp/feedback/{id}/answer", FeedbackApi.answer_feedback, status=204, max_body_bytes=MAX_ATTACHMENTS_BYTES),
    Operation("POST", "/mcp/feedback/{id}/dismiss", FeedbackApi.dismiss_feedback, status=204),
    Operation("GET", "/mcp/feedback/history", FeedbackApi.get_feedback_history, asks=Asks.history, run=_history, page_key=_id),
    Operation("GET", "/mcp/feedback/ready-answers", FeedbackApi.get_ready_answers),
    Operation("PUT", "/mcp/feedback/ready-answers", FeedbackApi.set_ready_answers, summary="Replaces the ready answers", status=204),
)

_CLIENTS = (
    Operation("GET", "/mcp/sessions", ViewsApi.get_sessions, page_key=_id),
    Operation("PUT", "/mcp/sessions/{session}/project", ProjectsApi.set_session_project, status=204),
    Operation("GET", "/mcp/client-modes", ViewsApi.get_client_modes),
    Operation("PUT", "/mcp/client-modes/mode", ViewsApi.set_client_mode, status=204),
    Operation("PUT", "/mcp/client-modes/profile", ViewsApi.set_client_profile, status=204, needs_trust=leaves_a_profile),
    Operation(
        "PUT",
        "/mcp/client-modes/auto-approve",
        ViewsApi.set_client_auto_approve,
        summary="Chooses which calls of one kind of AI client go unasked, in the place of the servers' own rules",
        status=204,
    ),
    Operation("PUT", "/mcp/result-limit", ViewsApi.set_result_limit, status=204),
    Operation("GET", "/mcp/client-tokens", AccessApi.list_client_tokens, summary="The AI clients that have a token"),
    Operation("POST", "/mcp/client-tokens", AccessApi.create_client_token, status=201, wrap="token", needs_trust=always),
    Operation("DELETE", "/mcp/client-tokens/{name}", AccessApi.remove_client_token, summary="Ends an AI client's token", status=204),
    Operation("POST", "/mcp/client-tokens/{name}/restore", AccessApi.restore_client_token, status=204),
    Operation("GET", "/mcp/profiles", ViewsApi.get_profiles, summary="The named sets of servers and tools"),
    Operation("PUT", "/mcp/profiles/{name}", ViewsApi.set_profile, status=204, whole="profile", needs_trust=shows_more),
    Operation("DELETE", "/mcp/profiles/{name}", ViewsApi.remove_profile, summary="Removes a profile", status=204, needs_trust=always),
)

_PROJECTS = (
    Operation("GET", "/mcp/projects", ProjectsApi.get_allowed_folders),
    Operation("POST", "/mcp/projects", ProjectsApi.allow_folder, status=201, wrap="path"),
    Operation("DELETE", "/mcp/projects", ProjectsApi.disallow_folder, status=204),
    Operation("POST", "/mcp/projects/reset", ProjectsApi.reset_deferred_state, status=204),
    Operation("GET", "/mcp/files", FilesApi.get_server_files),
    Operation("GET", "/mcp/trust", FilesApi.get_trusted_entries),
    Operation("GET", "/mcp/trust/requests", FilesApi.get_trust_requests),
    Operation("POST", "/mcp/trust", FilesApi.trust_entries),
    Operation("DELETE", "/mcp/trust", FilesApi.distrust_entries, status=204),
    Operation("POST", "/mcp/trust/restore", FilesApi.restore_trust),
    Operation("GET", "/mcp/reload", FilesApi.preview_reload, summary="What reading all files again would do"),
    Operation("POST", "/mcp/reload", FilesApi.reload),
)

_SETUP = (
    Operation("GET", "/mcp/setup", SetupApi.export_setup),
    Operation("POST", "/mcp/setup", SetupApi.import_setup, whole="setup", needs_trust=always),
    Operation(
        "POST",
        "/mcp/setup/preview",
        SetupApi.preview_import,
        summary="What taking over this backup would do",
        scope="read",
        whole="setup",
    ),
    Operation("GET", "/mcp/setup/reset", SetupApi.preview_reset, summary="What putting the default servers back would do"),
    Operation("POST", "/mcp/setup/reset", SetupApi.reset_to_default_servers, needs_trust=always),
    Operation("GET", "/mcp/registries", RegistriesApi.get_npm_registry_status, summary="Where npm packages of servers come from"),
    Operation("POST", "/mcp/registries/refresh", RegistriesApi.refresh_npm_registry),
    Operation("POST", "/mcp/registries/test", RegistriesApi.test_npm_registry),
    Operation("PUT", "/mcp/registries/custom", RegistriesApi.set_custom_npm_registry, needs_trust=always),
    Operation("PUT", "/mcp/registries/auto-detect", RegistriesApi.set_auto_detect_npm_registry, needs_trust=switches_on),
    Operation("DELETE", "/mcp/registries/cache", RegistriesApi.clear_npm_registry_cache, status=204),
)

_AI_CLIENTS = (
    Operation(
        "GET",
        "/mcp/ai-clients",
        AiClientsApi.scan_ai_clients,
        summary="The AI clients on this computer, the servers in their files, and whether they use Tooltray",
    ),
    Operation("GET", "/mcp/ai-clients/connect", AiClientsApi.preview_connect),
    Operation("GET", "/mcp/ai-clients/disconnect", AiClientsApi.preview_disconnect),
    Operation("GET", "/mcp/ai-clients/changes", AiClientsApi.get_client_changes, page_key=_id),
    Operation("POST", "/mcp/ai-clients/changes", AiClientsApi.apply_client_edits),
    Operation("POST", "/mcp/ai-clients/changes/{id}/undo", AiClientsApi.undo_client_change),
    Operation(
        "POST",
        "/mcp/ai-clients/import/preview",
        AiClientsApi.preview_client_import,
        scope="read",
        asks=Asks.preview_import,
        max_body_bytes=MAX_IMPORT_BYTES,
    ),
    Operation("POST", "/mcp/ai-clients/import", AiClientsApi.import_servers, asks=Asks.import_servers, max_body_bytes=MAX_IMPORT_BYTES),
    Operation("POST", "/mcp/ai-clients/import/cancel", AiClientsApi.cancel_import, status=204),
    Operation("POST", "/mcp/ai-clients/import/put-back", AiClientsApi.put_back_moved_servers),
)

_BUNDLES = (
    Operation("GET", "/mcp/bundles", BundlesApi.get_bundles),
    Operation("POST", "/mcp/bundles", BundlesApi.install_bundle, status=201, wrap="installed", needs_trust=always),
    Operation("POST", "/mcp/bundles/read", BundlesApi.read_bundle, needs_trust=always),
    Operation("POST", "/mcp/bundles/preview", BundlesApi.preview_bundle, needs_trust=always),
    Operation("DELETE", "/mcp/bundles/{server}", BundlesApi.remove_bundle, status=204),
)

OPERATIONS = (*_HUB, *_SECRETS, *_QUESTIONS, *_CLIENTS, *_AI_CLIENTS, *_BUNDLES, *_PROJECTS, *_SETUP)
