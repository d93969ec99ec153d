"""One sign-in of the user, from discovery to the tokens: provides the page for the browser and waits for the browser's return. Opens no
browser: the caller does. SignIns runs it in its own task, so that no caller has to wait for it.

The browser returns to an HTTP listener on this computer, open only until the answer has come, which shows a page without scripts, images or
external resources. It knows only the `state` that it expects: requests of foreign web pages, other programs or prefetching browsers get an
answer and change nothing.
"""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.servers.sign_ins.authorization_client import check_sender
from tooltray.servers.sign_ins.server_access import ServerAccess
from tooltray.servers.sign_ins.web_requests import AuthorizationFailed, SignInUnanswered, sanitized

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Connection": "close",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the page's URL contains the authorization code
    "X-Content-Type-Options": "nosniff",
}
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto 0;padding:0 1.5em}"
    "h1{font-size:1.4em;font-weight:600;margin:0 0 .4em}p{margin:0;overflow-wrap:anywhere}"
)
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone"}
HOST = "127.0.0.1"  # not `localhost`, which a user's hosts file may lead elsewhere (RFC 8252, section 8.3)
PATH = "/callback"
WAIT_S = 600.0  # time for the user to find a password and a second factor
REQUEST_TIMEOUT_S = 10.0  # browsers open connections that they may never use
MAX_HEAD_BYTES = 65536
MAX_CONNECTIONS = 32  # browsers open a few; beyond the limit the oldest is closed, so that holding many cannot block a browser
MAX_PARAMETERS = 50

Params = Mapping[str, str]


class Page(msgspec.Struct, frozen=True):
    status: int
    title: str
    text: str

    def response(self) -> bytes:
        """Returns the whole HTTP response as bytes."""
        from html import escape  # knows the names of all characters

        title, text = escape(self.title), escape(self.text)
        body = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{_STYLE}</style></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>\n"
        ).encode(errors="replace")
        head = "".join(f"{name}: {value}\r\n" for name, value in {**_HEADERS, "Content-Length": str(len(body))}.items())
        return f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n{head}\r\n".encode() + body


def answered(server: str) -> Page:
    return Page(200, "You can close this page", f"Tooltray has the answer and now connects to '{server}'.")


def declined(server: str, reason: str) -> Page:
    """
    Args:
        reason: the authorization server's error text; short and on one line.
    """
    quote = f"The sign-in page reported: {reason}. " if reason else ""
    return Page(200, f"You are not signed in to '{server}'", f"{quote}You can close this page, and sign in again in Tooltray.")


def refused(server: str, reason: str) -> Page:
    """Returns the page for an answer that is not accepted.

    Args:
        reason: why Tooltray does not accept the answer.
    """
    return Page(400, f"You are not signed in to '{server}'", f"Tooltray did not accept this answer: {reason}. You can close this page.")


OTHER_SIGN_IN = Page(400, "This page belongs to another sign-in", "Close it, and continue in the page that Tooltray opened last.")
UNREADABLE = Page(400, "This address cannot be read", "Sign in again in Tooltray.")
OVER = Page(410, "This sign-in is over", "You can close this page.")
NOT_HERE = Page(404, "Page not found", "This address is only for the end of a sign-in.")
FORBIDDEN = Page(403, "Page not found", "This address is only for a browser on this computer.")
WRONG_METHOD = Page(405, "Page not found", "This address is only for the end of a sign-in.")


class CallbackListener:
    """A listener for one sign-in. Belongs to one event loop. `close` may be called at any time, and twice."""

    def __init__(self, *, server: str) -> None:
        """
        Args:
            server: the name of the MCP server that the sign-in is for; shown on the page.
        """
        self._name = server
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._state, self._port = "", 0
        self._check: Callable[[Params], None] = lambda params: None
        self._outcome: asyncio.Future[Params | None] | None = None  # None: it was closed before an answer came

    async def open(self, port: int = 0, *, preferred: int = 0) -> str:
        """Opens the listener and returns the redirect URI.

        Args:
            port: the required port; 0 for any free port.
            preferred: the port to try first if any will do.

        Raises:
            AuthorizationFailed: the port is taken.
        """
        for each in [port] if port or not preferred else [preferred, 0]:
            try:
                self._server = await asyncio.start_server(self._serve, HOST, each, limit=MAX_HEAD_BYTES, start_serving=False)
                await self._server.start_serving()  # a second step: a task cancelled in start_server could not close the server
            except OSError:
                continue
            self._port = self._server.sockets[0].getsockname()[1]
            return f"http://{HOST}:{self._port}{PATH}"
        hint = Phrase("End the other program, or change redirectPort of oauth in the server's settings; 0 is any that is free.")
        raise AuthorizationFailed(self._name, f"another program uses port {port}, where the browser has to come back to", hint)

    def expect(self, state: str, check: Callable[[Params], None] = lambda params: None) -> None:
        """Accepts the answer with this state from now on, even before `wait` is called.

        Args:
            check: raises AuthorizationFailed for an answer that the caller of `wait` will refuse, so that the page does not call it good.
        """
        self._state, self._outcome, self._check = state, asyncio.get_running_loop().create_future(), check

    async def wait(self, state: str, timeout_s: float = WAIT_S) -> Params:
        """Waits for the browser and returns its query parameters. Closes the listener in any case.

        Raises:
            SignInUnanswered: the browser did not return within `timeout_s`, or the listener was closed meanwhile.
        """
        if self._outcome is None or self._state != state:
            self.expect(state)
        assert self._outcome
        try:
            async with asyncio.timeout(timeout_s):
                params = await asyncio.shield(self._outcome)
        except TimeoutError:
            raise SignInUnanswered(self._name, f"the browser did not come back within {timeout_s / 60:g} min") from None
        finally:
            await self.close()
        if params is None:
            raise SignInUnanswered(self._name, "the sign-in was cancelled")
        return params

    async def close(self) -> None:
        self._settle(None)
        if self._server:
            self._server.close()
        for writer in self._connections.values():
            writer.transport.abort()
        if self._connections:
            await asyncio.wait(self._connections)

    def _settle(self, params: Params | None) -> None:
        if self._outcome and not self._outcome.done():
            self._outcome.set_result(params)

    # requests

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._make_room()
        self._connections[task] = writer
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                page, params = self._judge(await reader.readuntil(b"\r\n\r\n"))
                await self._show(writer, page, params)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # no browser, or one that has gone
        finally:
            del self._connections[task]
            writer.close()

    def _make_room(self) -> None:
        held = [writer for writer in self._connections.values() if not writer.is_closing()]
        for writer in held[: max(0, len(held) - MAX_CONNECTIONS + 1)]:
            writer.transport.abort()

    async def _show(self, writer: asyncio.StreamWriter, page: Page, params: Params | None) -> None:
        """Sends the page, then settles `wait`, which closes the listener."""
        try:
            writer.write(page.response())
            writer.write_eof()
            await writer.drain()
        finally:
            if params is not None:
                self._settle(params)

    def _judge(self, head: bytes) -> tuple[Page, Params | None]:
        """Returns the page for a request, and its parameters if it is the expected answer."""
        request, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.partition(" ")[0]
        if not self._is_for_us(lines):
            return FORBIDDEN, None
        if not target.startswith("/") or target.partition("?")[0] != PATH:
            return NOT_HERE, None
        if not _is_navigation(lines):
            return FORBIDDEN, None
        if method != "GET":
            return WRONG_METHOD, None
        params = _params(target.partition("?")[2])
        if params is None:
            return UNREADABLE, None
        return self._judge_answer(params)

    def _is_for_us(self, lines: list[str]) -> bool:
        """Checks the `Host` header against DNS rebinding: a foreign page can send a browser here only under its own host name."""
        hosts = [value.strip().lower() for name, _, value in (line.partition(":") for line in lines) if name.lower() == "host"]
        return len(hosts) == 1 and hosts[0] in (f"{HOST}:{self._port}", f"localhost:{self._port}")

    def _judge_answer(self, params: Params) -> tuple[Page, Params | None]:
        if not self._state or not hmac.compare_digest(params.get("state", "").encode(errors="replace"), self._state.encode()):
            return OTHER_SIGN_IN, None
        if self._outcome is None or self._outcome.done():
            return OVER, None
        if "error" in params:
            return declined(self._name, sanitized(params.get("error_description") or params["error"])), params
        try:
            self._check(params)
        except AuthorizationFailed as failed:
            return refused(self._name, failed.problem.message), params
        return answered(self._name), params


def _is_navigation(lines: Sequence[str]) -> bool:
    """Returns whether the request is a top-level navigation by its `Sec-Fetch` headers, and not an image, a frame or a fetch."""
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return headers.get("sec-fetch-mode", "navigate") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"


def callback_params(server: str, address: str) -> dict[str, str]:
    """Returns the query parameters of a redirect that a browser on another computer could not follow.

    Args:
        server: the name of the MCP server, for the error.
        address: as the user copied it from the browser; the part from the question mark on is enough.

    Raises:
        AuthorizationFailed: the address is not a sign-in's redirect.
    """
    try:
        query = urlsplit(address.strip()).query
    except ValueError:
        query = ""
    params = _params(query)
    if not params or "state" not in params:
        message = Phrase("the address is not the one at which a sign-in ends: it has no state in it")
        raise AuthorizationFailed(server, message, f"Copy the whole address from the browser; it begins with http://{HOST}.")
    return params


def _params(query: str) -> dict[str, str] | None:
    """Parses a query, in which each parameter must occur once (RFC 6749, section 3.1); None if one is repeated or there are too many."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return None
    params = dict(pairs)
    return params if len(params) == len(pairs) else None


LIMIT_S = 600.0  # time enough to find a password and a second factor


class SignInFlow:
    """One sign-in.

    Attributes:
        access: receives the tokens.
        error: why the sign-in failed; None after a success. Valid once it is over.
    """

    def __init__(
        self,
        access: ServerAccess,
        *,
        find_challenge: Callable[[], Awaitable[None]],
        on_changed: Callable[[], None],
        limit_s: float = LIMIT_S,
    ) -> None:
        """
        Args:
            find_challenge: makes the server send its challenge, if it is not known yet.
            on_changed: called when the page is known, and when the sign-in is over.
            limit_s: how many seconds the user may take.
        """
        self.access, self._find_challenge, self._on_changed, self._limit_s = access, find_challenge, on_changed, limit_s
        self.server = access.target.server
        self._page: SignInSnapshot | None = None
        self.error: TooltrayError | None = TooltrayError(
            Phrase("the sign-in to '{server}' failed", server=self.server), Phrase("an internal error; see the log")
        )
        self._listener = CallbackListener(server=self.server)
        self._state, self._pasted = "", dict[str, str]()
        self._ready, self._over = asyncio.Event(), asyncio.Event()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def page(self) -> SignInSnapshot | None:
        """Returns the page to open in the browser while the sign-in waits for the user; else None."""
        return None if self.is_over else self._page

    async def wait_for_page(self) -> SignInSnapshot:
        """Waits for the page to open in the browser.

        Raises:
            TooltrayError: the sign-in failed before; the error gives the reason.
        """
        await self._ready.wait()
        if self._page is None:
            assert self.error  # the sign-in is over
            raise self.error
        return self._page

    async def wait_until_over(self) -> None:
        """Waits for the end.

        Raises:
            TooltrayError: the sign-in failed; the error gives the reason.
        """
        await self._over.wait()
        if self.error:
            raise self.error

    async def paste(self, address: str) -> None:
        """Takes the redirect address that the user copied from a browser on another computer.

        Raises:
            TooltrayError: the address does not belong to this sign-in.
        """
        params = callback_params(self.server, address)
        if self.page is None or params.get("state") != self._state:
            hint = Phrase("Give the whole address that the browser shows after the sign-in that was begun last.")
            raise TooltrayError(Phrase("this address does not belong to the sign-in to '{server}'", server=self.server), hint=hint)
        self._pasted = dict(params)
        await self._listener.close()

    async def run(self) -> None:
        """Carries out the sign-in, once; a failure is stored in `error`."""
        try:
            await self._sign_in()
            self.error = None
        except TooltrayError as error:
            self.error = error
        except asyncio.CancelledError:
            self.error = self._cancelled()
            raise
        finally:
            await self._listener.close()
            self._end()

    def on_done(self, task: "asyncio.Task[object]") -> None:
        """Ends the sign-in if its task was cancelled before the first step; a callback for the task that runs `run`."""
        if not self.is_over:
            self.error = self._cancelled()
            self._end()

    def _end(self) -> None:
        self._over.set()
        self._ready.set()
        self._on_changed()

    def _cancelled(self) -> TooltrayError:
        return TooltrayError(Phrase("the sign-in to '{server}' was cancelled", server=self.server))

    async def _sign_in(self) -> None:
        access = self.access
        await self._find_challenge()
        client = await access.client()
        preferred = client.registration.redirect_port if client.registration else 0
        redirect_uri = await self._listener.open(access.target.settings.redirect_port, preferred=preferred)
        held = access.tokens.scopes if access.tokens else ()
        pending = await client.begin(redirect_uri=redirect_uri, challenge=access.challenge, scopes=held)
        self._listener.expect(pending.state, partial(check_sender, self.server, pending))
        self._show(pending.url, pending.state)
        access.adopt(await client.finish(pending, await self._answer()))

    def _show(self, url: str, state: str) -> None:
        self._state = state
        self._page = SignInSnapshot(self.server, url, time.time() + self._limit_s)
        self._ready.set()
        self._on_changed()

    async def _answer(self) -> Mapping[str, str]:
        """Waits for the browser's parameters; an address pasted by the user closes the listener and replaces them."""
        try:
            return await self._listener.wait(self._state, self._limit_s)
        except SignInUnanswered:
            if self._pasted:
                return self._pasted
            raise
