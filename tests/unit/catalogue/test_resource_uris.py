"""resource_uris.py, resource_manager.py"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, entry, hub_parts
from tests.fakes.offering import OfferingServer, OfferParts, offer_parts, resource, template
from tests.fakes.scripted_server import error, raw, tool
from tests.fakes.skill_server import SkillServer

from tooltray.catalogue.resource_uris import PublishedUris, ResourceUris
from tooltray.foundation.events import ResourceListChanged, ToolListChanged
from tooltray.protocol.envelope import Envelope, dump


def both(*uris: str, templates: tuple[str, ...] = ()) -> ResourceUris:
    """Two servers that list the same."""
    return ResourceUris({"a": uris, "b": uris}, {"a": templates, "b": templates})


def test_a_uri_that_one_server_lists_stays_as_it_is() -> None:
    uris = ResourceUris({"a": ["file:///x"], "b": ["file:///y"]}, {})
    assert uris.published_uri("a", "file:///x") == "file:///x"
    assert list(uris.targets("file:///x")) == [("a", "file:///x")]
    assert list(uris.targets("file:///y")) == [("b", "file:///y")]
    assert list(uris.targets("file:///z")) == []


def test_a_uri_that_two_servers_list_gets_the_name_of_each() -> None:
    uris = both("file:///a b?q=1#f")
    published = [uris.published_uri(server, "file:///a b?q=1#f") for server in "ab"]
    assert published == ["tooltray://a/file%3A%2F%2F%2Fa%20b%3Fq%3D1%23f", "tooltray://b/file%3A%2F%2F%2Fa%20b%3Fq%3D1%23f"]
    assert [list(uris.targets(each)) for each in published] == [[("a", "file:///a b?q=1#f")], [("b", "file:///a b?q=1#f")]]


def test_the_bare_uri_of_two_servers_may_mean_either() -> None:
    assert list(both("x://1").targets("x://1")) == [("a", "x://1"), ("b", "x://1")]


def test_a_published_uri_is_understood_after_the_clash_is_gone() -> None:
    uris = ResourceUris({"my server": ["x://1"], "b": []}, {})
    assert list(uris.targets("tooltray://my%20server/x%3A%2F%2F1")) == [("my server", "x://1")]
    assert list(uris.targets("tooltray://MY%20SERVER/x%3A%2F%2F1")) == [("my server", "x://1")]
    assert list(uris.targets("tooltray://b/never%20listed")) == [("b", "never listed")]
    assert list(uris.targets("tooltray://gone/x")) == []


def test_a_uri_that_another_server_lists_is_told_apart_from_that_one() -> None:
    uris = ResourceUris({"a": ["x://1"], "b": []}, {})
    assert uris.published_uri("b", "x://1") == "tooltray://b/x%3A%2F%2F1"
    assert uris.published_uri("b", "x://2") == "x://2"


def test_a_uri_that_nobody_lists_belongs_to_the_servers_whose_templates_match() -> None:
    uris = ResourceUris({"a": ["db://t/listed"]}, {"a": ["db://{t}"], "b": ["db://{t}/{row}", "db://t/{row}"], "c": ["db://{+all}"]})
    assert list(uris.targets("db://t/5")) == [("b", "db://t/5"), ("c", "db://t/5")]
    assert list(uris.targets("db://t/listed")) == [("a", "db://t/listed")]
    assert uris.published_uri("b", "db://t/5") == "db://t/5"
    assert uris.published_uri("c", "db://t/5") == "tooltray://c/db%3A%2F%2Ft%2F5"


def test_a_template_of_two_servers_can_be_filled_in_and_is_taken_back_with_what_was_filled_in() -> None:
    uris = both(templates=("db://{table}/rows{?q}",))
    published = uris.published_template("b", "db://{table}/rows{?q}")
    assert published == "tooltray://b/db%3A%2F%2F{table}%2Frows{?q}"
    filled_in = "tooltray://b/db%3A%2F%2Fmy%20table%2Frows?q=1"
    assert list(uris.targets(filled_in)) == [("b", "db://my%20table/rows?q=1")]
    assert uris.published_uri("b", "db://my%20table/rows?q=1") == filled_in
    assert uris.published_uri("b", "db://other") == "db://other"


def test_whose_a_template_is_can_be_told_from_its_text() -> None:
    uris = ResourceUris({}, {"a": ["x://{i}", "y://{i}"], "b": ["x://{i}"]})
    assert uris.published_template("a", "y://{i}") == "y://{i}"
    assert uris.template_target("y://{i}") == ("a", "y://{i}")
    assert uris.template_target("tooltray://b/x%3A%2F%2F{i}") == ("b", "x://{i}")
    assert uris.template_target("x://{i}") == ("a", "x://{i}")
    assert uris.template_target("z://{i}") is None


@pytest.mark.parametrize("template", ["{+everything}", "tooltray://{+x}"])
def test_a_template_that_takes_everything_takes_no_published_uri(template: str) -> None:
    uris = ResourceUris({"a": ["x://1"], "b": ["x://1"]}, {"c": [template]})
    assert list(uris.targets("tooltray://b/x%3A%2F%2F1")) == [("b", "x://1")]
    assert list(uris.targets("tooltray://b/x%3A%2F%2F2")) == [("b", "x://2")]


def test_a_view_of_two_servers_keeps_its_scheme_and_its_own_words_where_only_tools_name_it() -> None:
    uris = ResourceUris({"a": ["ui://v"], "b": [], "c": []}, {}, views={"b": ["ui://v"], "c": ["ui://own"]})
    assert [uris.published_uri(server, "ui://v") for server in "ab"] == ["ui://a/ui%3A%2F%2Fv", "ui://b/ui%3A%2F%2Fv"]
    assert list(uris.targets("ui://v")) == [("a", "ui://v"), ("b", "ui://v")]
    assert uris.is_contested("ui://v")
    assert uris.published_uri("c", "ui://own") == "ui://own"
    assert list(uris.targets("ui://own")) == [("c", "ui://own")]


def test_a_view_of_a_template_of_two_servers_keeps_its_scheme() -> None:
    uris = both(templates=("ui://v/{id}",))
    assert uris.published_template("b", "ui://v/{id}") == "ui://b/ui%3A%2F%2Fv%2F{id}"
    assert list(uris.targets("ui://b/ui%3A%2F%2Fv%2F5")) == [("b", "ui://v/5")]


def test_a_view_that_begins_with_the_name_of_another_server_is_not_taken_for_one_of_it() -> None:
    own, written_alike = "ui://b/x", "ui://b/ui%3A%2F%2Fv"
    uris = ResourceUris({"a": [own, written_alike], "b": ["ui://v"], "c": ["ui://v"]}, {})
    assert uris.published_uri("a", own) == own
    assert list(uris.targets(own)) == [("a", own)]
    assert uris.published_uri("b", "ui://v") == written_alike
    assert list(uris.targets(written_alike)) == [("b", "ui://v")]
    assert list(uris.targets(uris.published_uri("a", written_alike))) == [("a", written_alike)]


@pytest.mark.parametrize("uri", ["ui://gone/ui%3A%2F%2Fv", "ui://a/%ff", "ui://", "ui:///", "ui://a/ui://v", "UI://a/ui%3A%2F%2Fv"])
def test_what_only_looks_like_one_of_ours_means_nothing(uri: str) -> None:
    assert list(ResourceUris({"a": ["ui://w"]}, {}).targets(uri)) == []


def test_servers_that_differ_in_case_alone_are_told_apart_also_by_clients_that_write_names_small() -> None:
    uris = ResourceUris({"Notes": ["ui://v"], "notes": ["ui://v"]}, {})
    published = [uris.published_uri(server, "ui://v") for server in ("Notes", "notes")]
    assert published == ["ui://%4Eotes/ui%3A%2F%2Fv", "ui://notes/ui%3A%2F%2Fv"]
    small = [each.replace("ui://%4E", "ui://%4e") for each in published]
    assert [next(uris.targets(each))[0] for each in small] == ["Notes", "notes"]
    assert list(uris.targets("ui://NOTES/ui%3A%2F%2Fv")) == []
    assert ResourceUris({"Notes": [], "b": ["x://1"]}, {}).published_uri("Notes", "x://1") == "tooltray://Notes/x%3A%2F%2F1"


view_uris = st.one_of(
    st.text(max_size=6).map("ui://".__add__),
    st.sampled_from(["ui://a/ui%3A%2F%2Fx", "ui://A/ui%3a%2f%2fx", "ui://a/x", "ui://x", "ui://a/ui%3A%2F%2Fa%2Fui%253A%252F%252Fx"]),
)
names_of_servers = st.one_of(st.sampled_from(["a", "A", "b", "a/b", "%61"]), st.text(min_size=1, max_size=3))
views = st.dictionaries(names_of_servers, st.lists(view_uris, unique=True, max_size=4), max_size=4)


@given(listed=views, named=views)
def test_every_view_has_a_published_uri_of_its_own_that_leads_back(listed: dict[str, list[str]], named: dict[str, list[str]]) -> None:
    uris = ResourceUris(listed, {}, views=named)
    pairs = list({(server, uri) for lists in (listed, named) for server, own in lists.items() for uri in own})
    published = [uris.published_uri(*pair) for pair in pairs]
    assert len(set(published)) == len(pairs)
    assert [list(uris.targets(each)) for each in published] == [[pair] for pair in pairs]
    assert all(each.startswith("ui://") for each in published)


@given(server=names_of_servers, uri=view_uris, listed=views)
def test_a_view_that_nobody_lists_has_a_uri_that_leads_back_too(server: str, uri: str, listed: dict[str, list[str]]) -> None:
    uris = ResourceUris({server: [], **listed}, {})
    published = uris.published_uri(server, uri)
    assert next(uris.targets(published), (server, uri)) == (server, uri)


def test_a_long_uri_is_published_whole() -> None:
    uri = f"ui://{'%/' * 50_000}"
    uris = both(uri)
    assert list(uris.targets(uris.published_uri("b", uri))) == [("b", uri)]


lists = st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.text(max_size=6), unique=True, max_size=4), max_size=4)


@given(lists)
def test_every_listed_uri_has_a_published_one_of_its_own_that_leads_back(listed: dict[str, list[str]]) -> None:
    uris = ResourceUris(listed, {})
    pairs = [(server, uri) for server, own in listed.items() for uri in own]
    published = [uris.published_uri(*pair) for pair in pairs]
    assert len(set(published)) == len(pairs)
    assert [next(uris.targets(each)) for each in published] == pairs
    assert all(urlsplit(each).scheme == "tooltray" for each, (_, uri) in zip(published, pairs, strict=True) if each != uri)


A, B = "skill://acme/a/SKILL.md", "skill://acme/b/SKILL.md"


async def test_a_first_part_stays_with_the_server_that_had_it_first(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("one", "Two")}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        uris = parts.skill_uris
        assert uris.published("one", A) == A
        assert uris.target(A) is None
        await uris.give([("one", A), ("one", "other://x")])
        await uris.give([("one", B), ("Two", A)])
        assert [uris.published("one", A), uris.published("Two", A)] == [A, "skill://Two/acme/a/SKILL.md"]
        assert [uris.target(A), uris.target("skill://Two/acme/a/SKILL.md")] == [("one", A), ("Two", A)]
        assert uris.target("skill://two/acme/a") == ("Two", "skill://acme/a")
        assert uris.target("skill://Two") is None
        await uris.forget()
        assert uris.target(A) is None
        await uris.give([("one", A), ("Two", A)])
        assert uris.published("one", A) == "skill://one/acme/a/SKILL.md"


async def test_no_uri_of_a_server_begins_with_the_name_of_another_one(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("acme", "other")}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        uris = parts.skill_uris
        await uris.give([("acme", "skill://acme/x"), ("other", A)])
        assert uris.published("acme", A) == "skill://acme/acme/a/SKILL.md"
        await uris.forget()
        await uris.give([("other", A)])
        assert uris.published("other", A) == "skill://other/acme/a/SKILL.md"
        assert uris.target("skill://other/acme/a/SKILL.md") == ("other", A)


async def test_resources_and_templates_under_this_scheme_follow_the_same_rule(tmp_path: Path) -> None:
    programs = {name: SkillServer() for name in ("one", "two")}
    for program in programs.values():
        program.resources, program.templates = [resource(A)], [template("skill://{+path}")]
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        for name in programs:
            await parts.servers.start(name)
            await parts.offers.listed(parts.servers.get(name)).wait()
        assert b"skill://one/acme/a/SKILL.md" in bytes(await parts.resources.listing())
        assert b"skill://two/{+path}" in bytes(await parts.resources.templates())
        assert parts.resources.target("skill://two/acme/a/x") == ("two", "skill://acme/a/x")
        assert parts.resources.target("skill://two/new/x") == ("two", "skill://new/x")
        assert parts.resources.published_uri("two", "skill://acme/y") == "skill://two/acme/y"
        await parts.presenter.reset_tool_names()
        assert parts.skill_uris.target(A) is None


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


async def test_uris_are_given_anew_only_where_tools_name_other_views(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"s": OfferingServer()}) as parts:
        published = PublishedUris(offers=parts.offers, bus=parts.parts.bus, skill_uris=parts.parts.skill_uris)
        states = [published.state]
        for uris in ((), ("ui://a",), ("ui://a", "ui://a"), ()):
            published.name_views("s", uris)
            states.append(published.state)
        assert [one == other for one, other in pairwise(states)] == [True, False, True, False]


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
        assert not client.state.read_views
        await parts.parts.tools.listed(parts.servers.get("b")).wait()
        reader = app_host()
        await parts.read(OF_B, client=reader)
        assert (await parts.read("data://1", client=reader))[0]["text"] == "b"


async def test_what_the_server_of_the_view_has_not_is_asked_of_each_other_one_once(tmp_path: Path) -> None:
    servers = with_views()
    servers["a"].handlers["resources/read"] = lambda copy, params: (
        {"contents": [{"uri": params["uri"], "text": "a"}]} if params["uri"] == "data://1" else error(-32002, "not here")
    )
    servers["b"].handlers["resources/read"] = lambda copy, params: error(-32002, "nor here")
    async with offer_parts(tmp_path, servers) as parts:
        await parts.start("a", "b")
        client = app_host()
        client.state.opens_view("b")
        assert (await parts.read("data://1", client=client))[0]["text"] == "a"
        assert "error" in await parts.ask("resources/read", uri="data://2", client=client)
        assert [server.count("resources/read") for server in servers.values()] == [2, 2]
        client.state.opens_view("a")  # with two open views, too
        assert (await parts.read("data://1", client=client))[0]["text"] == "a"


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
        assert refused["error"]["message"] == "several servers with open views have 'ui://v', and the request names none of them"
        assert (await parts.read(OF_B, client=client))[0]["text"] == "b"
