"""Where no desktop is, the AI client's own person is asked about a tool call, in the way of the client's era."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import FORM, desk
from tests.fakes.scripted_server import raw, text

from tooltray.approvals.waiting_approvals import KEPT_FOR_S
from tooltray.events import ApprovalEnded
from tooltray.protocol.envelope import failure

YES = {"action": "accept", "content": {"answer": "once"}}


@pytest.fixture
def a_person_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits: however quick an answer is, a person may have given it."""
    monkeypatch.setattr("tooltray.sessions.elicitation_form.AT_ONCE_S", 0.0)


# legacy clients


async def test_a_legacy_client_is_asked_where_no_desktop_is(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "session"}})
        assert "result" in await here.call(client=client, arguments={"a": 1})
        [(method, params)] = client.asked.all
        assert method == "elicitation/create"
        assert "Own wants to call the tool 'write_it' of the server 's' (write)." in params["message"]
        assert params["requestedSchema"]["properties"]["answer"]["enum"] == ["refuse", "once", "session", "always"]
        assert "result" in await here.call(client=client)
        assert len(client.asked.all) == 1


NO_YES: list[Any] = [
    {"action": "decline"},
    {"action": "accept"},
    {"action": "accept", "content": {"answer": "refuse"}},
    {"action": "accept", "content": {"answer": "reads"}},
    {"action": "accept", "content": {"answer": ["once"]}},
]


@pytest.mark.parametrize("answer", NO_YES)
async def test_what_a_person_says_and_is_no_clear_yes_is_a_no(tmp_path: Path, answer: Any, a_person_answers_at_once: None) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer=answer)
        assert await here.refusal(client=client) == "the person refused this call of 'write_it'"
        assert (here.calls, await here.parts.presenter.get_approvals()) == (0, [])


@pytest.mark.parametrize("answer", [*NO_YES, {"action": "cancel"}, "yes"])
async def test_a_client_that_says_no_at_once_has_asked_nobody_and_the_call_can_still_be_allowed(tmp_path: Path, answer: Any) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer=answer)
        refusal = await here.refusal(client=client)
        assert "Its AI client was asked, and nobody answered there. To allow it, a person types in a terminal: tooltray approve" in refusal
        [waiting] = await here.parts.presenter.get_approvals()
        assert f"tooltray approve {waiting.id} " in refusal
        await here.parts.presenter.answer_approval(waiting.id, "once")
        assert "result" in await here.call(client=client)
        assert len(client.asked.all) == 1


async def test_a_form_that_was_left_alone_is_nobodys_no_however_long_it_was_there(tmp_path: Path, a_person_answers_at_once: None) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer={"action": "cancel"})
        assert "nobody answered there" in await here.refusal(client=client)


async def test_a_yes_counts_however_quick_it_is(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer=YES)
        assert "result" in await here.call(client=client)


async def test_a_client_that_cannot_ask_after_all_gets_the_command(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer=failure(-32600, "no"))
        assert "tooltray approve s write_it" in await here.refusal(client=client)


async def test_a_clients_answer_that_cannot_be_written_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
        with here.unwritable():
            assert "tooltray approve s write_it" in await here.refusal(client=client)
        assert len(client.asked.all) == 3
        assert "cannot be saved" in client.asked.all[1][1]["message"]


async def test_a_call_that_a_client_is_asked_about_can_be_answered_elsewhere(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:

        async def wait(method: str) -> Any:
            await asyncio.get_running_loop().create_future()

        client = here.session("Own", capabilities=FORM, answer=wait)
        call = here.calling(client=client)
        await here.answer("once")
        assert "result" in await call


async def test_nonsense_of_any_depth_is_no_yes_of_a_client(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer=raw(b"[" * 100_000 + b"]" * 100_000))
        assert "nobody answered there" in await here.refusal(client=client)


# modern clients


async def modern(here: Any, client: Any, state: str = "", answer: Any = None, **params: Any) -> dict[str, Any]:
    rounds = {"requestState": state, "inputResponses": {"1": answer}} if state else {}
    return dict(await here.call(client=client, is_modern=True, **rounds, **params))


async def test_a_modern_client_is_asked_in_its_way_and_comes_back_with_the_answer(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own")
        first = (await modern(here, client, arguments={"text": "x"}))["result"]
        assert first["resultType"] == "input_required"
        assert "write_it" in first["inputRequests"]["1"]["params"]["message"]
        assert here.calls == 0
        last = await modern(here, client, first["requestState"], YES, arguments={"text": "x"})
        assert last["result"]["content"][0]["text"] == "x"
        assert "requestState" not in here.program.asked.all[-1].params
        assert "inputResponses" not in here.program.asked.all[-1].params


async def test_a_modern_no_is_a_no(tmp_path: Path, a_person_answers_at_once: None) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own")
        first = (await modern(here, client))["result"]
        last = await modern(here, client, first["requestState"], {"action": "decline"})
        assert "the person refused" in last["error"]["message"]


async def test_a_modern_client_that_says_no_at_once_has_asked_nobody(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own")
        first = (await modern(here, client))["result"]
        last = await modern(here, client, first["requestState"], {"action": "decline"})
        assert "nobody answered there" in last["error"]["message"]


async def test_an_old_yes_does_not_let_other_arguments_through(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own")
        first = (await modern(here, client, arguments={"text": "good"}))["result"]
        second = (await modern(here, client, first["requestState"], YES, arguments={"text": "bad"}))["result"]
        assert second["resultType"] == "input_required"
        assert second["requestState"] != first["requestState"]
        assert here.calls == 0


async def test_a_modern_client_that_cannot_be_asked_gets_the_command(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        meta: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {}}
        assert "tooltray approve s write_it" in await here.refusal(client=here.session("Own"), is_modern=True, _meta=meta)


@pytest.mark.parametrize("spoken", [("legacy",), ("modern",)])
async def test_a_call_whose_server_asks_more_is_not_asked_about_again(tmp_path: Path, spoken: tuple[str, ...]) -> None:
    async def ask(copy: Any, params: Any) -> Any:
        if spoken == ("legacy",):
            return text(str(await copy.ask("elicitation/create", {"message": "sure?", "requestedSchema": {"properties": {}}})))
        if "requestState" in params:
            return text("done") | {"resultType": "complete"}
        return {"resultType": "input_required", "inputRequests": {"1": {"method": "elicitation/create"}}, "requestState": "theirs"}

    async with desk(tmp_path, eras=spoken) as here:
        here.program.calls["write_it"] = ask
        call = here.calling(is_modern=True)
        await here.answer("once")
        state = (await call)["result"]["requestState"]
        again = await modern(here, here.client, state, {"action": "accept"})
        assert again["result"]["resultType"] == "complete"
        assert here.questions == 1
        once_more = here.calling(is_modern=True, requestState=state, inputResponses={"1": {}})
        await here.answer("refuse")
        assert "error" in await once_more


@pytest.mark.parametrize("result", [b'{"resultType":7}', b'{"resultType":"complete"}', b'{"a":"' + b"x" * 300_000 + b'"}'])
async def test_a_modern_call_that_is_over_leaves_no_yes_behind(tmp_path: Path, result: bytes) -> None:
    async with desk(tmp_path, eras=("modern",)) as here:
        here.program.calls["write_it"] = lambda copy, params: raw(result)
        call = here.calling(is_modern=True)
        await here.answer("once")
        await call
        assert not here.parts.wheel.of(KEPT_FOR_S)


async def test_a_modern_call_that_fails_leaves_no_yes_behind(tmp_path: Path) -> None:
    async with desk(tmp_path, eras=("modern",)) as here:
        here.program.tools = []
        call = here.calling(is_modern=True)
        await here.answer("once")
        assert "error" in await call
        assert not here.parts.wheel.of(KEPT_FOR_S)


async def test_a_modern_call_that_is_given_up_withdraws_its_question(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own")
        await modern(here, client)
        [question] = await here.parts.presenter.get_approvals()
        client.held.close()
        await here.parts.heard.event(ApprovalEnded, id=question.id)
        assert await here.parts.presenter.get_approvals() == []
