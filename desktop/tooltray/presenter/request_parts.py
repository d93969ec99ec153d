"""Joins what becomes of a request: asked about, answered by a server or by a person, and what servers say besides.

Above it: the engine. Below it: RequestRouter, ToolCalls and what they are made of.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from tooltray.activity.call_stats import CallStats
from tooltray.approvals.approvals import Approvals
from tooltray.approvals.grant_book import GrantBook
from tooltray.approvals.grants import GrantStore
from tooltray.builtin import hub_server
from tooltray.calls.completion import Completion
from tooltray.calls.request_router import RequestRouter
from tooltray.calls.subscriptions import Subscriptions
from tooltray.calls.tool_call import OwnTool, ToolCalls
from tooltray.feedback.feedback_history import FeedbackHistory
from tooltray.feedback.feedback_tool import FeedbackTool
from tooltray.feedback.feedbacks import Feedbacks
from tooltray.feedback.ready_answers import ReadyAnswers
from tooltray.moments import SteadyWallClock
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.offer_parts import OfferParts
from tooltray.presenter.view_parts import ViewParts
from tooltray.projects.projects import Projects
from tooltray.sessions.caller import Session
from tooltray.upstream.server_listen import ServerListens
from tooltray.upstream.server_manager import ServerManager


class RequestParts(msgspec.Struct, frozen=True, kw_only=True):
    approvals: Approvals
    projects: Projects
    feedbacks: Feedbacks
    feedback_tool: FeedbackTool
    calls: ToolCalls
    listens: ServerListens
    subscriptions: Subscriptions
    completion: Completion
    router: RequestRouter


async def make_request_parts(
    *,
    base: HubBase,
    servers: ServerManager,
    offered: OfferParts,
    viewed: ViewParts,
    is_of_file: Callable[[str], bool],
    look_at_project: Callable[[Session], Awaitable[None]],
    own_tools: Mapping[tuple[str, str], OwnTool],
    shipped_answers: tuple[str, ...],
    stats: CallStats,
) -> RequestParts:
    """
    Args:
        is_of_file: see GrantBook.
        look_at_project: see ToolCalls and RequestRouter.
        own_tools: what answers the hub's own tools besides the reports, see ToolCalls.
        shipped_answers: see ReadyAnswers.
    """
    approvals = Approvals(
        servers=servers,
        tools=offered.tools,
        modes=viewed.modes,
        states=viewed.states,
        grants=GrantBook(
            store=await asyncio.to_thread(GrantStore, base.home.grants),
            states=viewed.states,
            tools=offered.tools,
            bus=base.bus,
            spawn=base.spawn,
            is_of_file=is_of_file,
            now=SteadyWallClock(),
        ),
        has_window=base.has_window,
        masked=base.mask.masked_whole,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
    )
    projects = Projects(
        config=base.config,
        servers=servers,
        states=viewed.states,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        home=str(base.user_folder),
        includes=viewed.profiles.includes,
    )
    feedbacks = Feedbacks(
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        history=FeedbackHistory(base.home.feedback),
        ready=ReadyAnswers(config=base.config, shipped=shipped_answers),
        mask=base.mask.masked_whole,
        has_window=base.has_window,
    )
    feedback_tool = FeedbackTool(feedbacks=feedbacks, projects=projects, tools=offered.tools, spawn=base.spawn, offers=viewed.views.offers)
    calls = ToolCalls(
        servers=servers,
        tools=offered.tools,
        views=viewed.views,
        approvals=approvals,
        relay=offered.relay,
        own={(hub_server.NAME, hub_server.COLLECT_FEEDBACK): feedback_tool, **own_tools},
        look_at_project=look_at_project,
        config=base.config,
        stats=stats,
        bus=base.bus,
    )
    listens = ServerListens(spawn=base.spawn, bus=base.bus)
    subscriptions = Subscriptions(servers=servers, listens=listens, spawn=base.spawn, bus=base.bus)
    completion = Completion(servers=servers, prompts=offered.prompts, resources=offered.resources, relay=offered.relay)
    router = RequestRouter(
        servers=servers,
        calls=calls,
        views=viewed.views,
        projects=projects,
        prompts=offered.prompts,
        resources=offered.resources,
        completion=completion,
        subscriptions=subscriptions,
        log_levels=offered.log_levels,
        relay=offered.relay,
        look_at_project=look_at_project,
    )
    parts = RequestParts(
        approvals=approvals,
        projects=projects,
        feedbacks=feedbacks,
        feedback_tool=feedback_tool,
        calls=calls,
        listens=listens,
        subscriptions=subscriptions,
        completion=completion,
        router=router,
    )
    servers.keep_while(subscriptions.is_wanted)
    return parts
