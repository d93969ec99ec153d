"""Joins what each session sees of what servers offer.

Above it: the engine. Below it: Views, Modes, Profiles and what they are made of.
"""

import asyncio

import msgspec

from tooltray.catalogue.known_servers import KnownServers
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.offer_parts import OfferParts
from tooltray.resources import resource
from tooltray.sessions.session_state import SessionStates
from tooltray.upstream.relay import START_WAIT_S
from tooltray.upstream.server_manager import ServerManager
from tooltray.upstream.visibility import Visibility
from tooltray.views.activation import LISTS_WAIT_S, Activation
from tooltray.views.asked_words import read_asked_words
from tooltray.views.client_profiles import read_client_profiles
from tooltray.views.introduction import Introduction
from tooltray.views.known_clients import KnownClients
from tooltray.views.modes import Modes
from tooltray.views.profiles import Profiles
from tooltray.views.session_view import SessionViews
from tooltray.views.view_lists import ViewLists
from tooltray.views.views import ToolCall, Views


class ViewParts(msgspec.Struct, frozen=True, kw_only=True):
    states: SessionStates
    clients: KnownClients
    profiles: Profiles
    modes: Modes
    views: Views
    known: KnownServers
    introduction: Introduction


async def make_view_parts(
    *,
    base: HubBase,
    servers: ServerManager,
    visibility: Visibility,
    offered: OfferParts,
    call: ToolCall,
    start_wait_s: float = START_WAIT_S,
    lists_wait_s: float = LISTS_WAIT_S,
) -> ViewParts:
    """For arguments see Views and Activation."""
    tools, offers = offered.tools, offered.offers
    states = SessionStates(bus=base.bus, deadlines=base.deadlines)
    clients = KnownClients(config=base.config, profiles=await asyncio.to_thread(read_client_profiles, resource("client-profiles.json")))
    profiles = Profiles(config=base.config, clients=clients, tools=tools, visibility=visibility)
    modes = Modes(
        config=base.config,
        states=states,
        clients=clients,
        profiles=profiles,
        tools=tools,
        visibility=visibility,
        bus=base.bus,
    )
    known = await asyncio.to_thread(KnownServers, resource("known-servers.json"))
    lists = ViewLists(
        config=base.config,
        servers=servers,
        tools=tools,
        offers=offers,
        profiles=profiles,
        names=offered.names,
        known=known,
        asked=await asyncio.to_thread(read_asked_words, resource("search-words.json")),
    )
    activation = Activation(
        servers=servers,
        tools=tools,
        offers=offers,
        prompts=offered.prompts,
        resources=offered.resources,
        lists=lists,
        is_paused=lambda: not base.config.settings.mcp_enabled,
        start_wait_s=start_wait_s,
        lists_wait_s=lists_wait_s,
    )
    seen = SessionViews(config=base.config, servers=servers, tools=tools, modes=modes, profiles=profiles, visibility=visibility)
    views = Views(
        servers=servers,
        tools=tools,
        profiles=profiles,
        states=states,
        views=seen,
        lists=lists,
        activation=activation,
        call=call,
        bus=base.bus,
    )
    introduction = Introduction(servers=servers, tools=tools, profiles=profiles, views=seen, lists=lists, said=offered.instructions)
    return ViewParts(states=states, clients=clients, profiles=profiles, modes=modes, views=views, known=known, introduction=introduction)
