"""sessions/own_caller.py"""

import json

import pytest
from msgspec import Raw

from tooltray.sessions.own_caller import OwnCaller


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
async def test_nobody_is_there_to_be_asked_or_told(method: str) -> None:
    caller = OwnCaller()
    assert json.loads(bytes(caller.capabilities)) == {}
    assert not caller.can_answer(method)
    reply = await caller.ask(method, Raw(b"{}"))
    assert json.loads(bytes(reply.error)) == {"code": -32601, "message": f"nobody can answer {method} here"}
    caller.tell("notifications/progress", Raw(b"{}"))
