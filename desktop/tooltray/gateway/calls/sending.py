"""The last stages of a tool call: its server gets it under the server's own name, and the reply comes back."""

from collections.abc import Coroutine
from functools import partial

from msgspec.structs import replace

from tooltray.catalogue.linking_relay import LinkingRelay
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.gateway.calls.tool_resolver import ToolResolver
from tooltray.gateway.server_tasks.server_tasks import ServerTasks
from tooltray.protocol import eras
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import HEADER_MISMATCH, Era
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.server_manager import ServerManager


class Relisting:
    """A stage without a state of its own: a call whose headers its server refuses is repeated with the headers of the server's new list.

    A server that refuses headers has not carried out the call. A call that the user has allowed is not repeated.
    """

    def __init__(self, *, resolver: ToolResolver) -> None:
        self._resolver = resolver

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._sent, terms, rest(terms), rest) if terms.is_free else rest(terms)

    async def _sent(self, terms: Terms, then: Work, rest: Rest, exchange: Exchange) -> Envelope:
        reply = await then(exchange)
        if not reply.error or eras.error_code(reply.error) != HEADER_MISMATCH:
            return reply
        anew = await self._resolver.after_mismatch(terms.route, exchange)
        return await rest(replace(terms, route=anew))(exchange) if anew else reply


class Addressing:
    """A stage without a state of its own: the call gets the server's own name for the tool."""

    def bind(self, terms: Terms, rest: Rest) -> Work:
        definition, wraps_content = terms.route.definition, None
        if (output := definition.output) and terms.era is Era.LEGACY and (output.schema or not terms.is_alone):
            wraps_content = output.is_wrapped
        return partial(_addressed, definition.name, wraps_content, rest(terms))


def _addressed(own_name: str, wraps_content: bool | None, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
    request = exchange.request
    if exchange.head.name != own_name or eras.may_repeat_name(request.params):
        request.params = eras.named_once(request.params, "name", name=dump(own_name))
    if wraps_content is not None:
        exchange.wraps_content = wraps_content
    return then(exchange)


class NotingTasks:
    """A stage without a state of its own: a task with which a server answers is recorded before the client gets the answer."""

    def __init__(self, *, server_tasks: ServerTasks) -> None:
        self._tasks = server_tasks

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._noted, terms.route.server, terms.route.definition.name, rest(terms)) if terms.may_be_task else rest(terms)

    def _noted(self, server: str, tool: str, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        return self._tasks.noted(server, tool, exchange, then(exchange))


class Sending:
    """The last stage, without a state of its own. Where no other server has resources, the URIs in replies are not looked at."""

    def __init__(self, *, servers: ServerManager, relay: ServerRelay, linking_relay: LinkingRelay, resources: ResourceManager) -> None:
        self._servers, self._relay, self._linking_relay, self._resources = servers, relay, linking_relay, resources

    def bind(self, terms: Terms, rest: Rest) -> Work:
        server = terms.route.server
        has_links = not terms.is_alone and self._resources.may_replace_uris(server)
        return partial((self._linking_relay if has_links else self._relay).send_with_retry, self._servers.get(server))
