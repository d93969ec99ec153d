"""published_uris.py, through the lists of a hub."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client
from tests.fakes.offering import OfferingServer, OfferParts, offer_parts, resource, template
from tests.fakes.scripted_server import raw, tool

from tooltray.foundation.events import ResourceListChanged, ToolListChanged
from tooltray.protocol.envelope import Envelope, dump

OF_A, OF_B = "ui://a/ui%3A%2F%2Fv", "ui://b/ui%3A%2F%2Fv"
HTML = "text/html;profile=mcp-app"


def viewed(name: str, uri: str = "ui://v", **ui: Any) -> dict[str, Any]:
    return tool(name, _meta={"ui": {"resourceUri": uri, **ui}})


def with_views() -> dict[str, OfferingServer]:
    """Both have one view; the list of resources has that of `a` alone."""
    servers = {"a": OfferingServer(resources=[resource("ui://v", mimeType=HTML)]), "b": OfferingServer(resources=[resource("x://b")])}
    servers["a"].tools, servers["b"].tools = [viewed("ta")], [tool("tb", _meta={"ui/resourceUri": "ui://v"})]
    servers["b"].handlers["resources/read"] = lambda copy, params: {"contents": [{"uri": params["uri"], "text": "b"}]}
    return servers


def app_host() -> Client:
    client = Client()
    client.state.shows_views = True
    return client


async def tools_of(parts: OfferParts) -> dict[str, Any]:
    listed = json.loads(bytes(await parts.parts.tools.listing()))["tools"]
    return {each["name"]: each["_meta"] for each in listed if each["name"] in ("ta", "tb")}


async def test_a_view_that_a_later_server_has_too_moves_for_both_in_all_lists_and_clients_are_told(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, with_views()) as parts:
        await parts.start("a")
        assert (await tools_of(parts))["ta"] == {"ui": {"resourceUri": "ui://v"}}
        assert await parts.uris() == ["ui://v"]
        before = len(parts.heard.of(ToolListChanged, ResourceListChanged))
        await parts.start("b")
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        assert await tools_of(parts) == {"ta": {"ui": {"resourceUri": OF_A}}, "tb": {"ui/resourceUri": OF_B}}
        assert await parts.uris() == [OF_A, "x://b"]
        told = parts.heard.of(ToolListChanged, ResourceListChanged)[before:]
        assert {ToolListChanged("a"), ResourceListChanged("a"), ToolListChanged("b"), ResourceListChanged("b")} <= set(told)


async def test_a_view_goes_back_to_its_own_uri_when_it_is_the_only_one_again(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, with_views()) as parts:
        await parts.start("a", "b")
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        assert OF_A in await parts.uris()
        await parts.servers.get("b").stop()
        assert (await tools_of(parts)) == {"ta": {"ui": {"resourceUri": "ui://v"}}}
        assert await parts.uris() == ["ui://v"]


async def test_a_view_that_only_a_tool_names_is_read_at_its_own_server(tmp_path: Path) -> None:
    servers = with_views()
    servers["b"].tools = [viewed("tb", "ui://only")]
    async with offer_parts(tmp_path, servers) as parts:
        await parts.start("a", "b")
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        assert await parts.read("ui://only") == [{"uri": "ui://only", "text": "b"}]
        assert servers["a"].count("resources/read") == 0


async def test_the_content_of_a_view_and_what_it_may_do_stay_as_they_are(tmp_path: Path) -> None:
    content = b'"mimeType":"text/html;profile=mcp-app","text":"<p>\\u00e9</p>","_meta":{"ui":{"csp":{"connectDomains":[]}, "domain":"d"}}'
    servers = with_views()
    servers["b"].handlers["resources/read"] = lambda copy, params: raw(b'{"contents":[{"uri":"ui://v",%b}]}' % content)
    async with offer_parts(tmp_path, servers) as parts:
        await parts.start("a", "b")
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        reply = await parts.resources.read(exchange_of(Envelope(method="resources/read", params=dump({"uri": OF_B})), parts.parts.client()))
        assert bytes(reply.result) == b'{"contents":[{"uri":"%b",%b}]}' % (OF_B.encode(), content)


async def test_a_uri_that_nobody_lists_or_names_is_asked_for_first_where_the_session_shows_a_view(tmp_path: Path) -> None:
    servers = with_views()
    servers["a"].handlers["resources/read"] = lambda copy, params: {"contents": [{"uri": params["uri"], "text": "a"}]}
    async with offer_parts(tmp_path, servers) as parts:
        await parts.start("a", "b")
        client = app_host()
        assert (await parts.read("data://1", client=client))[0]["text"] == "a"
        client.state.opens_view("b")
        assert (await parts.read("data://1", client=client))[0]["text"] == "b"
        assert (await parts.read("x://b", client=client))[0]["text"] == "b"


async def test_a_uri_that_templates_of_two_servers_match_is_the_first_ones_for_a_view_too(tmp_path: Path) -> None:
    servers = {"a": OfferingServer(templates=[template("t://{x}")]), "b": OfferingServer(templates=[template("t://{+y}")])}
    async with offer_parts(tmp_path, servers) as parts:
        await parts.start("a", "b")
        client = app_host()
        client.state.opens_view("b")
        assert (await parts.read("t://1", client=client))[0]["text"] == "a: t://1"


async def test_a_plain_uri_of_several_servers_is_read_where_the_session_shows_a_view(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, with_views()) as parts:
        await parts.start("a", "b")
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        client = app_host()
        assert (await parts.read("ui://v", client=client))[0]["text"] == "a: ui://v"  # that of the first, as before there were two
        client.state.opens_view("b")
        assert (await parts.read("ui://v", client=client))[0]["text"] == "b"
        client.state.opens_view("a")
        refused = await parts.ask("resources/read", uri="ui://v", client=client)
        assert refused["error"]["message"] == "several servers whose views are open have 'ui://v', and nothing says whose is meant"
        assert (await parts.read(OF_B, client=client))[0]["text"] == "b"
