"""Makes the client that a sign-in uses to talk to authorization servers over HTTP. aiohttp_web is imported in a thread when it is first
needed: the import of aiohttp takes a quarter of a second."""

import asyncio
import importlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from tooltray.servers.sign_ins.oauth.authorization_client import AuthorizationClient
from tooltray.servers.sign_ins.oauth.discovery import reach_of_sign_in
from tooltray.servers.sign_ins.oauth.reach import Reach
from tooltray.servers.sign_ins.oauth.registrations import Registration
from tooltray.servers.sign_ins.oauth.web_requests import WebClient
from tooltray.servers.sign_ins.sign_in_target import Target


async def make_client(target: Target, registration: Registration | None) -> AuthorizationClient:
    """Makes the client for one server's sign-in, which uses the user's proxies and certificate authorities.

    Args:
        registration: of an earlier sign-in, to be used again where it fits.
    """
    within = reach_of_sign_in(target.url, target.settings.issuer)
    web = await make_web_client(target.environ, within=within, own_host=urlsplit(target.url).hostname or "")
    return AuthorizationClient(server=target.server, url=target.url, settings=target.settings, http=web, registration=registration)


async def make_web_client(environ: Mapping[str, str], *, within: Reach = Reach.COMPUTER, own_host: str = "") -> WebClient:
    """Makes an HTTP client for small requests; opens nothing yet.

    Args:
        environ: the user's login-shell environment, for proxies and certificate authorities.
        within, own_host: see AiohttpWebClient.
    """
    for module in ("tooltray.servers.sign_ins.oauth.aiohttp_web", "tooltray.servers.transports.http.certificate_trust"):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.sign_ins.oauth.aiohttp_web import AiohttpWebClient
    from tooltray.servers.transports.http.certificate_trust import tls_context

    trust = await asyncio.to_thread(tls_context, environ)
    return AiohttpWebClient(environ=environ, trust=trust, within=within, own_host=own_host)
