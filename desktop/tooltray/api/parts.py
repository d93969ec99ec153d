"""The API of a hub: every verb that a window, a command or a program may call, by the part that has it.

The verbs themselves are the public coroutine functions of one class for each part, in the `api` modules of the rooms. Here stand which
parts there are, and what carries calls to them from elsewhere. At the bottom, so that the GUI thread and clients of the control channel
can name the parts without an import of the engine: the classes are imported for the type checker alone.
"""

import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tooltray.foundation.remote import RemotePart, Verb

if TYPE_CHECKING:
    from tooltray.api.presenter.hub_api import HubApi
    from tooltray.api.presenter.program_api import ProgramApi
    from tooltray.catalogue.formats.api import FormatsApi
    from tooltray.catalogue.views.api import ViewsApi
    from tooltray.consent.api import ConfirmationsApi
    from tooltray.consent.approvals.api import ApprovalsApi
    from tooltray.consent.skills.api import SkillsApi
    from tooltray.consent.tokens.api import AccessApi
    from tooltray.gateway.calls.api import PromptsApi, QuestionsApi, ResourcesApi, ToolsApi
    from tooltray.gateway.calls.tries import TriesApi
    from tooltray.gateway.feedback.api import FeedbackApi
    from tooltray.gateway.server_tasks.api import ServerTasksApi
    from tooltray.records.audit.api import AuditApi
    from tooltray.records.journal.api import ActivityApi
    from tooltray.servers.confinement.api import ConfinementApi
    from tooltray.servers.logs.api import LogsApi
    from tooltray.servers.npm_mirrors.api import RegistriesApi
    from tooltray.servers.sign_ins.api import SignInsApi
    from tooltray.sources.bundles.api import BundlesApi
    from tooltray.sources.clients.api import AiClientsApi
    from tooltray.sources.discovery.api import DiscoveryApi
    from tooltray.sources.entries.api import ServersApi
    from tooltray.sources.entries.files_api import FilesApi
    from tooltray.sources.entries.secrets_api import SecretsApi
    from tooltray.sources.entries.settings_api import SettingsApi
    from tooltray.sources.entries.setup_api import SetupApi
    from tooltray.sources.projects.api import ProjectsApi


@dataclass(kw_only=True, eq=False, repr=False)
class Api:
    """The parts: of the engine itself, or proxies that carry each call to it. The names of verbs are unique over all parts."""

    hub: "HubApi"
    servers: "ServersApi"
    confinement: "ConfinementApi"
    logs: "LogsApi"
    tools: "ToolsApi"
    tries: "TriesApi"
    prompts: "PromptsApi"
    resources: "ResourcesApi"
    skills: "SkillsApi"
    formats: "FormatsApi"
    secrets: "SecretsApi"
    access: "AccessApi"
    ai_clients: "AiClientsApi"
    questions: "QuestionsApi"
    approvals: "ApprovalsApi"
    views: "ViewsApi"
    projects: "ProjectsApi"
    feedback: "FeedbackApi"
    files: "FilesApi"
    sign_ins: "SignInsApi"
    registries: "RegistriesApi"
    bundles: "BundlesApi"
    discovery: "DiscoveryApi"
    setup: "SetupApi"
    settings: "SettingsApi"
    activity: "ActivityApi"
    server_tasks: "ServerTasksApi"
    confirmations: "ConfirmationsApi"
    audit: "AuditApi"
    program: "ProgramApi"


PARTS = tuple(field.name for field in fields(Api))


def verbs_of(part: type) -> list[str]:
    """The names of the verbs of a part's class."""
    return [name for name in dir(part) if not name.startswith("_") and inspect.iscoroutinefunction(getattr(part, name))]


def verb_table(api: Api) -> dict[str, Verb]:
    """All verbs by name, for callers that have nothing but the name: the control channel, and the seed's own calls."""
    parts = (getattr(api, name) for name in PARTS)
    return {verb: getattr(part, verb) for part in parts for verb in verbs_of(type(part))}


def remote_parts(carry: Verb) -> dict[str, Any]:
    """The parts of an `Api` that is elsewhere, by name; typed as the real ones by the `Api` that is made of them."""
    return dict.fromkeys(PARTS, RemotePart(carry))
