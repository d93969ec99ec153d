"""The HTTP endpoints for AI clients and other programs: open, closed or moved as the settings say, while the hub runs.

Above it: the engine, and McpPresenter, which tells how it is. Below it: http_app and the REST interface, imported when the first address
opens. What cannot be opened is a problem that a person is told of; the hub and its other clients go on. The REST interface is at the
same address; to switch it on or off touches neither that nor an AI client.
"""

import asyncio
import errno
import importlib
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tooltray.config.api_token import ApiToken
from tooltray.config.client_tokens import ClientTokens
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.settings import ApiSettings, HttpSettings
from tooltray.errors import Problem, TooltrayError
from tooltray.events import ConfigChanged, EventBus, ProblemReported
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.publish.http_guard import Guard, is_everywhere, is_loopback
from tooltray.publish.http_sessions import HttpSessions, OpensClients
from tooltray.snapshots import HttpStatus
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import DeadlineWheel

if TYPE_CHECKING:
    from tooltray.publish.http_app import HttpApp
    from tooltray.publish.rest.app import RestApi
    from tooltray.publish.rest.events import EventStreams

MOVED = "Tooltray's HTTP endpoint was switched off or moved"
TOKEN_GONE = "this client's token was removed or renewed"
HTTP_APP, REST_APP = "tooltray.publish.http_app", "tooltray.publish.rest.app"
API_PATH = "/api/mcp"
END_GRACE_S = 0.5  # for requests in flight, as when the hub ends


@dataclass(frozen=True)
class _Open:
    settings: HttpSettings
    app: "HttpApp"
    port: int

    @property
    def base_url(self) -> str:
        return base_url(self.settings.host, self.port)


class HttpListener:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        tokens: ClientTokens,
        api_token: ApiToken,
        sessions: OpensClients,
        presenter: McpPresenter,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        on_changed: Callable[[], None],
    ) -> None:
        """
        Args:
            on_changed: the address is another one now, or none.
        """
        self._config, self._tokens, self._api_token = config, tokens, api_token
        self._sessions, self._presenter = sessions, presenter
        self._bus, self._deadlines, self._spawn, self._on_changed = bus, deadlines, spawn, on_changed
        self._lock = asyncio.Lock()
        self._held: dict[str, HeldCalls] = {}
        self._api: RestApi | None = None
        self._events: EventStreams | None = None
        self._open: _Open | None = None
        self._tried: HttpSettings | None = None
        self._problem: Problem | None = None
        self._is_closed = False
        bus.subscribe(ConfigChanged, self._on_config_changed)

    @property
    def status(self) -> HttpStatus:
        settings = self._config.settings.publish.http
        base = self._open.base_url if self._open else ""
        return HttpStatus(
            is_enabled=settings.enabled,
            is_open=self._open is not None,
            url=f"{base}/mcp" if base else "",
            requires_token=settings.require_token,
            problem=self._problem,
            is_api_enabled=settings.api.enabled,
            api_url=base + API_PATH if base and settings.api.enabled else "",
            is_api_trusted=settings.api.trusted,
        )

    @property
    def address(self) -> str | None:
        """Where it is open, without a path; None if it is not."""
        return self._open.base_url if self._open else None

    async def follow(self, *, is_retry: bool = False) -> None:
        """Does what the settings say now, to the end: also when who waits for it goes, who may be connected to the address that closes.

        Args:
            is_retry: also tries what has just failed; another program may have freed the port.
        """
        await asyncio.shield(self._spawn(self._do_follow(is_retry), name="http endpoints"))

    async def _do_follow(self, is_retry: bool) -> None:
        async with self._lock:
            wanted = self._wanted
            is_done = wanted == self._tried and not (is_retry and self._problem)
            if is_done or self._is_closed or (self._tried is None and not wanted.enabled):
                return
            self._tried, self._problem = wanted, None
            await self._shut()
            if wanted.enabled:
                await self._try_to_open(wanted)
            self._on_changed()

    async def forget_client(self, name: str) -> None:
        """Its token is worth nothing any more: ends what it has open."""
        if held := self._held.pop(name, None):
            held.close()
        if self._open:
            await self._open.app.end_of(name, TOKEN_GONE, grace_s=0)

    def forget_programs(self) -> None:
        """The REST interface has another token: ends what is open with that of before."""
        if self._events:
            self._events.end_streams()

    async def stop_taking(self) -> None:
        """Takes no new clients; what is open goes on."""
        if self._open:
            await self._open.app.stop_taking()

    async def close(self) -> None:
        """Bounded; may be called twice."""
        self._is_closed = True
        async with self._lock:
            if self._events:
                self._events.end()
            await self._shut()

    @property
    def _wanted(self) -> HttpSettings:
        """What the settings say of the address."""
        return self._config.settings.publish.http.model_copy(update={"api": ApiSettings()})

    def _on_config_changed(self, event: ConfigChanged) -> None:
        if self._is_closed:
            return
        self._follow_api()
        if self._wanted != self._tried:
            self._spawn(self._do_follow(is_retry=False), name="http endpoints")

    def _follow_api(self) -> None:
        if not self._events:
            return
        if self._config.settings.publish.http.api.enabled:
            self._events.begin()
        else:
            self._events.end()

    async def _shut(self) -> None:
        before, self._open = self._open, None
        if before:
            await before.app.stop_taking()
            self.forget_programs()
            await before.app.end_of(None, MOVED, grace_s=END_GRACE_S)
            await before.app.close()
        held, self._held = self._held, {}
        for each in held.values():
            each.close()

    async def _try_to_open(self, settings: HttpSettings) -> None:
        try:
            _check_is_safe(settings)
            place = await asyncio.to_thread(_bind, settings.host, settings.port)
        except TooltrayError as error:
            self._problem = error.problem
            self._bus.publish(ProblemReported(error.problem))
            return
        try:
            self._open = await self._serve(settings, place)
        except BaseException:
            place.close()
            raise

    async def _serve(self, settings: HttpSettings, place: socket.socket) -> _Open:
        for name in (HTTP_APP, REST_APP):
            await asyncio.to_thread(importlib.import_module, name)  # the loop would stand still for as long as that takes
        from tooltray.publish.http_app import HttpApp
        from tooltray.publish.http_modern import ModernHttp
        from tooltray.publish.http_sse import SseHttp
        from tooltray.publish.streamable_http import StreamableHttp

        port = place.getsockname()[1]
        app = HttpApp(
            guard=Guard(host=settings.host, port=port, requires_token=settings.require_token, owner_of=self._tokens.owner),
            has_server=self._presenter.has_server,
            streamable=StreamableHttp(HttpSessions(self._sessions, deadlines=self._deadlines)),
            modern=ModernHttp(self._sessions, held_calls_of=self._held_calls_of, tool_schema=self._presenter.tool_schema),
            sse=SseHttp(self._sessions),
            api=self._rest().answer,
        )
        await app.open(place)
        return _Open(settings, app, port)

    def _rest(self) -> "RestApi":
        """The REST interface, one for all addresses: who reads its events finds them at the next one."""
        from tooltray.publish.rest.app import RestApi
        from tooltray.publish.rest.events import EventStreams

        if not self._api:
            self._events = EventStreams(self._bus)
            self._follow_api()
            self._api = RestApi(
                presenter=self._presenter, config=self._config, token=self._api_token, events=self._events.answer, spawn=self._spawn
            )
        return self._api

    def _held_calls_of(self, owner: str) -> HeldCalls:
        if owner not in self._held:
            self._held[owner] = HeldCalls(deadlines=self._deadlines, spawn=self._spawn)
        return self._held[owner]


def base_url(host: str, port: int) -> str:
    """Where a client of this machine finds what is open on `host`."""
    name = "localhost" if is_everywhere(host) else host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _check_is_safe(settings: HttpSettings) -> None:
    if not settings.require_token and not is_loopback(settings.host):
        hint = "Set requireToken to true, or host to 127.0.0.1."
        raise TooltrayError("the HTTP endpoint is not opened", f"without a token, everybody who reaches {settings.host} could use it", hint)


def _bind(host: str, port: int) -> socket.socket:
    """Blocks while a name is looked up.

    Raises:
        TooltrayError: it cannot be opened there; says why, and what to do.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        place = socket.create_server(address, family=family, reuse_port=False)
        place.setblocking(False)
        return place
    except (OSError, UnicodeError) as error:
        raise cannot_open(host, port, error) from None


def cannot_open(host: str, port: int, error: Exception) -> TooltrayError:
    """Why an address could not be opened, in words, and what to do."""
    number = getattr(error, "errno", None)
    hint = "AI clients cannot connect over HTTP until this is put right; bridges are not concerned."
    if number == errno.EADDRINUSE:
        hint = f"Choose another port with `tooltray http on --port N`, or end the other program. {hint}"
        return TooltrayError("the HTTP endpoint is not open", f"another program has port {port} of {host}", hint)
    if number == errno.EACCES:
        hint = f"Choose a port from 1024 on with `tooltray http on --port N`. {hint}"
        return TooltrayError("the HTTP endpoint is not open", f"this user may not open port {port}", hint)
    return TooltrayError("the HTTP endpoint is not open", f"{host}, port {port}: {getattr(error, 'strerror', None) or error}", hint)
