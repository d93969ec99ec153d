"""list_pages.py"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.nesting import depths_at_the_limit
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, error, raw, tool

from tooltray.catalogue.list_pages import (
    ENVELOPE_BYTES,
    LISTED_WITHIN_S,
    MAX_DEFINITION_BYTES,
    MAX_DEFINITIONS,
    MAX_PAGES,
    TooLong,
    is_too_long,
    list_all,
)
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.channels import LOOKED_AT_BYTES
from tooltray.protocol.envelope import Envelope


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    async with connected(ScriptedServer()) as relay:
        yield relay


def answer(relay: Relay, reply: Any) -> None:
    relay.server.handlers["tools/list"] = lambda copy, params: reply


def answer_pages(relay: Relay, pages: dict[str | None, tuple[list[Any], str | None]]) -> None:
    def page(copy: Any, params: Any) -> Any:
        tools, cursor = pages[params.get("cursor")]
        return {"tools": tools} | ({"nextCursor": cursor} if cursor is not None else {})

    relay.server.handlers["tools/list"] = page


async def names(relay: Relay) -> list[str]:
    return [json.loads(bytes(each))["name"] for each in await list_all(relay.client, "tools/list", "tools")]


async def refusal(relay: Relay) -> str:
    with pytest.raises(TooltrayError) as raised:
        await list_all(relay.client, "tools/list", "tools")
    return str(raised.value)


async def test_one_page_is_the_whole_list_and_its_definitions_stay_verbatim(relay: Relay) -> None:
    first, second = b'{"name":"a","n":1180591620717411303424, "f" : 1e400}', b'{"name":"b"}'
    answer(relay, raw(b'{"tools":[' + first + b"," + second + b'],"x":1}'))
    assert [bytes(each) for each in await list_all(relay.client, "tools/list", "tools")] == [first, second]


async def test_pages_are_asked_for_one_after_the_other(relay: Relay) -> None:
    answer_pages(relay, {None: ([tool("a")], "2"), "2": ([tool("b"), tool("c")], "3"), "3": ([tool("d")], None)})
    assert await names(relay) == ["a", "b", "c", "d"]
    assert [asked.params for asked in relay.server.asked.all if asked.method == "tools/list"] == [{}, {"cursor": "2"}, {"cursor": "3"}]


async def test_an_empty_cursor_ends_the_list_of_a_legacy_server(relay: Relay) -> None:
    answer_pages(relay, {None: ([tool("a")], "")})
    assert await names(relay) == ["a"]


async def test_an_empty_cursor_of_a_modern_server_is_one_like_any_other() -> None:
    async with connected(ScriptedServer(eras=("modern",))) as relay:
        answer_pages(relay, {None: ([tool("a")], ""), "": ([tool("b")], "")})
        assert await names(relay) == ["a", "b"]


@pytest.mark.parametrize("back_to", ["2", "3"])
async def test_a_cursor_that_comes_again_ends_the_list(relay: Relay, back_to: str) -> None:
    answer_pages(relay, {None: ([tool("a")], "2"), "2": ([tool("b")], "3"), "3": ([tool("c")], back_to)})
    assert await names(relay) == ["a", "b", "c"]


async def test_a_list_without_end_is_given_up(relay: Relay) -> None:
    relay.server.handlers["tools/list"] = lambda copy, params: {"tools": [], "nextCursor": str(int(params.get("cursor", "0")) + 1)}
    assert await refusal(relay) == f"its tools/list does not end: more than {MAX_PAGES} pages"


async def test_a_server_that_knows_no_tools_has_none(relay: Relay) -> None:
    answer(relay, error(-32601, "Method not found"))
    assert await list_all(relay.client, "tools/list", "tools") == []
    answer(relay, {})
    assert await list_all(relay.client, "tools/list", "tools") == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b'{"code":-32603,"message":"not ready"}', "it answered tools/list with an error: not ready"),
        (b'{"code":-32603}', "it answered tools/list with an error"),
        (b'{"message":"half \\ud800"}', "it answered tools/list with an error: half \ud800"),
        (b'"no"', "it answered tools/list with an error"),
    ],
)
async def test_an_error_is_told_in_its_own_words(relay: Relay, said: bytes, words: str) -> None:
    answer(relay, Envelope(error=raw(said).result))
    assert await refusal(relay) == words


@pytest.mark.parametrize(
    "result",
    [
        *(b"[]", b"null", b'"tools"', b'{"tools":{}}', b'{"tools":null}', b'{"tools":[],"nextCursor":5}', b'{"tools":{"a":"\\ud800"}}'),
        *(b'["\\ud800"]', b'{"x":"\\ud800","tools":{}}', b'{"x":"\\ud800","nextCursor":5}'),
    ],
)
async def test_what_is_no_page_is_told(relay: Relay, result: bytes) -> None:
    answer(relay, raw(result))
    assert (await refusal(relay)).startswith("its reply to tools/list is malformed")


async def test_half_a_character_in_one_description_costs_no_tool_and_no_byte(relay: Relay) -> None:
    first, second = (
        b'{"name":"a", "description":"cut \\ud83d"}',
        b'{"name":"b","n":1180591620717411303424,"u":"\xc3\xa9","l":[1, {"x":[]}]}',
    )
    answer(relay, raw(b'{"tools": [ ' + first + b" ,\t" + second + b' ] , "nextCursor":null}'))
    assert [bytes(each) for each in await list_all(relay.client, "tools/list", "tools")] == [first, second]


async def test_half_a_character_on_one_page_does_not_end_the_list(relay: Relay) -> None:
    pages = {None: raw(b'{"nextCursor":"2","tools":[{"name":"\\ud800"}]}'), "2": {"tools": [tool("b")]}}
    relay.server.handlers["tools/list"] = lambda copy, params: pages[params.get("cursor")]
    assert await names(relay) == ["\ud800", "b"]


async def test_half_a_character_in_a_page_without_tools_ends_the_list(relay: Relay) -> None:
    answer(relay, raw(b'{"x":"\\ud800"}'))
    assert await list_all(relay.client, "tools/list", "tools") == []


async def test_a_definition_nested_as_deep_as_a_message_may_be_is_kept_or_refused_in_words(relay: Relay) -> None:
    outcomes = set()
    for depth in depths_at_the_limit():
        answer(relay, raw(b'{"tools":[{"name":"a","x":' + b"[" * depth + b"]" * depth + b"}]}"))
        try:
            assert len(await list_all(relay.client, "tools/list", "tools")) == 1
            outcomes.add("kept")
        except TooltrayError:
            outcomes.add("refused")
    assert outcomes == {"kept", "refused"}


async def test_other_lists_are_read_from_where_they_stand(relay: Relay) -> None:
    relay.server.handlers["resources/templates/list"] = lambda copy, params: {"resourceTemplates": [{"uriTemplate": "x://{a}"}]}
    [template] = await list_all(relay.client, "resources/templates/list", "resourceTemplates")
    assert json.loads(bytes(template)) == {"uriTemplate": "x://{a}"}
    relay.server.handlers["prompts/list"] = lambda copy, params: error(-32603, "not ready")
    with pytest.raises(TooltrayError, match="it answered prompts/list with an error"):
        await list_all(relay.client, "prompts/list", "prompts")


# what is too long


def definitions(count: int, size_bytes: int = 0) -> list[Any]:
    return [tool(f"t{number}", description="x" * size_bytes) for number in range(count)]


async def too_long(relay: Relay) -> str:
    with pytest.raises(TooLong) as raised:
        await list_all(relay.client, "tools/list", "tools")
    return str(raised.value)


async def test_as_many_definitions_as_may_be_are_taken(relay: Relay) -> None:
    answer(relay, {"tools": definitions(MAX_DEFINITIONS)})
    assert len(await names(relay)) == MAX_DEFINITIONS


async def test_one_definition_more_is_refused(relay: Relay) -> None:
    answer(relay, {"tools": definitions(MAX_DEFINITIONS + 1)})
    assert await too_long(relay) == "its answer to tools/list is too large: more than 5,000 entries"


async def test_no_page_is_asked_for_beyond_the_limit(relay: Relay) -> None:
    page = definitions(3000)
    relay.server.handlers["tools/list"] = lambda copy, params: {"tools": page, "nextCursor": params.get("cursor", "") + "1"}
    assert "more than 5,000 entries" in await too_long(relay)
    assert relay.server.count("tools/list") == 2


async def test_pages_are_counted_together_by_their_size_too(relay: Relay) -> None:
    page = definitions(6, 2**20)
    relay.server.handlers["tools/list"] = lambda copy, params: {"tools": page, "nextCursor": params.get("cursor", "") + "1"}
    assert "more than 16 MiB" in await too_long(relay)
    assert relay.server.count("tools/list") == 3


async def test_a_page_that_is_too_large_by_itself_is_refused(relay: Relay) -> None:
    answer(relay, {"tools": definitions(1, MAX_DEFINITION_BYTES + ENVELOPE_BYTES)})
    assert "more than 16 MiB" in await too_long(relay)


async def test_a_page_that_is_much_too_large_is_not_even_read(relay: Relay) -> None:
    answer(relay, raw(b'{"tools":"' + b"x" * (LOOKED_AT_BYTES + 1) + b'"}'))  # would be nonsense
    assert "more than 16 MiB" in await too_long(relay)
    answer(relay, {"tools": [tool("a")]})
    assert await names(relay) == ["a"]


@in_fake_time
async def test_a_list_that_takes_for_ever_is_given_up() -> None:
    async def slow_page(copy: Any, params: Any) -> Any:
        await asyncio.sleep(50.0)
        return {"tools": [], "nextCursor": params.get("cursor", "") + "1"}

    async with connected(ScriptedServer()) as relay:
        relay.server.handlers["tools/list"] = slow_page
        assert await refusal(relay) == f"its tools/list does not end: it was not complete within {LISTED_WITHIN_S:g} s"


def test_so_much_from_the_disk_is_not_taken_either() -> None:
    assert not is_too_long([Raw(b"{}")] * MAX_DEFINITIONS)
    assert is_too_long([Raw(b"{}")] * (MAX_DEFINITIONS + 1))
    assert is_too_long([Raw(b"x" * MAX_DEFINITION_BYTES), Raw(b"{}")])
