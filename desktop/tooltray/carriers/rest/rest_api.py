"""The handler of the REST interface: authenticates a request, finds its operation, runs it and builds the response."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from urllib.parse import urlencode

from aiohttp import web

from tooltray import __version__
from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.http_server.guard import EVENTS_TYPE, JSON_TYPE, Guard, Refused
from tooltray.carriers.rest import requests
from tooltray.carriers.rest.operation import Call, Operation, encoded, in_json
from tooltray.carriers.rest.operations import EVENTS_PATH, INDEX_PATH, OPENAPI_PATH, document, operations_at
from tooltray.carriers.rest.responses import Deliveries, Failed, failed_by, out_of_scope, problem_response
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.tokens.api_tokens import ApiTokens, TokenHolder, TrustedTokens
from tooltray.foundation.confirm_widening import Wish, asked_by, confirm_widening, set_call
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.records.audit_trail import AuditTrail, Decision

logger = logging.getLogger(__name__)
PROGRAM = "program"  # the way in which a trusted program decides
BY_A_PROGRAM = Phrase("Things only a trusted program may do")

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class ProgramAsker:
    """One request of a program. Satisfies Asker; looks up the trust in its token once, when it is first needed."""

    proposes, is_window, way = True, False, PROGRAM

    def __init__(self, holder: TokenHolder, trust: TrustedTokens, trail: AuditTrail) -> None:
        self.holder, self._trust, self._trail = holder, trust, trail
        self._has_confirmed: bool | None = None

    @property
    def name(self) -> str:
        """The name of the program's token."""
        return self.holder.name

    def on_asked(self, seconds: float) -> None:
        pass  # a program waits as long as it likes

    async def has_confirmed(self) -> bool:
        if self._has_confirmed is None:
            self._has_confirmed = self.holder.may_be_trusted and await self._trust.has(self.holder.digest)
        return self._has_confirmed

    async def confirm(self, wish: Wish) -> None:
        if not await self.has_confirmed():
            hint = "Do it in the window or with `tooltray`; a token made with `tooltray http api on --trusted` may do it, too."
            raise Denied("Programs may not do this", Phrase("it would approve something on the user's behalf"), hint)
        if not wish.is_reading:
            await self._trail.record(Decision(wish.what, "yes", PROGRAM, self.name, verb=wish.verb, about=wish.about))

    async def note(self, wish: Wish) -> None:
        await self._trail.note(Decision(wish.what, "narrowed", PROGRAM, self.name, verb=wish.verb, about=wish.about))


Answer = Callable[[web.Request, TokenHolder], Awaitable[web.StreamResponse]]
Events = Callable[[web.Request, Callable[[], bool]], Awaitable[web.StreamResponse]]
"""See EventStreams.answer."""


class RestApi:
    """The REST interface. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        presenter: McpPresenter,
        config: McpConfHelper,
        tokens: ApiTokens,
        asker_of: Callable[[TokenHolder], ProgramAsker],
        deliveries: Deliveries,
        events: Events,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            events: handles `GET /api/events` of an authenticated caller.
            spawn: runs work that continues after its response.
        """
        self._presenter, self._config, self._events, self._spawn = presenter, config, events, spawn
        self._tokens, self._asker_of, self._deliveries = tokens, asker_of, deliveries
        self._changing_entries = asyncio.Lock()
        shown = {INDEX_PATH: self._show_index, OPENAPI_PATH: self._show_openapi, EVENTS_PATH: self._stream_events}
        self._own: dict[tuple[str, ...], Answer] = {requests.segments_below_api(path): answer for path, answer in shown.items()}

    async def answer(self, request: web.Request, guard: Guard) -> web.StreamResponse:
        """Answers a request under `/api`; errors become responses, too.

        Args:
            guard: the guard of the address at which the request arrived.
        """
        try:
            holder = self._authenticate(request, guard)
            with asked_by(self._asker_of(holder)):
                response = await self._answer(request, holder)
            return await self._deliveries.send(request, holder.name, response) if isinstance(response, web.Response) else response
        except Failed as failed:
            return problem_response(failed)
        except TooltrayError as error:
            return problem_response(failed_by(error, had_revision="If-Match" in request.headers))
        except Exception:  # a bug of ours becomes a response, too
            logger.exception("%s %s failed", request.method, request.path)
            return problem_response(Failed(500, "Internal error in Tooltray", "its log has the details"))

    # authentication

    def _authenticate(self, request: web.Request, guard: Guard) -> TokenHolder:
        """Returns the holder of the request's token.

        Raises:
            Failed: the interface is switched off, the request is for another host or from a foreign page, or has no valid token.
        """
        if not self._config.settings.publish.http.api.enabled:
            raise Failed(404, "Nothing found at this path")
        try:
            guard.check(request.headers)
        except Refused as refused:
            raise Failed(refused.status, "This request is not served", str(refused)) from None
        holder = self._holder(request)
        if not self._tokens.is_saved:
            self._spawn(self._save_tokens(), name="close streams of ended tokens")
        if holder is None:
            hint = "`tooltray http api token` shows one; send it as `Authorization: Bearer TOKEN`."
            raise Failed(401, "A token of the REST interface is required", hint=hint, headers={"WWW-Authenticate": "Bearer"})
        guard.welcome(request.transport)
        return holder

    async def _save_tokens(self) -> None:
        try:
            await finish_in_thread(self._tokens.save)
        except TooltrayError as error:
            logger.warning("%s", error)

    def _holder(self, request: web.Request) -> TokenHolder | None:
        given = request.headers.getall("Authorization", [])
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        holder = self._tokens.holder(token.strip())
        return holder if scheme.lower() == "bearer" else None

    # operations

    async def _answer(self, request: web.Request, holder: TokenHolder) -> web.StreamResponse:
        segments = requests.path_segments(request)
        method = "GET" if request.method == "HEAD" else request.method
        own, found = self._own.get(segments), operations_at(segments)
        methods = ["GET"] if own else list(found)
        if not methods:
            raise Failed(404, "Nothing found at this path", hint=f"GET {OPENAPI_PATH} lists the paths.")
        if method == "OPTIONS":
            return web.Response(status=204, headers={**_HEADERS, "Allow": _allowed(methods)})
        if method not in methods:
            raise Failed(405, "This path does not allow this method", headers={"Allow": _allowed(methods)})
        if own:
            return await own(request, holder)
        operation, path = found[method]
        if not holder.may(operation.needed_scope):
            raise out_of_scope(holder.scope, operation.needed_scope)
        if operation.is_paced:
            async with self._deliveries.turn(holder.name):
                return await self._do(request, operation, path)
        return await self._do(request, operation, path)

    async def _do(self, request: web.Request, operation: Operation, path: Mapping[str, str]) -> web.Response:
        query, paging = requests.read_query(request, operation)
        body = await requests.read_body(request, operation)
        revision = requests.read_revision(request) if operation.takes_revision else ""
        arguments = operation.arguments(path, query, body, revision)
        call = Call(self._presenter, self._config, self._spawn, operation, arguments, self._changing_entries)
        set_call(operation.name)
        if await call.needs_trust():
            await confirm_widening(BY_A_PROGRAM, **path)
        result = await operation.run(call)
        if operation.page_key:
            result, cursor = requests.page(result, paging, operation.page_key)
            call.headers |= _next_page(request, cursor)
        return _response(call, result)

    # paths without an operation

    async def _show_index(self, request: web.Request, holder: TokenHolder) -> web.Response:
        return _json({"name": "tooltray", "version": __version__, "openapi": OPENAPI_PATH, "events": EVENTS_PATH})

    async def _show_openapi(self, request: web.Request, holder: TokenHolder) -> web.Response:
        return _json(await finish_in_thread(document))

    async def _stream_events(self, request: web.Request, holder: TokenHolder) -> web.StreamResponse:
        if request.method == "HEAD":
            return web.Response(content_type=EVENTS_TYPE, headers=_HEADERS)
        return await self._events(request, partial(self._tokens.is_current, holder))


def _response(call: Call, result: object) -> web.Response:
    operation = call.operation
    if operation.status == 204:
        return web.Response(status=204, headers={**_HEADERS, **call.headers})
    return _json(result, operation.status, call.headers)


def _json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Builds a JSON response.

    Raises:
        Failed: the value, which may come from a server, is nested too deeply.
    """
    try:
        body = in_json(encoded(value))
    except RecursionError:
        raise Failed(422, "The result cannot be shown", "it is nested too deeply") from None
    return web.Response(status=status, body=body, content_type=JSON_TYPE, headers={**_HEADERS, **(headers or {})})


def _allowed(methods: Sequence[str]) -> str:
    return ", ".join([*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"])


def _next_page(request: web.Request, cursor: str) -> dict[str, str]:
    if not cursor:
        return {}
    query = {**request.query, "cursor": cursor}
    return {"Link": f'<{request.rel_url.raw_path}?{urlencode(query)}>; rel="next"'}
