"""Scripted servers that offer prompts and resources, and the parts of a hub that list and relay them."""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, hub_parts, opened
from tests.fakes.scripted_server import Copy, Handler, ScriptedServer, error

from tooltray.catalogue.offer import KINDS, OfferKind
from tooltray.foundation.events import PromptListChanged, ResourceListChanged
from tooltray.protocol.envelope import Envelope, dump


class OfferingServer(ScriptedServer):
    """Lists what is in its attributes, which a test may change; None: it declares no such thing.

    Prompts answer with their name and arguments, resources with their URI.
    """

    def __init__(
        self,
        *,
        prompts: list[Any] | None = None,
        resources: list[Any] | None = None,
        templates: list[Any] | None = None,
        eras: tuple[str, ...] = ("legacy",),
    ) -> None:
        super().__init__(eras=eras)
        self.prompts, self.resources, self.templates = prompts, resources, templates
        self.handlers = {
            "initialize": self._greeting("initialize"),
            "server/discover": self._greeting("server/discover"),
            "prompts/list": lambda copy, params: {"prompts": self.prompts},
            "resources/list": lambda copy, params: {"resources": self.resources or []},
            "resources/templates/list": lambda copy, params: {"resourceTemplates": self.templates or []},
            "prompts/get": lambda copy, params: {"messages": [], "description": json.dumps([params["name"], params.get("arguments")])},
            "resources/read": self._read,
            "completion/complete": lambda copy, params: {"completion": {"values": [json.dumps(params["ref"])]}},
        }

    def _greeting(self, method: str) -> Handler:
        def answer(copy: Copy, params: Any) -> Any:
            reply = copy.usual(method)(copy, params)
            if isinstance(reply, dict):
                reply["capabilities"] = {"tools": {}}
                if self.prompts is not None:
                    reply["capabilities"]["prompts"] = {}
                if self.resources is not None or self.templates is not None:
                    reply["capabilities"]["resources"] = {"listChanged": True}
            return reply

        return answer

    def _read(self, copy: Copy, params: Any) -> Any:
        uri = params["uri"]
        known = [each["uri"] for each in self.resources or []]
        if uri in known or any(uri.startswith(each["uriTemplate"].split("{")[0]) for each in self.templates or []):
            return {"contents": [{"uri": uri, "text": f"{copy.name}: {uri}"}]}
        return error(-32002, f"{copy.name} has no {uri}")


def all_kinds(*, eras: tuple[str, ...] = ("legacy",)) -> OfferingServer:
    """A server with one of each."""
    return OfferingServer(prompts=[prompt("p")], resources=[resource("x://1")], templates=[template("x://{i}")], eras=eras)


def prompt(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, **members}


def resource(uri: str, **members: Any) -> dict[str, Any]:
    return {"uri": uri, "name": "r", **members}


def template(text: str, **members: Any) -> dict[str, Any]:
    return {"uriTemplate": text, "name": "t", **members}


class OfferParts:
    """Parts of a hub, as tests of what servers offer use them."""

    def __init__(self, parts: HubParts) -> None:
        self.parts, self.servers, self.heard = parts, parts.servers, parts.heard
        self.offers, self.prompts, self.resources, self.completion = parts.offers, parts.prompts, parts.resources, parts.completion

    async def start(self, *names: str) -> None:
        """Starts servers and waits until all that they offer is listed."""
        for name in names:
            await self.servers.start(name)
            await self.offers.listed(self.servers.get(name)).wait()

    async def prompt_names(self) -> list[str]:
        return [each["name"] for each in json.loads(bytes(await self.prompts.listing()))["prompts"]]

    async def uris(self) -> list[str]:
        return [each["uri"] for each in json.loads(bytes(await self.resources.listing()))["resources"]]

    async def templates(self) -> list[str]:
        return [each["uriTemplate"] for each in json.loads(bytes(await self.resources.templates()))["resourceTemplates"]]

    async def ask(self, method: str, *, is_modern: bool = False, client: Client | None = None, **params: Any) -> dict[str, Any]:
        """One request of an AI client; the reply as an object with `result` or `error`."""
        if is_modern:
            params["_meta"] = MODERN_META
        return await self.send(Envelope(method=method, params=dump(params)), client)

    async def send(self, request: Envelope, client: Client | None = None) -> dict[str, Any]:
        """The same with params that a test has written itself."""
        client = client or self.parts.client()
        answer = {"prompts/get": self.prompts.get, "resources/read": self.resources.read, "completion/complete": self.completion.complete}
        return opened(await answer[request.method](exchange_of(request, client)))

    async def read(self, uri: str, **options: Any) -> Any:
        """The contents of a resource."""
        return (await self.ask("resources/read", uri=uri, **options))["result"]["contents"]


def keys(parts: OfferParts, kind: OfferKind, server: str = "s") -> list[str]:
    """What a server offers of one kind."""
    return [offer.key for offer in parts.offers.offered(kind)[server]]


def of_all(parts: OfferParts, server: str = "s") -> list[list[str]]:
    """The same of all kinds, in their order."""
    return [keys(parts, kind, server) for kind in KINDS]


def news(parts: OfferParts) -> list[Any]:
    """What was told of changes, in order."""
    return parts.heard.of(PromptListChanged, ResourceListChanged)


@contextlib.asynccontextmanager
async def offer_parts(
    root: Path, programs: Mapping[str, ScriptedServer] | None = None, *, known: Mapping[str, ScriptedServer] | None = None, **options: Any
) -> AsyncIterator[OfferParts]:
    """Parts of a hub in a folder, loaded, with a server for each program; nothing is started.

    Args:
        programs: by the name of the server that runs it.
        known: instead: the servers are those that the folder's settings have already.
        options: further ones of what lists them.
    """
    servers = None if programs is None else {name: entry(name) for name in programs}
    async with hub_parts(root, servers=servers, programs=programs or known, waits=options) as parts:
        yield OfferParts(parts)


@contextlib.asynccontextmanager
async def started_offers(root: Path, programs: Mapping[str, ScriptedServer], **options: Any) -> AsyncIterator[OfferParts]:
    """The same with all servers started, and what they offer listed."""
    async with offer_parts(root, programs, **options) as parts:
        await parts.start(*programs)
        yield parts
