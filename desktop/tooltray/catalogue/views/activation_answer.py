"""The answer to the activation of a lazy server, in text for a model."""

from collections.abc import Sequence

from msgspec import Raw

from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES, TOOLS, OfferKind
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.views.greetings import ServerInstructions, shortened
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meta_tools import counted
from tooltray.catalogue.views.modes import own_copy
from tooltray.catalogue.views.signatures import first_sentence, signature
from tooltray.catalogue.views.views import ViewLists
from tooltray.protocol.envelope import load
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

NOTE_OF_PASSING = "This connection has no client token and so no session: these are not listed. Call them by name, or with call_tool."
LONGEST_ADDRESS = 200  # characters of a URI
SAID_BYTES = 2048  # of a server's own instructions, about 500 tokens
MOST_LINES = 100  # of each kind in the answer to an activation; a model finds the rest

_WORDS = {TOOLS: "tool", PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "template"}
_ADDRESSES = {PROMPTS: "name", RESOURCES: "uri", TEMPLATES: "uriTemplate"}


class ActivationAnswer:
    """The answer to an activation: everything that its server offers to the session, a line for each. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        offers: Offers,
        prompts: PromptManager,
        resources: ResourceManager,
        lists: ViewLists,
        clients: KnownClients,
        said: ServerInstructions,
    ) -> None:
        self._servers, self._offers, self._prompts, self._resources = servers, offers, prompts, resources
        self._lists, self._clients, self._said = lists, clients, said

    async def of(self, server: str, exchange: Exchange) -> str:
        state = exchange.session.state
        copy = own_copy(self._servers, state.server, exchange.era, exchange.session)
        entries = await self._lists.for_models(state, client=copy, terms=self._clients.list_terms(state), server=server)
        lines: dict[OfferKind, list[str]] = {TOOLS: [signature(entry.definition, name=entry.name) for entry in entries]}
        for kind in KINDS:
            lines[kind] = [_line_of(kind, definition) for definition in await self._definitions(kind, server, state)]
        amounts = [counted(len(lines[kind]), word) for kind, word in _WORDS.items() if lines[kind] or kind is TOOLS]
        shown = [line for of_kind in lines.values() for line in _bounded(of_kind)]
        note = [NOTE_OF_PASSING] if state.is_passing else []
        managed = self._servers.find(server)
        said = shortened(self._said.of(managed), SAID_BYTES) if managed else ""
        own = [f"Instructions of {server}:", *(f"  {line}".rstrip() for line in said.splitlines())] if said else []
        return "\n".join([f"{server} is activated: {', '.join(amounts)}.", *note, *shown, *own])

    async def _definitions(self, kind: OfferKind, server: str, state: SessionState) -> list[Raw]:
        if state.server:
            return [offer.published for offer in self._offers.offered(kind).get(server, ())]
        if kind is PROMPTS:
            return await self._prompts.definitions(server, self._clients.room_of(state))
        return await self._resources.definitions(kind, server)


def _line_of(kind: OfferKind, definition: Raw) -> str:
    members = load(definition)
    address = plain(members.get(_ADDRESSES[kind]), LONGEST_ADDRESS)
    about = first_sentence(members.get("description")) or first_sentence(members.get("title") or members.get("name"))
    return f"{_WORDS[kind]} {address}" + (f" - {about}" if about and about != address else "")


def _bounded(lines: Sequence[str]) -> Sequence[str]:
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"and {more} more"] if more > 0 else lines
