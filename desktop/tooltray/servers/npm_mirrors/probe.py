"""Requests packages from registries over HTTP, and measures how long a whole answer takes. A status or a quick header proves nothing: the
answer has to be the package's own document, complete, from the requested host. The import takes a quarter of a second, because of the HTTP
library."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import aiohttp
import msgspec
from yarl import URL

from tooltray import __version__
from tooltray.servers.launch.npm_config import Answer, Registry, has_password
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.proxies import proxy_for
from tooltray.servers.transports.http.http_connections import is_same_origin, read_up_to, redirection
from tooltray.servers.transports.http.http_failures import explain_error

LIMIT_S = 10.0  # for all requests to one registry; a slower registry is useless
MAX_DOCUMENT_BYTES = 64 * 2**20  # the largest packages have 20 MB
MAX_REDIRECTS = 3
ACCEPT = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"  # the short form that npm asks for, or the long one
PYTHON_ACCEPT = "application/vnd.pypi.simple.v1+json; q=1.0, text/html; q=0.8"
PYTHON_PACKAGE = "mcp"  # almost every server in Python needs it


class BadAnswer(Exception):
    """An answer that cannot be used; its text gives the reason."""


class _Document(msgspec.Struct):
    name: str
    versions: dict[str, msgspec.Raw]
    tags: dict[str, str] = msgspec.field(name="dist-tags", default_factory=dict)


class RegistryProbe:
    """One round of measuring. Belongs to one event loop; to be used with `async with`."""

    def __init__(self, *, environ: Mapping[str, str], trust: ssl.SSLContext, limit_s: float = LIMIT_S) -> None:
        """
        Args:
            environ: the user's login-shell environment, for proxies.
            trust: the TLS context with the trusted certificates.
            limit_s: seconds for all requests to one registry.
        """
        self._environ, self._trust, self._limit_s = environ, trust, limit_s
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._trust),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": f"tooltray/{__version__}"},
            timeout=aiohttp.ClientTimeout(total=None),
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._session.close()

    async def ask(self, registry: Registry, packages: tuple[str, ...], *, authorization: str, with_python: bool) -> Answer:
        """Requests packages from one registry, one after the other. Never fails: errors are in the answer.

        Args:
            authorization: the header with which npm signs in there; empty: npm does not sign in.
            with_python: whether its index for Python packages is measured as well.
        """
        answer, has_python = await asyncio.gather(
            self._ask(registry, packages, authorization), self._has_python(registry.pypi if with_python else "")
        )
        return Answer(registry, answer.milliseconds, answer.problem, answer.latest, has_python and not answer.problem)

    async def _ask(self, registry: Registry, packages: tuple[str, ...], authorization: str) -> Answer:
        headers = {"Accept": ACCEPT} | ({"Authorization": authorization} if authorization and not has_password(registry.url) else {})
        latest, taken_s = {}, 0.0
        try:
            async with asyncio.timeout(self._limit_s):
                for package in packages:
                    began = time.monotonic()
                    body = await self._get(URL(registry.url + package.replace("/", "%2f"), encoded=True), headers)
                    taken_s += time.monotonic() - began
                    if body is not None:
                        latest[package] = await asyncio.to_thread(_latest, package, body)
        except TimeoutError:
            return Answer(registry, problem=f"no whole answer within {self._limit_s:g} s")
        except BadAnswer as error:
            return Answer(registry, problem=str(error))
        except ValueError:  # an error of the HTTP library, whose text is for programmers
            return Answer(registry, problem="its address, or npm's key for it, cannot be sent over HTTP")
        return Answer(registry, round(taken_s * 1000, 1), latest=latest)

    async def _has_python(self, index: str) -> bool:
        if not index:
            return False
        try:
            async with asyncio.timeout(self._limit_s):
                body = await self._get(URL(f"{index}{PYTHON_PACKAGE}/"), {"Accept": PYTHON_ACCEPT})
        except (TimeoutError, BadAnswer):
            return False
        return body is not None and f"{PYTHON_PACKAGE}-".encode() in body

    async def _get(self, url: URL, headers: Mapping[str, str]) -> bytes | None:
        """Returns the body of an answer; None if the document does not exist.

        Raises:
            BadAnswer: the answer is neither a document nor "not found".
        """
        for _ in range(MAX_REDIRECTS):
            try:
                proxy = proxy_for(url, self._environ)
                async with self._session.get(url, headers=headers, proxy=proxy, allow_redirects=False) as response:
                    target = redirection(response)
                    if target is None:
                        return await _body(response)
            except CannotStart as error:  # the proxy
                raise BadAnswer(error.problem.title) from None
            except (aiohttp.ClientError, OSError) as error:
                raise BadAnswer(explain_error(error, url.origin()).reason) from None
            if not is_same_origin(url, target):
                raise BadAnswer(f"it redirects to {target.host or 'no host'}; give that address if it is the right one")
            url = target
        raise BadAnswer("it redirects in a circle")


async def _body(response: aiohttp.ClientResponse) -> bytes | None:
    match response.status:
        case 200:
            return await _whole(response)
        case 404:
            return None
        case 401 | 403:
            raise BadAnswer(f"it requires a sign-in (HTTP {response.status})")
        case _:
            raise BadAnswer(f"it answered with HTTP {response.status}")


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    body = await read_up_to(response, MAX_DOCUMENT_BYTES)
    if len(body) > MAX_DOCUMENT_BYTES:
        raise BadAnswer(f"its answer is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB")
    return body


def _latest(package: str, body: bytes) -> str:
    """Returns the newest version in a package's document."""
    if body.lstrip()[:1] == b"<":
        raise BadAnswer("it answered with a web page, perhaps one to sign in on")
    try:
        document = msgspec.json.decode(body, type=_Document)
    except msgspec.ValidationError:
        raise BadAnswer(f"its answer does not describe {package}") from None
    except (ValueError, RecursionError):  # DecodeError is one, and so is the error for bytes that are not UTF-8
        raise BadAnswer("its answer is not JSON, or was cut off") from None
    if document.name != package:
        raise BadAnswer(f"asked for {package}, it answered with another package")
    if not document.versions:
        raise BadAnswer(f"it has no version of {package}")
    return str(document.tags.get("latest", ""))
