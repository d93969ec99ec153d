"""Reads a registry of MCP servers over HTTP: its list page by page, what has changed, and one version of one server.

RegistryCopy imports this module only when it is needed, since the HTTP library takes a quarter of a second. Answers are bounded in bytes,
pages, entries and time; a page is used only after it was read completely.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import Self

import aiohttp
import msgspec
from yarl import URL

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.transports.http.http_connections import is_same_origin, read_up_to, redirection
from tooltray.servers.transports.http.http_failures import explain_error

PAGE = 100  # entries; the most that the official registry gives
PAGE_LIMIT_S = 30.0  # for one page
MAX_PAGE_BYTES = 16 * 2**20  # a hundred of the largest entries have 4 MB
MAX_BYTES = 512 * 2**20  # of all pages
MAX_PAGES = 2000
MAX_ENTRIES = 200_000
MAX_REDIRECTS = 3
MAX_CURSOR = 2000  # characters
RETRIES_AFTER_S = (1.0, 5.0)  # when the registry reports an error of its own, or does not answer
PATH = "v0.1/servers"
OK, NOT_MODIFIED, NOT_FOUND, OWN_FAULT = 200, 304, 404, 500


class Page(msgspec.Struct, frozen=True):
    """A page of the list.

    Attributes:
        items: entries, each as JSON.
        is_unchanged: the registry reports that nothing has changed since the same request.
        address: the requested URL; etag, modified: to be sent when the same URL is requested again.
    """

    items: tuple[bytes, ...] = ()
    is_unchanged: bool = False
    address: str = ""
    etag: str = ""
    modified: str = ""


class _Metadata(msgspec.Struct):
    next: str | None = msgspec.field(name="nextCursor", default=None)
    old_next: str | None = msgspec.field(name="next_cursor", default=None)


class _Body(msgspec.Struct):
    servers: list[msgspec.Raw] | None
    metadata: _Metadata | None = None


class _Fault(TooltrayError):
    """An error that is worth another try."""


class RegistryClient:
    """A client of one registry; belongs to one event loop, and is used with `async with`."""

    def __init__(
        self,
        registry: str,
        *,
        environ: Mapping[str, str],
        trust: ssl.SSLContext,
        page_limit_s: float = PAGE_LIMIT_S,
        retries_after_s: tuple[float, ...] = RETRIES_AFTER_S,
    ) -> None:
        """
        Args:
            registry: its address, without the path of the API.
            environ: the user's login-shell environment, for proxies.
            trust: the trusted certificates.
        """
        self._base = URL(registry.rstrip("/") + "/")
        self._environ, self._trust, self._page_limit_s, self._retries_after_s = environ, trust, page_limit_s, retries_after_s
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._trust),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": f"tooltray/{__version__}", "Accept": "application/json"},
            timeout=aiohttp.ClientTimeout(total=None),
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._session.close()

    async def pages(self, *, since: str = "", before: Page = Page()) -> AsyncGenerator[Page, None]:  # noqa: B008 - frozen
        """Yields the list of the latest versions, page by page.

        Args:
            since: a time in the registry's spelling; only later changes are listed; empty: everything.
            before: the first page of the last request.

        Raises:
            TooltrayError: the registry does not answer, or its answer is invalid; the error has the details. Earlier pages stay valid.
        """
        query = {"limit": str(PAGE), "version": "latest"} | ({"updated_since": since} if since else {})
        seen, size, entries, cursor = set[str](), 0, 0, ""
        for _ in range(MAX_PAGES):
            address = (self._base / PATH).with_query(query | ({"cursor": cursor} if cursor else {}))
            headers = _conditions(before) if str(address) == before.address else {}
            status, body, answered = await self._get(address, headers)
            if status == NOT_FOUND:
                raise _bad(Phrase("it has no list of servers (HTTP 404)"))
            page, cursor = await asyncio.to_thread(_read, body) if status == OK else (Page(is_unchanged=True), "")
            size, entries = size + len(body), entries + len(page.items)
            marks = {"etag": answered.get("ETag", ""), "modified": answered.get("Last-Modified", "")}
            yield msgspec.structs.replace(page, address=str(address), **marks)
            if not cursor:
                return
            if cursor in seen or size > MAX_BYTES or entries > MAX_ENTRIES:
                break
            seen.add(cursor)
        raise _bad(Phrase("its list does not end"))

    async def version(self, name: str, version: str) -> bytes | None:
        """Returns one version of one server, as JSON; None if the version does not exist.

        Raises:
            TooltrayError: as in `pages`.
        """
        encoded = [URL.build(path=f"/{part}", encoded=False).raw_path[1:].replace("/", "%2F") for part in (name, version)]
        status, body, _ = await self._get(URL(f"{self._base}{PATH}/{encoded[0]}/versions/{encoded[1]}", encoded=True), {})
        return body if status == OK else None

    async def _get(self, url: URL, headers: Mapping[str, str]) -> tuple[int, bytes, Mapping[str, str]]:
        for wait_s in self._retries_after_s:
            try:
                return await self._get_once(url, headers)
            except _Fault:
                await asyncio.sleep(wait_s)
        return await self._get_once(url, headers)

    async def _get_once(self, url: URL, headers: Mapping[str, str]) -> tuple[int, bytes, Mapping[str, str]]:
        try:
            async with asyncio.timeout(self._page_limit_s):
                return await self._follow(url, headers)
        except TimeoutError:
            raise _fault(Phrase("no whole answer within {seconds} s", seconds=f"{self._page_limit_s:g}")) from None
        except CannotStart as error:  # the proxy
            raise _bad(error.problem.title) from None
        except (aiohttp.ClientError, OSError) as error:
            raise _fault(explain_error(error, url.origin()).reason) from None

    async def _follow(self, url: URL, headers: Mapping[str, str]) -> tuple[int, bytes, Mapping[str, str]]:
        for _ in range(MAX_REDIRECTS):
            async with self._session.get(url, headers=headers, proxy=proxy_for(url, self._environ), allow_redirects=False) as response:
                target = redirection(response)
                if target is None:
                    return await _answer(response)
            if not is_same_origin(url, target):
                raise _bad(Phrase("it redirects to {host}; give that address if it is the right one", host=target.host or "?"))
            url = target
        raise _bad(Phrase("it redirects in a circle"))


async def _answer(response: aiohttp.ClientResponse) -> tuple[int, bytes, Mapping[str, str]]:
    if response.status in (NOT_MODIFIED, NOT_FOUND):
        return response.status, b"", response.headers
    if response.status != OK:
        make = _fault if response.status >= OWN_FAULT else _bad
        raise make(Phrase("it answered with HTTP {status}", status=response.status))
    body = await read_up_to(response, MAX_PAGE_BYTES)
    if len(body) > MAX_PAGE_BYTES:
        raise _bad(Phrase("its answer is larger than {size} MiB", size=MAX_PAGE_BYTES // 2**20))
    return OK, body, response.headers


def _conditions(before: Page) -> dict[str, str]:
    return ({"If-None-Match": before.etag} if before.etag else {}) | ({"If-Modified-Since": before.modified} if before.modified else {})


def _read(body: bytes) -> tuple[Page, str]:
    if body.lstrip()[:1] == b"<":
        raise _bad(Phrase("it answered with a web page, perhaps one to sign in on"))
    try:
        read = msgspec.json.decode(body, type=_Body)
    except msgspec.ValidationError:
        raise _bad(Phrase("its answer is not a list of servers")) from None
    except (ValueError, RecursionError):
        raise _fault(Phrase("its answer is not JSON, or was cut off")) from None
    metadata = read.metadata or _Metadata()
    return Page(tuple(bytes(each) for each in read.servers or ())), (metadata.next or metadata.old_next or "")[:MAX_CURSOR]


def _bad(why: str) -> TooltrayError:
    return TooltrayError(*_words(why))


def _fault(why: str) -> TooltrayError:
    return _Fault(*_words(why))


def _words(why: str) -> tuple[str, str, str]:
    hint = Phrase("Retrying in an hour. Retry now: tooltray discover refresh")
    return Phrase("The registry of servers cannot be read"), why, hint
