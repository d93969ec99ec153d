"""A client of an MCP server that wants a sign-in, as the suite's scenarios about that want one. The sign-in is ours, the rest bare HTTP.

Usage: python tests/conformance/sign_in_client.py URL     started by the suite, which says in the environment what it is about

Lists and calls, and signs in whenever it is refused, at most twice for one request. Exit code 0 if all of it came to an end.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
import aiohttp
from tests.fakes.authorization_server import browse

from tooltray.config.settings.server_config import OAuthSettings
from tooltray.foundation.errors import TooltrayError
from tooltray.servers.sign_ins.authorization_client import AuthorizationClient
from tooltray.servers.sign_ins.server_access import make_web_client
from tooltray.servers.sign_ins.sign_in_flow import CallbackListener
from tooltray.servers.sign_ins.tokens import Tokens

MOST_SIGN_INS = 2  # for one request: the first, and one for more
META = "io.modelcontextprotocol/"
CLIENT = {"name": "sign-in-client", "version": "1"}
REFUSALS = (401, 403)


class SignInClient:
    def __init__(self, http: aiohttp.ClientSession, url: str, wire: str, authorization: AuthorizationClient, *, has_person: bool) -> None:
        self._http, self._url, self._wire, self._authorization, self._has_person = http, url, wire, authorization, has_person
        self._tokens: Tokens | None = None
        self._session: dict[str, str] = {}

    async def use(self) -> None:
        if self._wire < "2026":
            await self._send("initialize", {"protocolVersion": self._wire, "capabilities": {}, "clientInfo": CLIENT}, 1)
            await self._send("notifications/initialized", {})
        await self._send("tools/list", {}, 2)
        await self._send("tools/call", {"name": "test-tool", "arguments": {}}, 3)

    async def _send(self, method: str, params: dict[str, Any], id: int | None = None) -> None:
        for sign_ins in range(MOST_SIGN_INS + 1):
            async with self._http.post(
                self._url, json=self._message(method, params, id), headers=self._headers(method, params)
            ) as response:
                await response.read()
                if "Mcp-Session-Id" in response.headers:
                    self._session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
                if response.status not in REFUSALS:
                    return
                if sign_ins < MOST_SIGN_INS:
                    await self._sign_in(", ".join(response.headers.getall("WWW-Authenticate", [])))
        raise SystemExit(f"{method} is refused also after {MOST_SIGN_INS} sign-ins")

    def _message(self, method: str, params: dict[str, Any], id: int | None) -> dict[str, Any]:
        envelope = {f"{META}protocolVersion": self._wire, f"{META}clientInfo": CLIENT, f"{META}clientCapabilities": {}}
        modern = {"_meta": envelope} if self._wire >= "2026" else {}
        return {"jsonrpc": "2.0", "method": method, "params": params | modern} | ({} if id is None else {"id": id})

    def _headers(self, method: str, params: dict[str, Any]) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": self._wire, **self._session}
        if self._wire >= "2026":
            headers |= {"Mcp-Method": method} | ({"Mcp-Name": params["name"]} if "name" in params else {})
        return headers | ({"Authorization": f"Bearer {self._tokens.access_token}"} if self._tokens else {})

    async def _sign_in(self, challenge: str) -> None:
        if not self._has_person:
            self._tokens = await self._authorization.client_credentials(challenge)
            return
        known = self._authorization.registration
        listener = CallbackListener(server="conformance")
        try:
            address = await listener.open(preferred=known.redirect_port if known else 0)
            held = self._tokens.scopes if self._tokens else ()
            pending = await self._authorization.begin(redirect_uri=address, challenge=challenge, scopes=held)
            listener.expect(pending.state)
            await browse(pending.url)
            self._tokens = await self._authorization.finish(pending, await listener.wait(pending.state))
        finally:
            await listener.close()


async def main(url: str, scenario: str, wire: str, context: dict[str, Any]) -> None:
    has_person = "client-credentials" not in scenario
    named = {name: context[name] for name in ("client_id", "client_secret") if context.get(name)}
    settings = OAuthSettings(**named, grant="authorization_code" if has_person else "client_credentials")
    authorization = AuthorizationClient(server="conformance", url=url, settings=settings, http=await make_web_client({}))
    async with aiohttp.ClientSession() as http:
        await SignInClient(http, url, wire, authorization, has_person=has_person).use()


if __name__ == "__main__":
    about = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    try:
        asyncio.run(main(sys.argv[-1], os.environ["MCP_CONFORMANCE_SCENARIO"], os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"], about))
    except TooltrayError as error:
        sys.exit(str(error))
