"""Joins the façade over all parts, and what follows from a change of the settings.

Above it: the engine. Below it: McpPresenter and what it is made of.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.http_access import HttpAccess, HttpDoor
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.activity.call_stats import CallStats
from tooltray.activity.recent_calls import RecentCalls
from tooltray.calls.elicitations import Elicitations
from tooltray.catalogue import tokens as model_tokens
from tooltray.doctor.doctor import Doctor
from tooltray.doctor.remedies import Remedies
from tooltray.entries.proposal_store import ProposalStore
from tooltray.entries.proposals import Proposals
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.entries.setup import Setup, shipped_servers
from tooltray.formats.tool_formats import ToolFormats
from tooltray.launch.found_elsewhere import COMMON
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.live_settings import LiveSettings
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.notices import Notices
from tooltray.presenter.offer_parts import OfferParts
from tooltray.presenter.request_parts import RequestParts
from tooltray.presenter.server_news import STATS_TOLD_AFTER_S, ServerNews
from tooltray.presenter.server_parts import ServerParts
from tooltray.presenter.server_snapshots import ServerSnapshots
from tooltray.presenter.view_parts import ViewParts
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.server_files.server_files import ServerFiles
from tooltray.views.tool_costs import Count, ToolCosting


@dataclass(frozen=True, kw_only=True)
class PresenterParts:
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
    presenter = McpPresenter(
        pid=pid,
        config=base.config,
        secrets=base.secrets,
        servers=servers,
        tools=offered.tools,
        calls=requests.calls,
        prompts=offered.prompts,
        resources=offered.resources,
        router=requests.router,
        introduction=viewed.introduction,
        doctor=Doctor(secrets=base.secrets, login_shell=base.login_shell, remedies=remedies, folder=base.user_folder),
        snapshots=snapshots,
        notices=notices,
        http=http,
        elicitations=elicitations,
        formats=ToolFormats(servers=servers, tools=offered.tools),
        registries=registries,
        sign_ins=started.sign_ins,
        setup=Setup(config=base.config, secrets=base.secrets, shipped=shipped),
        remedies=remedies,
        modes=viewed.modes,
        profiles=viewed.profiles,
        costs=ToolCosting(tools=offered.tools, listing=viewed.views.at_start, sees=started.visibility.sees, count=count),
        projects=requests.projects,
        approvals=requests.approvals,
        feedbacks=requests.feedbacks,
        files=files,
        proposals=proposals,
        server_secrets=server_secrets,
        recent=RecentCalls(bus=base.bus),
        environment=base.environment,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
    )
    live_settings = LiveSettings(config=base.config, names=offered.names, hub=presenter, spawn=base.spawn, bus=base.bus)
    return PresenterParts(
        remedies=remedies, snapshots=snapshots, news=news, notices=notices, presenter=presenter, live_settings=live_settings
    )
