"""The HTTP endpoints for AI clients and other programs: open, closed or moved as the settings require, while the hub runs.

http_app and the REST interface are imported when the first address opens. An address that cannot be opened becomes a problem shown to the
user; the hub and its other clients continue. The REST interface is at the same address; switching it on or off does not affect AI clients.
"""

import asyncio
import errno
import importlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.http_server.guard import Guard, is_loopback
from tooltray.carriers.http_server.place import HostAndPort, HttpPlace, NotBound
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import ApiSettings, HttpSettings
from tooltray.consent.tokens.api_tokens import ApiTokens, TrustedTokens
from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, HttpAddressChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.records.audit_trail import AuditTrail

if TYPE_CHECKING:
    from tooltray.carriers.mcp.http_app import HttpApp
    from tooltray.carriers.rest.event_streams import EventStreams
    from tooltray.carriers.rest.rest_api import RestApi

MOVED = "Tooltray's HTTP endpoint was switched off or moved"
TOKEN_GONE = "this client's token was removed or renewed"
HTTP_APP, REST_APP = "tooltray.carriers.mcp.http_app", "tooltray.carriers.rest.rest_api"
API_PATH = "/api/mcp"
END_GRACE_S = 0.5  # for requests in flight, as when the hub ends


class EndpointTokens(msgspec.Struct, frozen=True):
    """The tokens of AI clients, of other programs over REST, and of programs that the user trusts with more.

    Attributes:
        trail: records the decisions of trusted programs.
    """

    clients: ClientTokens
    programs: ApiTokens
    trusted: TrustedTokens
    trail: AuditTrail


class HttpListener:
    """The HTTP address of the hub. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        tokens: EndpointTokens,
        sessions: Sessions,
        presenter: McpPresenter,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
    ) -> None:
        self._config, self._tokens = config, tokens
        self._sessions, self._presenter = sessions, presenter
        self._bus, self._deadlines, self._spawn = bus, deadlines, spawn
        self._place: HttpPlace[HttpSettings, HttpApp] = HttpPlace(
            address=_address, make_app=self._make_app, cannot_open=_cannot_open, on_leaving=self._leave, bus=bus
        )
        self._api: RestApi | None = None
        self._events: EventStreams | None = None
        bus.subscribe(ConfigChanged, self._on_config_changed)

    @property
    def status(self) -> HttpStatus:
        settings = self._config.settings.publish.http
        base = self._place.base_url
        return HttpStatus(
            is_enabled=settings.enabled,
            is_open=self._place.app is not None,
            url=f"{base}/mcp" if base else "",
            requires_token=settings.require_token,
            problem=self._place.problem,
            is_api_enabled=settings.api.enabled,
            api_url=base + API_PATH if base and settings.api.enabled else "",
            is_api_trusted=self._tokens.programs.has_trusted,
            is_trust_asked=settings.api.trusted,
        )

    @property
    def address(self) -> str | None:
        """The URL of the address without a path; None if it is not open."""
        return self._place.base_url or None

    async def follow(self, *, is_retry: bool = False) -> None:
        """Applies the settings completely, even if the caller is cancelled, as when it is connected to the closing address.

        Args:
            is_retry: also tries what has just failed; another program may have freed the port.
        """
        await asyncio.shield(self._spawn(self._do_follow(is_retry), name="http endpoints"))

    async def _do_follow(self, is_retry: bool) -> None:
        async with self._place.lock:
            wanted = self._wanted
            if not self._place.is_as(wanted, is_retry=is_retry):
                await self._place.move(wanted)
                self._bus.publish(HttpAddressChanged())

    async def forget_client(self, name: str) -> None:
        """Ends the requests and sessions of a client with an invalidated token."""
        if self._place.app:
            await self._place.app.endpoints.end_of(name, TOKEN_GONE, grace_s=0)

    def forget_programs(self) -> None:
        """Ends programs' open requests with the previous token of the REST interface."""
        if self._events:
            self._events.end_streams()

    async def stop_taking(self) -> None:
        """Accepts no new clients; open connections continue."""
        await self._place.stop_taking()

    async def close(self) -> None:
        """Closes the address in bounded time; may be called twice."""
        await self._place.close()
        if self._events:
            self._events.end()

    @property
    def _wanted(self) -> HttpSettings | None:
        """The address in the settings; None if nothing is to be open."""
        settings = self._config.settings.publish.http
        return settings.model_copy(update={"api": ApiSettings()}) if settings.enabled else None

    def _on_config_changed(self, event: ConfigChanged) -> None:
        if self._place.is_closed:
            return
        self._follow_api()
        if not self._place.is_as(self._wanted):
            self._spawn(self._do_follow(is_retry=False), name="http endpoints")

    def _follow_api(self) -> None:
        if not self._events:
            return
        if self._config.settings.publish.http.api.enabled:
            self._events.begin()
        else:
            self._events.end()

    async def _leave(self, app: "HttpApp") -> None:
        """Ends open requests and sessions, and accepts no new ones."""
        self.forget_programs()
        await app.endpoints.end_of(None, MOVED, grace_s=END_GRACE_S)

    async def _make_app(self, settings: HttpSettings, port: int) -> "HttpApp":
        for name in (HTTP_APP, REST_APP):
            await asyncio.to_thread(importlib.import_module, name)  # the import would block the loop
        from tooltray.carriers.mcp.http_app import HttpApp, McpEndpoints
        from tooltray.carriers.mcp.http_sessions import HttpSessions

        servers = self._presenter.session_servers
        return HttpApp(
            guard=Guard(host=settings.host, port=port, requires_token=settings.require_token, owner_of=self._tokens.clients.owner),
            has_server=servers.has_server,
            endpoints=McpEndpoints(
                self._sessions,
                HttpSessions(self._sessions, deadlines=self._deadlines),
                deadlines=self._deadlines,
                spawn=self._spawn,
                tool_schema=servers.tool_schema,
            ),
            note_refusal=self._sessions.note_refusal,
            api=self._rest().answer,
        )

    def _rest(self) -> "RestApi":
        """Returns the REST interface, one for all addresses, so that a reader of events finds them at the next address."""
        from tooltray.carriers.rest.event_streams import EventStreams
        from tooltray.carriers.rest.responses import Deliveries
        from tooltray.carriers.rest.rest_api import ProgramAsker, RestApi

        if not self._api:
            self._events = EventStreams(self._bus)
            self._follow_api()
            self._api = RestApi(
                presenter=self._presenter,
                config=self._config,
                tokens=self._tokens.programs,
                asker_of=partial(ProgramAsker, trust=self._tokens.trusted, trail=self._tokens.trail),
                deliveries=Deliveries(self._deadlines.unsent),
                events=self._events.answer,
                spawn=self._spawn,
            )
        return self._api


def _address(settings: HttpSettings) -> HostAndPort:
    """
    Raises:
        TooltrayError: the address would be open to everyone without a token.
    """
    if not settings.require_token and not is_loopback(settings.host):
        title = Phrase("the HTTP endpoint is not opened")
        message = Phrase("without a token, anyone who reaches {host} could use it", host=settings.host)
        raise TooltrayError(title, message, Phrase("Set requireToken to true, or host to 127.0.0.1."))
    return settings.host, settings.port


def _cannot_open(settings: HttpSettings, failed: NotBound) -> TooltrayError:
    hint = Phrase("Until this is fixed, AI clients cannot connect over HTTP. Bridges still work.")
    if failed.number == errno.EADDRINUSE:
        hint = Phrase("Choose another port with `tooltray http on --port N`, or end the other program. {others}", others=hint)
    if failed.number == errno.EACCES:
        hint = Phrase("Choose a port from 1024 on with `tooltray http on --port N`. {others}", others=hint)
    return TooltrayError(Phrase("the HTTP endpoint is not open"), failed.reason, hint)
