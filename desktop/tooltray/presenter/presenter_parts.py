"""Joins the façade over all parts, and what follows from a change of the settings.

Above it: the engine. Below it: McpPresenter and what it is made of.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from tooltray.access.api import AccessApi
from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.http_access import HttpAccess, HttpDoor
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.activity.call_stats import CallStats
from tooltray.activity.recent_calls import RecentCalls
from tooltray.api import Api
from tooltray.approvals.api import ApprovalsApi
from tooltray.calls.api import ToolsApi
from tooltray.calls.elicitations import Elicitations
from tooltray.calls.own_calls import OwnCalls
from tooltray.calls.prompts_api import PromptsApi
from tooltray.calls.questions_api import QuestionsApi
from tooltray.calls.resources_api import ResourcesApi
from tooltray.catalogue import tokens as model_tokens
from tooltray.catalogue.connections import Connections
from tooltray.doctor.check_up import CheckUp
from tooltray.doctor.doctor import Doctor
from tooltray.doctor.remedies import Remedies
from tooltray.entries.api import ServersApi
from tooltray.entries.files_api import FilesApi
from tooltray.entries.proposal_store import ProposalStore
from tooltray.entries.proposals import Proposals
from tooltray.entries.secrets_api import SecretsApi
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.entries.server_starts import ServerStarts
from tooltray.entries.settings_api import SettingsApi
from tooltray.entries.setup import Setup, shipped_servers
from tooltray.entries.setup_api import SetupApi
from tooltray.feedback.api import FeedbackApi
from tooltray.formats.api import FormatsApi
from tooltray.formats.tool_formats import ToolFormats
from tooltray.launch.found_elsewhere import COMMON
from tooltray.presenter.hub_api import HubApi
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.hub_snapshots import HubSnapshots
from tooltray.presenter.live_settings import LiveSettings
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.notices import Notices
from tooltray.presenter.offer_parts import OfferParts
from tooltray.presenter.request_parts import RequestParts
from tooltray.presenter.server_news import STATS_TOLD_AFTER_S, ServerNews
from tooltray.presenter.server_parts import ServerParts
from tooltray.presenter.server_snapshots import ServerSnapshots
from tooltray.presenter.view_parts import ViewParts
from tooltray.projects.api import ProjectsApi
from tooltray.registries.api import RegistriesApi
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.own_caller import OwnCaller
from tooltray.sign_ins.api import SignInsApi
from tooltray.upstream.held_calls import HeldCalls
from tooltray.views.api import ViewsApi
from tooltray.views.tool_costs import Count, ToolCosting


class PresenterParts(msgspec.Struct, frozen=True, kw_only=True):
    remedies: Remedies
    snapshots: ServerSnapshots
    news: ServerNews
    notices: Notices
    presenter: McpPresenter
    live_settings: LiveSettings


def make_presenter_parts(
    *,
    pid: int,
    base: HubBase,
    started: ServerParts,
    offered: OfferParts,
    viewed: ViewParts,
    requests: RequestParts,
    files: ServerFiles,
    registries: NpmRegistries,
    elicitations: Elicitations,
    tokens: ClientTokens,
    api_tokens: ApiTokens,
    trusted: TrustedTokens,
    proposed: ProposalStore,
    door: Callable[[], HttpDoor],
    stats: CallStats,
    shipped: Callable[[], dict[str, Any]] = shipped_servers,
    common_folders: tuple[str, ...] = COMMON,
    count: Count = model_tokens.counted,
    stats_told_after_s: float = STATS_TOLD_AFTER_S,
) -> PresenterParts:
    """
    Args:
        door: see HttpAccess.
        proposed: see Proposals.
        shipped: see Setup.
        common_folders: see Remedies.
        count: see ToolCosting.
        stats_told_after_s: see ServerNews.
    """
    servers = started.servers
    remedies = Remedies(
        config=base.config,
        secrets=base.secrets,
        servers=servers,
        registries=registries,
        known=viewed.known,
        home=base.user_folder,
        common=common_folders,
    )
    snapshots = ServerSnapshots(
        config=base.config,
        servers=servers,
        tools=offered.tools,
        projects=requests.projects,
        sign_ins=started.sign_ins,
        stats=stats,
        waits=lambda name: proposals.waits(name),
    )
    server_secrets = ServerSecrets(
        config=base.config,
        secrets=base.secrets,
        sign_ins=started.sign_ins,
        projects=files.project_servers,
        served=lambda: [reading.path for reading in files.served()],
        lost=files.lost_projects,
        proposed=lambda: proposals.entries,
    )
    proposals = Proposals(
        config=base.config,
        store=proposed,
        secrets=base.secrets,
        files=files,
        remove_unused=server_secrets.remove_unused,
        environ=base.login_shell.environ,
        home=base.user_folder,
        bus=base.bus,
        snapshot=lambda name: snapshots.of(server) if (server := servers.find(name)) else None,
    )
    news = ServerNews(servers=servers, snapshots=snapshots, bus=base.bus, stats_told_after_s=stats_told_after_s)
    http = HttpAccess(config=base.config, tokens=tokens, api_tokens=api_tokens, trusted=trusted, door=door)
    notices = Notices(
        config=base.config,
        http=http,
        registries=registries,
        tools=offered.tools,
        profiles=viewed.profiles,
        sign_ins=started.sign_ins,
        approvals=requests.approvals,
        projects=requests.projects,
        files=files,
        login_shell=base.login_shell,
    )
    notices.add(lambda: started.stops.problems)
    notices.add(lambda: [problem for problem in (proposals.problem,) if problem])
    starts = ServerStarts(
        config=base.config,
        secrets=base.secrets,
        servers=servers,
        tools=offered.tools,
        registries=registries,
        sign_ins=started.sign_ins,
    )
    hub_snapshots = HubSnapshots(
        pid=pid, config=base.config, servers=servers, snapshots=snapshots, proposals=proposals, notices=notices, bus=base.bus
    )
    doctor = Doctor(secrets=base.secrets, login_shell=base.login_shell, remedies=remedies, folder=base.user_folder)
    caller, held = OwnCaller(), HeldCalls(deadlines=base.deadlines, spawn=base.spawn)
    api = Api(
        hub=HubApi(
            config=base.config,
            starts=starts,
            snapshots=hub_snapshots,
            check_up=CheckUp(servers=servers, tools=offered.tools, projects=requests.projects, doctor=doctor),
            recent=RecentCalls(bus=base.bus),
            environment=base.environment,
        ),
        servers=ServersApi(
            config=base.config,
            files=files,
            proposals=proposals,
            server_secrets=server_secrets,
            servers=servers,
            tools=offered.tools,
            connections=Connections(servers=servers, tools=offered.tools, prompts=offered.prompts, resources=offered.resources),
        ),
        tools=ToolsApi(
            config=base.config,
            servers=servers,
            tools=offered.tools,
            prompts=offered.prompts,
            approvals=requests.approvals,
            proposals=proposals,
            calls=OwnCalls(tools=offered.tools, calls=requests.calls, projects=requests.projects, files=files, caller=caller, held=held),
        ),
        prompts=PromptsApi(servers=servers, prompts=offered.prompts, caller=caller, held=held),
        resources=ResourcesApi(servers=servers, resources=offered.resources, caller=caller, held=held),
        formats=FormatsApi(formats=ToolFormats(servers=servers, tools=offered.tools)),
        secrets=SecretsApi(config=base.config, secrets=base.secrets, server_secrets=server_secrets, starts=starts),
        access=AccessApi(http=http),
        questions=QuestionsApi(elicitations=elicitations),
        approvals=ApprovalsApi(config=base.config, approvals=requests.approvals),
        views=ViewsApi(
            config=base.config,
            modes=viewed.modes,
            profiles=viewed.profiles,
            costs=ToolCosting(tools=offered.tools, listing=viewed.views.at_start, sees=started.visibility.sees, count=count),
        ),
        projects=ProjectsApi(projects=requests.projects),
        feedback=FeedbackApi(feedbacks=requests.feedbacks),
        files=FilesApi(files=files, proposals=proposals),
        sign_ins=SignInsApi(sign_ins=started.sign_ins),
        registries=RegistriesApi(registries=registries),
        setup=SetupApi(setup=Setup(config=base.config, secrets=base.secrets, shipped=shipped), remedies=remedies, starts=starts),
        settings=SettingsApi(config=base.config),
    )
    presenter = McpPresenter(
        api,
        servers=servers,
        tools=offered.tools,
        resources=offered.resources,
        router=requests.router,
        introduction=viewed.introduction,
        modes=viewed.modes,
        profiles=viewed.profiles,
        projects=requests.projects,
        files=files,
        snapshots=hub_snapshots,
    )
    live_settings = LiveSettings(config=base.config, names=offered.names, hub=starts, spawn=base.spawn, bus=base.bus)
    return PresenterParts(
        remedies=remedies, snapshots=snapshots, news=news, notices=notices, presenter=presenter, live_settings=live_settings
    )
