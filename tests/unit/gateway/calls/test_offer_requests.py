"""offer_requests.py: completion, and further pages of lists"""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client
from tests.fakes.offering import OfferingServer, OfferParts, offer_parts, prompt, started_offers, template
from tests.fakes.scripted_server import error, raw

from tooltray.gateway.calls.offer_requests import is_continued
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import SERVER_INFO

ARGUMENT = {"name": "n", "value": "v"}

US = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}


def two() -> dict[str, OfferingServer]:
    return {
        name: OfferingServer(prompts=[prompt("same"), prompt(f"of_{name}")], templates=[template("x://{i}"), template(f"{name}://{{i}}")])
        for name in ("a", "b")
    }


async def completed(parts: OfferParts, **ref: Any) -> Any:
    """The reference as the server was asked for it."""
    reply = await parts.ask("completion/complete", ref=ref, argument=ARGUMENT)
    [value] = reply["result"]["completion"]["values"]
    return json.loads(value)


async def test_a_completion_goes_to_the_server_and_under_its_own_name_for_what_is_completed(tmp_path: Path) -> None:
    programs = two()
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        await parts.prompt_names()
        assert await completed(parts, type="ref/prompt", name="b_same", title="t") == {"type": "ref/prompt", "name": "same", "title": "t"}
        assert await completed(parts, type="ref/prompt", name="of_b") == {"type": "ref/prompt", "name": "of_b"}
        ref = {"type": "ref/resource", "uri": "x://{i}"}
        assert await completed(parts, type="ref/resource", uri="tooltray://b/x%3A%2F%2F{i}") == ref
        assert await completed(parts, type="ref/resource", uri="b://{i}") == {"type": "ref/resource", "uri": "b://{i}"}
        assert await completed(parts, type="ref/resource", uri="b://5") == {"type": "ref/resource", "uri": "b://5"}
        assert (programs["a"].count("completion/complete"), programs["b"].count("completion/complete")) == (0, 5)
        assert all(asked.params["argument"] == ARGUMENT for asked in programs["b"].asked.all if asked.method == "completion/complete")


@pytest.mark.parametrize(
    ("ref", "message"),
    [({"type": "ref/prompt", "name": "no"}, "Unknown prompt: no"), ({"type": "ref/resource", "uri": "no://x"}, "Unknown resource: no://x")],
)
async def test_what_nobody_has_cannot_be_completed(tmp_path: Path, ref: Any, message: str) -> None:
    async with started_offers(tmp_path, two()) as parts:
        assert await parts.ask("completion/complete", ref=ref) == {"error": {"code": -32602, "message": message}}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": 5},
        {"ref": {}},
        {"ref": {"type": "ref/tool", "name": "x"}},
        {"ref": {"type": [1]}},
        {"ref": {"type": "ref/prompt", "name": 5}},
    ],
)
async def test_a_reference_that_is_none_is_refused(tmp_path: Path, params: Any) -> None:
    async with offer_parts(tmp_path, two()) as parts:
        assert (await parts.ask("completion/complete", **params))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("is_modern", "result"),
    [(False, {"completion": {"values": []}}), (True, {"resultType": "complete", "_meta": US, "completion": {"values": []}})],
)
async def test_a_server_that_completes_nothing_has_no_values(tmp_path: Path, is_modern: bool, result: Any) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.handlers["completion/complete"] = lambda copy, params: error(-32601, "Method not found")
    async with started_offers(tmp_path, {"s": program}) as parts:
        ref = {"type": "ref/prompt", "name": "p"}
        assert await parts.ask("completion/complete", ref=ref, is_modern=is_modern) == {"result": result}


@pytest.mark.parametrize("said", [b'{"code":-32603,"message":"m"}', b'{"code":-1,"message":""}'])
async def test_other_errors_are_the_servers_own(tmp_path: Path, said: bytes) -> None:
    program = OfferingServer(prompts=[prompt("p")])

    def fail(copy: Any, params: Any) -> Any:
        reply = raw(said)
        reply.error, reply.result = reply.result, reply.error
        return reply

    program.handlers["completion/complete"] = fail
    async with started_offers(tmp_path, {"s": program}) as parts:
        reply = await parts.ask("completion/complete", ref={"type": "ref/prompt", "name": "p"})
        assert reply == {"error": json.loads(said)}


@pytest.mark.parametrize(
    ("params", "is_so"),
    [(b"", False), (b"{}", False), (b'{"cursor":null}', False), (b'{"cursor":""}', False), (b'{"cursor":"a"}', True)],
)
def test_a_list_is_continued_where_a_client_gives_a_cursor(params: bytes, is_so: bool) -> None:
    assert is_continued(exchange_of(Envelope(method="tools/list", params=Raw(params)), Client())) is is_so
