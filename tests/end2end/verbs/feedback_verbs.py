"""What models report, and what a person answers."""

import asyncio
import contextlib

from tests.end2end.verbs.hub_at_work import SOON_S, Checks

from tooltray.carriers.control.control_client import ControlClient
from tooltray.foundation.home.home import Home


@contextlib.asynccontextmanager
async def reported(hub, summary):
    """A model's report that waits although nobody could be asked; gives its id, and what asks again and returns the first words."""
    asking = ControlClient.connect(Home(hub.world.root))
    params = {"name": "collect_feedback", "arguments": {"work_summary": summary}}

    async def ask():
        return (await asyncio.to_thread(asking.call, "call_tool", timeout_s=SOON_S, **params))["content"][0]["text"]

    assert "Nobody can be asked" in await ask()
    await hub.until(lambda kind, data: kind == "FeedbackAsked" and data["request"]["summary"] == summary)
    yield next(each["id"] for each in await hub("get_feedback_requests") if each["summary"] == summary), ask
    asking.close()


async def answer_report(hub):
    async with reported(hub, "answer me") as (id, ask):
        assert "is empty" in await hub.refusal("answer_feedback", id=id, text=" ")
        await hub("answer_feedback", id=id, text="Yes")
        assert await ask() == "Yes"
    assert "has ended" in await hub.refusal("answer_feedback", id=id, text="Yes")


async def dismiss_report(hub):
    async with reported(hub, "close me") as (id, _):
        await hub("dismiss_feedback", id=id)
    assert await hub("get_feedback_requests") == []


async def report_history(hub):
    await dismiss_report(hub)
    entries = await hub("get_feedback_history", limit=1)
    assert [(each["summary"], each["outcome"]) for each in entries] == [("close me", "dismissed")]


async def ready_answers(hub):
    shipped = await hub("get_ready_answers")
    await hub("set_ready_answers", answers=["Ship it"])
    assert await hub("get_ready_answers") == ["Ship it"]
    await hub("set_ready_answers", answers=[])
    assert await hub("get_ready_answers") == shipped


CHECKS: Checks = {
    "get_feedback_requests": dismiss_report,
    "answer_feedback": answer_report,
    "dismiss_feedback": dismiss_report,
    "get_feedback_history": report_history,
    "get_ready_answers": ready_answers,
    "set_ready_answers": ready_answers,
}
