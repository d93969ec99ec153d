"""A presenter without an engine: the API's verbs over snapshots in memory, and its bus.

Tests set what it knows, look at `calls` to see what was asked of it, and let a verb fail with `failures`. A verb that changes what others
give back is a method (see VerbsInMemory, and fakes made of this one); all others are noted and answered from ANSWERS.
"""

import inspect
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from tests.fakes.log_pages import page_of
from tests.fakes.server_snapshots import STARTED_AT
from tests.fakes.verb_table import VERBS
from tests.fakes.verbs_in_memory import VerbsInMemory

from tooltray.foundation.snapshots.activity import ActivityChoices
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport, WatchSnapshot
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, RegistryMeasurement
from tooltray.foundation.snapshots.questions import SignInSnapshot

ANSWERS: dict[str, Callable[..., Any]] = {
    "get_snapshot": lambda hub: hub.snapshot,
    "get_mcp_enabled": lambda hub: not hub.snapshot.is_paused,
    "diagnose": lambda hub, **_: list(hub.diagnoses),
    "get_confinement_support": lambda hub: ConfinementSupport(files=True, network=True, hosts=True),
    "get_watch": lambda hub, server: getattr(hub, "watch", None) or WatchSnapshot(server),
    "watch_server": lambda hub, server, **_: WatchSnapshot(server, "watching", 300.0),
    "stop_watching": lambda hub, server: WatchSnapshot(server, "done"),
    "get_environment": lambda hub: EnvironmentSnapshot((), ()),
    "get_program": lambda hub: hub.program,
    "check_for_release": lambda hub: hub.snapshot.release,
    "get_calls_now": lambda hub: list(hub.calls_now),
    "get_activity": lambda hub, limit, **_: list(hub.activity)[:limit],
    "get_load": lambda hub: hub.load,
    "get_licences": lambda hub: "MIT License",
    "get_diagnostics": lambda hub: "Tooltray 0.1.0\n\nserver git: running\n",
    "get_mcp_servers": lambda hub: {name: dict(entry) for name, entry in hub.entries.items()},
    "get_log": lambda hub, source, **page: page_of(hub.logs.get(source.removeprefix("server:"), []), **page),
    "get_mcp_default_servers": lambda hub: list(hub.defaults),
    "get_tools": lambda hub, server: [each for each in hub.tools if server in (None, each.server)],
    "get_all_tool_definitions": lambda hub, server: [{"name": each.name} for each in hub.tools if server in (None, each.server)],
    "call_tool": lambda hub, **_: {"content": []},
    "get_secret_names": lambda hub: sorted(hub.secrets),
    "preview_removal": lambda hub, name: hub.removal(name),
    "check_secrets": lambda hub: "keyring",
    "get_http_status": lambda hub: hub.http,
    "get_api_token": lambda hub: hub.api_token,
    "list_api_tokens": lambda hub: list(hub.api_tokens.values()),
    **dict.fromkeys(("get_all_prompts", "get_all_resources", "get_all_resource_templates", "get_skills"), lambda hub, server: []),
    "get_activity_choices": lambda hub: ActivityChoices(),
    "get_journal_status": lambda hub: hub.journal_status,
    "set_confinement": lambda hub, files, network, **_: ConfinementSnapshot(files, network),
    "get_approvals": lambda hub: list(hub.approvals),
    "get_approval_diff": lambda hub, id: hub.disk_diffs.get(id, ()),
    "get_approval_form": lambda hub, id: hub.approval_form,
    "keep_approval_open": lambda hub, id: hub.latest_end,
    "preview_approval": lambda hub, id, arguments: hub.changed_call,
    "get_audit": lambda hub, **_: list(hub.decisions),
    "verify_audit": lambda hub: hub.audit_check,
    "get_grants": lambda hub: list(hub.grants),
    "add_grant": lambda hub, server, kind, tool, client, **_: GrantSnapshot("g", kind, server, tool, client),
    "get_permissions": lambda hub, server: [each for each in hub.permissions if server in ("", each.server)],
    "get_tool_changes": lambda hub: list(hub.tool_changes),
    "get_sessions": lambda hub: list(hub.sessions),
    "get_client_modes": lambda hub: list(hub.client_modes),
    "get_profiles": lambda hub: list(hub.profiles),
    "get_tool_costs": lambda hub, client, session: hub.cost_of.get(session or client, hub.costs),
    "get_allowed_folders": lambda hub: list(hub.allowed_folders),
    "get_feedback_requests": lambda hub: list(hub.feedback),
    "get_feedback_history": lambda hub, **_: list(hub.feedback_history),
    "get_ready_answers": lambda hub: list(hub.ready_answers),
    "get_server_files": lambda hub: list(hub.files),
    "get_trust_requests": lambda hub, project: [each for each in hub.trust_requests if project in ("", each.project)],
    "get_trusted_entries": lambda hub: list(hub.trusted),
    "preview_reload": lambda hub: list(hub.reload_changes),
    "begin_sign_in": lambda hub, name: SignInSnapshot(name, f"https://sign.in.example/{name}", STARTED_AT + 600),
    "get_npm_registry_status": lambda hub: hub.registry,
    "refresh_npm_registry": lambda hub: hub.registry,
    "test_npm_registry": lambda hub, url: RegistryMeasurement(url, url, "custom", milliseconds=10.0),
    "set_custom_npm_registry": lambda hub, **_: hub.registry,
    "set_auto_detect_npm_registry": lambda hub, **_: hub.registry,
    "apply_remedy": lambda hub, **_: "done",
    "export_setup": lambda hub: {},
    "preview_import": lambda hub, **_: list(hub.setup_changes),
    "import_setup": lambda hub, **_: list(hub.setup_changes),
    "preview_reset": lambda hub: list(hub.setup_changes),
    "reset_to_default_servers": lambda hub: list(hub.setup_changes),
    "scan_ai_clients": lambda hub, **_: hub.client_scan,
    "preview_connect": lambda hub, clients: [each for each in hub.client_edits if each.client in clients],
    "preview_disconnect": lambda hub, clients: [each for each in hub.client_edits if each.client in clients],
    "apply_client_edits": lambda hub, **_: list(hub.client_changes),
    "undo_client_change": lambda hub, id: next(each for each in hub.client_changes if each.id == id),
    "get_client_changes": lambda hub: list(hub.client_changes),
    "preview_client_import": lambda hub, **_: hub.import_plan,
    "import_servers": lambda hub, **_: list(hub.imported),
    "search_registry": lambda hub, limit, **_: hub.registry_search(limit),
    "get_registry_server": lambda hub, name, **_: hub.registry_servers[name],
    "preview_registry_server": lambda hub, **_: hub.new_server,
    "add_registry_server": lambda hub, server, **_: server,
    "refresh_registry": lambda hub: hub.registry_status,
    "get_registry_updates": lambda hub: list(hub.registry_updates),
    "get_starter_servers": lambda hub: list(hub.starters),
    "preview_starter_server": lambda hub, **_: hub.new_server,
    "add_starter_server": lambda hub, server, **_: server,
    "read_bundle": lambda hub, **_: hub.bundle,
    "preview_bundle": lambda hub, **_: hub.new_server,
    "install_bundle": lambda hub, server, **_: server,
    "get_client_links": lambda hub, **_: dict(hub.client_links),
    "get_inmemory_servers": lambda hub: list(hub.inmemory_servers),
}
UNNOTED = {  # what no test is about
    "get_snapshot",
    "get_watch",
    "get_mcp_enabled",
    "get_http_status",
    "get_log",
    "get_mcp_default_servers",
    "get_program",
    "list_api_tokens",
    "list_client_tokens",
    "toggle_mcp_default_server",
}
UNNOTED_ARGUMENTS = {
    ("set_secret", "value"),
    ("add_mcp_server", "secrets"),
    ("update_mcp_server", "secrets"),
    ("diagnose", "wait_s"),
    ("remove_mcp_server", "keep_secrets"),
    ("call_tool", "project"),
}
NOTED_IF_GIVEN = {
    ("add_mcp_server", "project"),
    *((verb, "access") for verb in ("add_mcp_server", "add_registry_server", "add_starter_server", "install_bundle")),
    ("update_mcp_server", "revision"),
    ("remove_mcp_server", "revision"),
    ("get_tool_costs", "session"),
    ("answer_approval", "arguments"),
    ("set_mcp_enabled", "for_s"),
}


class FakePresenter(VerbsInMemory):
    """Belongs to one event loop, as the real one does. `calls`: (verb, *arguments) in the order of the real one's, defaults among them."""

    @cached_property
    def verbs(self) -> dict[str, Callable[..., Any]]:
        return {verb: partial(self._do, verb) for verb in VERBS}

    async def _do(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(VERBS[verb]).bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(list(bound.arguments.items())[1:])
        if verb not in UNNOTED:
            self.calls.append((verb, *(value for name, value in arguments.items() if _is_noted(verb, name, value))))
        if verb in self.failures:
            raise self.failures[verb]
        if verb in ("add_mcp_server", "update_mcp_server"):
            for name, value in arguments["secrets"].items():
                await self._do("set_secret", name, value)
        answer = getattr(self, verb, None) or partial(ANSWERS.get(verb, _nothing), self)
        given = answer(**arguments)
        return await given if inspect.isawaitable(given) else given


def _nothing(hub: object, **_: object) -> None: ...


def _is_noted(verb: str, name: str, value: object) -> bool:
    return (verb, name) not in UNNOTED_ARGUMENTS and (bool(value) or (verb, name) not in NOTED_IF_GIVEN)
