"""open_questions.py; what ends a server's question is in test_mcp_client.py"""

import pytest

from tooltray.protocol.envelope import Envelope, success
from tooltray.servers.upstream.open_questions import OpenQuestions


async def test_a_time_that_the_asked_one_has_missed_is_not_the_end_of_the_call() -> None:
    async def late() -> Envelope:
        raise TimeoutError("too late")

    with pytest.raises(TimeoutError, match="too late"):
        await OpenQuestions().ask(late(), ["call"])


async def test_an_answer_comes_with_or_without_a_call_and_a_call_that_ends_later_ends_nothing() -> None:
    questions = OpenQuestions()

    async def answer() -> Envelope:
        return success({"action": "accept"})

    for calls in ([], ["call"]):
        assert b"accept" in bytes((await questions.ask(answer(), calls)).result)
    questions.end_call("call")
