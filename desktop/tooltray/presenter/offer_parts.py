"""Joins what servers offer, tools, prompts and resources, and the ways to them.

Above it: the engine. Below it: ToolManager, Offers and what they are made of. Knows no session.
"""

import msgspec

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.first_listings import FirstListings, FirstPatience
from tooltray.catalogue.names import PublishedNames
from tooltray.catalogue.offer import KINDS, TOOLS
from tooltray.catalogue.offers import Offers, read_offered
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.second_looks import LookPatience, SecondLooks
from tooltray.catalogue.server_instructions import ServerInstructions
from tooltray.catalogue.server_lists import EMPTY_CONFIRMED_AFTER_S, ServerLists
from tooltray.catalogue.tool_copies import ToolCopies, read_tools
from tooltray.catalogue.tool_manager import PRESENT_FOR_S, ToolManager
from tooltray.presenter.hub_base import HubBase
from tooltray.upstream.log_levels import LogLevels
from tooltray.upstream.relay import START_WAIT_S, ServerRelay
from tooltray.upstream.server_manager import ServerManager


class OfferParts(msgspec.Struct, frozen=True, kw_only=True):
    log_levels: LogLevels
    relay: ServerRelay
    names: PublishedNames
    offers: Offers
    looks: SecondLooks
    tools: ToolManager
    instructions: ServerInstructions
    prompts: PromptManager
    resources: ResourceManager

    async def load(self) -> None:
        """Reads what was known of the servers when the last hub ended."""
        await self.tools.load()
        await self.offers.load()
        await self.instructions.load()


def make_offer_parts(
    *,
    base: HubBase,
    servers: ServerManager,
    catalogues: CatalogueStore,
    names: PublishedNames,
    start_wait_s: float = START_WAIT_S,
    confirmed_within_s: float = START_WAIT_S,
    present_for_s: float = PRESENT_FOR_S,
    first_patience: FirstPatience | None = None,
    look_patience: LookPatience | None = None,
    empty_confirmed_after_s: float = EMPTY_CONFIRMED_AFTER_S,
) -> OfferParts:
    """
    Args:
        start_wait_s: see ServerRelay.
        confirmed_within_s, present_for_s: see ToolManager.
        first_patience: how long AI clients wait for first lists; None stands for the usual limits.
        look_patience: how often servers are listed again for names that nobody knows; None stands for the usual limits.
        empty_confirmed_after_s: see ServerLists.
    """
    first, patience = FirstListings(first_patience or FirstPatience()), look_patience or LookPatience()
    tool_lists = ServerLists(
        (TOOLS,),
        read=read_tools,
        servers=servers,
        catalogues=catalogues,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        first=first,
        empty_confirmed_after_s=empty_confirmed_after_s,
    )
    other_lists = ServerLists(
        KINDS,
        read=read_offered,
        servers=servers,
        catalogues=catalogues,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        first=first,
        empty_confirmed_after_s=empty_confirmed_after_s,
    )
    log_levels = LogLevels(bus=base.bus, spawn=base.spawn, serves=servers.serves)
    relay = ServerRelay(is_paused=lambda: not base.config.settings.mcp_enabled, log_levels=log_levels, start_wait_s=start_wait_s)
    offers = Offers(lists=other_lists, servers=servers, bus=base.bus)
    looks = SecondLooks(servers=servers, lists=other_lists, patience=patience, spawn=base.spawn)
    tools = ToolManager(
        servers=servers,
        lists=tool_lists,
        offers=offers,
        names=names,
        copies=ToolCopies(servers=servers),
        looks=SecondLooks(servers=servers, lists=tool_lists, patience=patience, spawn=base.spawn),
        bus=base.bus,
        confirmed_within_s=confirmed_within_s,
        present_for_s=present_for_s,
    )
    return OfferParts(
        log_levels=log_levels,
        relay=relay,
        names=names,
        offers=offers,
        looks=looks,
        tools=tools,
        instructions=ServerInstructions(
            servers=servers, catalogues=catalogues, mask=base.mask.masked_whole, bus=base.bus, spawn=base.spawn
        ),
        prompts=PromptManager(servers=servers, offers=offers, names=names, looks=looks, relay=relay, bus=base.bus),
        resources=ResourceManager(servers=servers, offers=offers, looks=looks, relay=relay),
    )
