"""Verbs of a FakePresenter that change what it knows, and what it publishes thereupon; under the real ones' names."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict, replace
from tests.fakes.hub_in_memory import HubInMemory
from tests.fakes.server_snapshots import STARTED_AT, server

from tooltray.config.settings.given_entries import check_entry
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ElicitationEnded, ServerFilesChanged, ServerRemoved, ToolListChanged
from tooltray.foundation.files.json_text import check_revision, revision_of
from tooltray.foundation.snapshots.approvals import GrantSnapshot, RulePreview, ToolPermission
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.foundation.snapshots.entries import ServerTest, ServerUpdatePreview
from tooltray.foundation.snapshots.hub import ProgramSnapshot
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.foundation.snapshots.servers import ServerEntry, ServerState
from tooltray.foundation.snapshots.setup import ReloadChange, SecretSnapshot, ServerRemoval, SettingsDocument, StoredSecrets
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.sources.entries.server_entries import entry_diff

SECRET = re.compile(r"\$\{secret:([^{}]+)\}")


class VerbsInMemory(HubInMemory):
    def set_mcp_enabled(self, enabled: bool, for_s: float | None = None) -> None:
        until = STARTED_AT + for_s if for_s is not None else 0.0
        self.snapshot = replace(self.snapshot, is_paused=not enabled, paused_until=until)
        self._publish_config()

    def set_start_at_login(self, enabled: bool) -> ProgramSnapshot:
        self.program = replace(self.program, starts_at_login=enabled)
        return self.program

    def get_settings(self) -> SettingsDocument:
        return SettingsDocument(dict(self.settings), str(self.settings))

    def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
        _merge(self.settings, changes)
        self._publish_config()
        return self.get_settings()

    def get_server_entry(self, name: str) -> ServerEntry:
        entry = self.entries.get(name, {})
        return ServerEntry(self.names_in_files.get(name, name), dict(entry), {**entry, **self.chosen.get(name, {})})

    def add_mcp_server(
        self,
        name: str,
        config: Mapping[str, Any],
        is_default: bool = True,
        project: str = "",
        secrets: Mapping[str, str] = {},
        access: str | None = None,
    ) -> str:
        self.entries[name] = dict(config)
        if is_default:
            self.defaults.append(name)
        self.tell(server(name, ServerState.STARTING if is_default else ServerState.ON_DEMAND, is_default=is_default))
        self._publish_config()
        return name

    def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "", secrets: Mapping[str, str] = {}) -> None:
        check_revision(revision_of(self.entries.get(name, {})), revision)
        self.change_entry(name, config)
        self.tell(replace(self.find(name), is_disabled=bool(config.get("disable"))))
        self._publish_config()

    def change_entry(self, name: str, config: Mapping[str, Any]) -> None:
        """Somebody writes an entry, whoever that is."""
        self.entries[name] = dict(config)
        shown = {key: config.get(key, "") for key in ("label", "color")}
        self.tell(replace(self.find(name), revision=revision_of(config), projects=tuple(config.get("projects", ())), **shown))

    def preview_server_update(self, name: str, config: Mapping[str, Any]) -> ServerUpdatePreview:
        there, file = self.entries.get(name, {}), self.find(name).file or "/home/me/.tooltray/settings.json"
        return ServerUpdatePreview(file, entry_diff(name, there, config), True, revision_of(there), None, tuple(check_entry(config)))

    def duplicate_mcp_server(self, name: str, new_name: str) -> str:
        return self.add_mcp_server(new_name, self.entries[name], is_default=False)

    def rename_mcp_server(self, name: str, new_name: str) -> None:
        """The old name goes before the new one is there."""
        renamed = replace(self.find(name), name=new_name)
        self.entries[new_name] = self.entries[name]
        self.remove_mcp_server(name, keep_secrets=True)
        self.tell(renamed)

    async def test_server(self, test: str, name: str, config: Mapping[str, Any] | None = None) -> ServerTest:
        """Ends as `server_tests` has it, by the server's name; without that it goes on until it is cancelled."""
        ended = self.running_tests[test] = asyncio.Event()
        if name not in self.server_tests:
            await ended.wait()
        del self.running_tests[test]
        return self.server_tests.get(name, ServerTest(name, False, problem=Problem("The test was stopped")))

    def cancel_server_test(self, test: str) -> None:
        if test in self.running_tests:
            self.running_tests[test].set()

    def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        removal = self.removal(name)
        del self.entries[name]
        self.defaults = [each for each in self.defaults if each != name]
        self.snapshot = replace(self.snapshot, servers=tuple(each for each in self.snapshot.servers if each.name != name))
        self.bus.publish(ServerRemoved(name))
        self._publish_config()
        if not keep_secrets:
            self.secrets = {secret: value for secret, value in self.secrets.items() if secret not in removal.secrets}
        return removal

    def start_server(self, name: str) -> None:
        self.set_state(name, ServerState.RUNNING, problem=None)

    def stop_server(self, name: str) -> None:
        self.set_state(name, ServerState.STOPPED, problem=None)

    def restart_server(self, name: str) -> None:
        self.set_state(name, ServerState.RUNNING, problem=None)

    def add_mcp_default_server(self, name: str) -> None:
        self.defaults.append(name)
        self.tell(replace(self.find(name), is_default=True))

    def remove_mcp_default_server(self, name: str) -> None:
        self.defaults.remove(name)
        self.tell(replace(self.find(name), is_default=False))

    def toggle_mcp_default_server(self, name: str) -> bool:
        is_default = name not in self.defaults
        (self.add_mcp_default_server(name) if is_default else self.remove_mcp_default_server(name))
        return is_default

    def is_server_running(self, name: str) -> bool:
        return self.find(name).state is ServerState.RUNNING

    def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        self.tools = [
            replace(each, is_enabled=enabled) if (each.server, each.original_name) == (server, tool) else each for each in self.tools
        ]
        self.bus.publish(ToolListChanged(server))

    def set_secret(self, name: str, value: str) -> None:
        self.secrets[name] = value

    def remove_secret(self, name: str) -> None:
        self.removed_secrets[name] = self.secrets.pop(name)

    def restore_secret(self, name: str) -> None:
        self.secrets[name] = self.removed_secrets.pop(name)

    def get_secrets(self) -> StoredSecrets:
        users: dict[str, set[str]] = {name: set() for name in self.secrets}
        for server_name, entry in self.entries.items():
            for name in SECRET.findall(str(entry)):
                users.setdefault(name, set()).add(server_name)
        is_known = self.stored_secrets.problem is None
        found = [SecretSnapshot(name, name in self.secrets if is_known else None, tuple(sorted(of))) for name, of in sorted(users.items())]
        return replace(self.stored_secrets, secrets=(*found, *self.stored_secrets.secrets))

    def set_secret_backend(self, kind: str) -> None:
        self.stored_secrets = StoredSecrets(kind, secrets=self.stored_secrets.secrets)

    def get_unused_secrets(self) -> list[str]:
        return [secret for secret in sorted(self.secrets) if secret.partition("/")[0] not in self.entries]

    def remove_unused_secrets(self, names: list[str]) -> list[str]:
        removed = [secret for secret in self.get_unused_secrets() if secret in names]
        self.secrets = {secret: value for secret, value in self.secrets.items() if secret not in removed}
        return removed

    def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        self.bus.publish(ElicitationEnded(id))

    def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        self.http = HttpStatus(enabled, enabled, f"http://127.0.0.1:{port or 7717}/mcp" if enabled else "")
        return self.http

    def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return [ClientTokenSnapshot(name, STARTED_AT) for name in sorted(self.client_names)]

    def create_client_token(self, name: str) -> str:
        self.client_names.add(name)
        return f"token of {name}"

    def remove_client_token(self, name: str) -> None:
        self.client_names.remove(name)

    def restore_client_token(self, name: str) -> None:
        self.client_names.add(name)

    def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        is_asked = self.http.is_trust_asked and trusted is None
        url = self.http.url.replace("/mcp", "/api/mcp") if enabled else ""
        self.http = replace(self.http, is_api_enabled=enabled, api_url=url, is_trust_asked=is_asked)
        return self.http

    def create_api_token(self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False) -> NewApiToken:
        ends_at = None if expires_in_s is None else STARTED_AT + expires_in_s
        self.api_tokens[name] = ApiTokenSnapshot(name, scope, STARTED_AT, ends_at, is_trusted=trusted)
        return NewApiToken(f"api token of {name}", name, scope, ends_at, trusted)

    def revoke_api_token(self, name: str) -> None:
        del self.api_tokens[name]

    def rotate_api_token(self) -> str:
        self.api_token += "-new"
        return self.api_token

    def answer_approval(self, id: str, answer: str, arguments: Mapping[str, Any] | None = None) -> None:
        self.end_approval(id)

    def remove_grant(self, id: str) -> None:
        for each in self.grants:
            if each.id == id:
                self.taken_back[id] = each
        self.grants = [each for each in self.grants if each.id != id]

    def restore_grant(self, id: str) -> GrantSnapshot:
        grant = self.taken_back.pop(id)
        self.grants = [grant, *self.grants]
        return grant

    def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        self.permissions = [
            replace(each, rules=tuple(rules), single=tuple(rule for rule in rules if rule not in ("all", "read", "write")))
            if each.server == server
            else each
            for each in self.permissions
        ]

    def set_tool_approval(self, server: str, tool: str, approval: str) -> None:
        def chosen(of: ToolPermission) -> ToolPermission:
            return replace(of, choice=approval, is_free=approval == "always") if of.tool == tool else of

        self.permissions = [
            replace(each, tools=tuple(map(chosen, each.tools))) if each.server == server else each for each in self.permissions
        ]

    def allow_folder(self, path: str) -> str:
        self.allowed_folders = [*self.allowed_folders, path]
        return path

    def disallow_folder(self, path: str) -> None:
        self.allowed_folders = [each for each in self.allowed_folders if each != path]

    def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[CoveredTool]:
        return [
            CoveredTool(**asdict(each), revision="r")
            for each in self.tools
            if each.server == server and (each.original_name == tool if kind == "tool" else each.category == "read")
        ]

    def preview_rule(self, server: str, rule: Mapping[str, Any]) -> RulePreview:
        return self.rule_preview

    def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        self.end_feedback(id)

    def dismiss_feedback(self, id: str) -> None:
        self.end_feedback(id)

    def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        self.trust_requests = [each for each in self.trust_requests if each.project != project or each.entry not in entries]
        self.bus.publish(ServerFilesChanged())
        return list(entries)

    def distrust_entries(self, project: str, entry: str = "") -> None:
        self.trusted = [each for each in self.trusted if each.project != project or entry not in ("", each.entry)]
        self.bus.publish(ServerFilesChanged())

    def reload(self) -> list[ReloadChange]:
        made, self.reload_changes = list(self.reload_changes), []
        self.bus.publish(ServerFilesChanged())
        return made


def _merge(holder: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """JSON Merge Patch."""
    for key, value in changes.items():
        if value is None:
            holder.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(holder.setdefault(key, {}), value)
        else:
            holder[key] = value
