"""A tool of the hub itself asks a client of either era in its way."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import FORM, Desk, desk

from tooltray.protocol.envelope import Envelope, dump, load, success
from tooltray.protocol.sessions.exchange import Exchange

QUESTION = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}


async def ask(exchange: Exchange) -> Envelope:
    answer = await exchange.ask("elicitation/create", dump(QUESTION))
    return success({"content": [], "answer": load(answer.result)})


def with_own(here: Desk) -> None:
    here.parts.own["s", "write_it"] = ask


@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_tool_of_the_hub_asks_a_client_of_either_era(tmp_path: Path, is_modern: bool) -> None:
    async with desk(tmp_path, autoApprove=["all"]) as here:
        with_own(here)
        answer: Any = {"action": "accept", "content": {}}
        client = here.session("Own", capabilities=FORM, answer=answer)
        reply = await here.call(client=client, is_modern=is_modern)
        if is_modern:
            assert reply["result"]["inputRequests"] == {"1": {"method": "elicitation/create", "params": QUESTION}}
            state = reply["result"]["requestState"]
            reply = await here.call(client=client, is_modern=True, requestState=state, inputResponses={"1": answer})
        assert reply["result"]["answer"] == answer
        assert here.calls == 0
