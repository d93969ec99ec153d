"""Where the browser comes back to: an address on this machine that is open for one answer, and for no longer than it takes.

Above it: presenter/sign_ins. Below it: callback_page. Knows the `state` that it waits for and nothing else of the sign-in; what a web page
of somebody else's, another program or a curious browser asks of it is answered, and changes nothing.
"""

import asyncio
import hmac
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from tooltray.sign_ins.oauth import callback_page
from tooltray.sign_ins.oauth.callback_page import Page
from tooltray.sign_ins.oauth.failures import AuthorizationFailed, SignInUnanswered, as_shown

HOST = "127.0.0.1"  # not `localhost`, which a person's hosts file may lead elsewhere (RFC 8252, section 8.3)
PATH = "/callback"
WAIT_S = 600.0  # to find a password and a second factor
REQUEST_TIMEOUT_S = 10.0  # browsers open connections that they may never use
MAX_HEAD_BYTES = 65536
MAX_CONNECTIONS = 32  # browsers open a few; beyond it the oldest is let go, so that who holds many keeps no browser out
MAX_PARAMETERS = 50

Params = Mapping[str, str]


class CallbackListener:
    """Belongs to one event loop. `close` may be called at any time, and twice."""

    def __init__(self, *, server: str) -> None:
        """
        Args:
            server: the name of the MCP server that the sign-in is for; it stands on the page.
        """
        self._name = server
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._state, self._port = "", 0
        self._outcome: asyncio.Future[Params | None] | None = None  # None: it was closed before an answer came

    async def open(self, port: int = 0, *, preferred: int = 0) -> str:
        """The address for the browser to come back to.

        Args:
            port: the only one that will do; 0: any that is free.
            preferred: tried first where any will do.

        Raises:
            AuthorizationFailed: the port is taken.
        """
        for each in [port] if port or not preferred else [preferred, 0]:
            try:
                self._server = await asyncio.start_server(self._serve, HOST, each, limit=MAX_HEAD_BYTES, start_serving=False)
                await self._server.start_serving()  # not in one: who is cancelled there never gets what is to be closed
            except OSError:
                continue
            self._port = self._server.sockets[0].getsockname()[1]
            return f"http://{HOST}:{self._port}{PATH}"
        hint = "End the other program, or change redirectPort of oauth in the server's settings; 0 is any that is free."
        raise AuthorizationFailed(self._name, f"another program uses port {port}, where the browser has to come back to", hint)

    def expect(self, state: str) -> None:
        """From now on the answer with this state is kept, also while nobody waits for it yet."""
        self._state, self._outcome = state, asyncio.get_running_loop().create_future()

    async def wait(self, state: str, timeout_s: float = WAIT_S) -> Params:
        """What the browser brought back. Closes the address, however it ends.

        Raises:
            SignInUnanswered: nobody came back within `timeout_s`, or it was closed meanwhile.
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
            raise SignInUnanswered(self._name, "the sign-in was given up")
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
        """Lets go whoever waits once the page is on its way: they close the address."""
        try:
            writer.write(page.response())
            writer.write_eof()
            await writer.drain()
        finally:
            if params is not None:
                self._settle(params)

    def _judge(self, head: bytes) -> tuple[Page, Params | None]:
        """The page for a request, and what it brings if it is the one that is waited for."""
        request, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.partition(" ")[0]
        if not self._is_for_us(lines):
            return callback_page.FORBIDDEN, None
        if not target.startswith("/") or target.partition("?")[0] != PATH:
            return callback_page.NOT_HERE, None
        if not _is_navigation(lines):
            return callback_page.FORBIDDEN, None
        if method != "GET":
            return callback_page.WRONG_METHOD, None
        params = _params(target.partition("?")[2])
        if params is None:
            return callback_page.UNREADABLE, None
        return self._judge_answer(params)

    def _is_for_us(self, lines: list[str]) -> bool:
        """A web page elsewhere can send a browser here under a name of its own; it cannot choose `Host`."""
        hosts = [value.strip().lower() for name, _, value in (line.partition(":") for line in lines) if name.lower() == "host"]
        return len(hosts) == 1 and hosts[0] in (f"{HOST}:{self._port}", f"localhost:{self._port}")

    def _judge_answer(self, params: Params) -> tuple[Page, Params | None]:
        if not self._state or not hmac.compare_digest(params.get("state", "").encode(errors="replace"), self._state.encode()):
            return callback_page.OTHER_SIGN_IN, None
        if self._outcome is None or self._outcome.done():
            return callback_page.OVER, None
        if "error" in params:
            return callback_page.declined(self._name, as_shown(params.get("error_description") or params["error"])), params
        return callback_page.answered(self._name), params


def _is_navigation(lines: Sequence[str]) -> bool:
    """Whether a person's browser goes here, as far as it says so; not where a page elsewhere loads this as a picture, a frame or data."""
    said = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return said.get("sec-fetch-mode", "navigate") == "navigate" and said.get("sec-fetch-dest", "document") == "document"


def callback_params(server: str, address: str) -> dict[str, str]:
    """What stands in the address at which a browser ended, where it could not reach this machine.

    Args:
        server: the name of the MCP server, for the error.
        address: as a person copied it; its part from the question mark on will do.

    Raises:
        AuthorizationFailed: it is no such address.
    """
    try:
        query = urlsplit(address.strip()).query
    except ValueError:
        query = ""
    params = _params(query)
    if not params or "state" not in params:
        message = "the address is not the one at which a sign-in ends: it has no state in it"
        raise AuthorizationFailed(server, message, f"Copy the whole address from the browser; it begins with http://{HOST}.")
    return params


def _params(query: str) -> dict[str, str] | None:
    """Each once, as RFC 6749, section 3.1, wants it; None if one is there twice or there are far too many."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return None
    params = dict(pairs)
    return params if len(params) == len(pairs) else None
