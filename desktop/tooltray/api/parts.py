"""The API of a hub: every verb that a window, a command or a program may call, grouped in parts.

The verbs are the public coroutine functions of one class for each part, in the `api` modules of the packages below. The classes are named
by module and imported only on demand, so that the GUI thread and control clients can name the parts without importing the engine.
"""

import importlib
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from tooltray.foundation.programs import resource
from tooltray.foundation.verbs import RemotePart, Verb

if TYPE_CHECKING:
    import tooltray.api.presenter.hub_api
    import tooltray.api.presenter.program_api
    import tooltray.catalogue.formats.api
    import tooltray.catalogue.views.api
    import tooltray.consent.api
    import tooltray.consent.approvals.api
    import tooltray.consent.skills.api
    import tooltray.consent.tokens.api
    import tooltray.gateway.calls.api
    import tooltray.gateway.calls.own_calls
    import tooltray.gateway.feedback.feedbacks
    import tooltray.gateway.server_tasks.task_book
    import tooltray.records.audit_trail
    import tooltray.records.journal.api
    import tooltray.servers.confinement.api
    import tooltray.servers.logs.api
    import tooltray.servers.npm_mirrors.npm_registries
    import tooltray.servers.sign_ins.sign_ins
    import tooltray.sources.bundles.api
    import tooltray.sources.clients.api
    import tooltray.sources.discovery.api
    import tooltray.sources.entries.api
    import tooltray.sources.entries.settings_api
    import tooltray.sources.projects.api
    import tooltray.sources.releases.api


class Api:
    """The parts of the API: the engine's own, or proxies that carry each call to the engine. Names of verbs are unique over all parts."""

    hub: "tooltray.api.presenter.hub_api.HubApi"
    servers: "tooltray.sources.entries.api.ServersApi"
    confinement: "tooltray.servers.confinement.api.ConfinementApi"
    logs: "tooltray.servers.logs.api.LogsApi"
    tools: "tooltray.gateway.calls.api.ToolsApi"
    tries: "tooltray.gateway.calls.own_calls.TriesApi"
    prompts: "tooltray.gateway.calls.api.PromptsApi"
    resources: "tooltray.gateway.calls.api.ResourcesApi"
    skills: "tooltray.consent.skills.api.SkillsApi"
    formats: "tooltray.catalogue.formats.api.FormatsApi"
    secrets: "tooltray.sources.entries.settings_api.SecretsApi"
    access: "tooltray.consent.tokens.api.AccessApi"
    ai_clients: "tooltray.sources.clients.api.AiClientsApi"
    questions: "tooltray.gateway.calls.api.QuestionsApi"
    approvals: "tooltray.consent.approvals.api.ApprovalsApi"
    views: "tooltray.catalogue.views.api.ViewsApi"
    lookup: "tooltray.catalogue.views.api.LookupApi"
    projects: "tooltray.sources.projects.api.ProjectsApi"
    feedback: "tooltray.gateway.feedback.feedbacks.FeedbackApi"
    files: "tooltray.sources.entries.settings_api.FilesApi"
    sign_ins: "tooltray.servers.sign_ins.sign_ins.SignInsApi"
    registries: "tooltray.servers.npm_mirrors.npm_registries.RegistriesApi"
    bundles: "tooltray.sources.bundles.api.BundlesApi"
    discovery: "tooltray.sources.discovery.api.DiscoveryApi"
    setup: "tooltray.sources.entries.settings_api.SetupApi"
    settings: "tooltray.sources.entries.settings_api.SettingsApi"
    activity: "tooltray.records.journal.api.ActivityApi"
    server_tasks: "tooltray.gateway.server_tasks.task_book.ServerTasksApi"
    confirmations: "tooltray.consent.api.ConfirmationsApi"
    audit: "tooltray.records.audit_trail.AuditApi"
    program: "tooltray.api.presenter.program_api.ProgramApi"
    releases: "tooltray.sources.releases.api.ReleasesApi"

    def __init__(self, **parts: Any) -> None:
        """Takes all of PARTS."""
        vars(self).update(parts)


PARTS = tuple(Api.__annotations__)


def part_classes() -> dict[str, type]:
    """Returns the class of each part by its name; imports the engine."""
    found: dict[str, type] = {}
    for part, kind in Api.__annotations__.items():
        module, _, name = kind.rpartition(".")
        found[part] = getattr(importlib.import_module(module), name)
    return found


def verbs_of(part: type) -> list[str]:
    """Returns the names of the verbs of a part's class."""
    return [name for name in dir(part) if not name.startswith("_") and inspect.iscoroutinefunction(getattr(part, name))]


class VerbTable(dict[str, Verb]):
    """All verbs by name, for callers that have only the name: the window, the control channel, and the seed's own calls.

    A verb is found at its first use, when its part is made: `resources/verbs.json` has the part's name.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def __missing__(self, name: str) -> Verb:
        verb: Verb = getattr(getattr(self._api, _part_of_each_verb()[name].part), name)
        self[name] = verb
        return verb

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a verb, or `default` if none has this name."""
        try:
            return self[name]
        except KeyError:
            return default


class _Place(msgspec.Struct, frozen=True):
    part: str


@cache
def _part_of_each_verb() -> dict[str, _Place]:
    return msgspec.json.decode(resource("verbs.json").read_bytes(), type=dict[str, _Place])


def remote_parts(carry: Verb) -> dict[str, Any]:
    """Returns proxies for the parts of an `Api` that is elsewhere, by name; the `Api` made from the proxies gives them the real types."""
    return dict.fromkeys(PARTS, RemotePart(carry))
