"""The control channel: every verb by its name, its arguments checked, its outcome as JSON, the events as notifications."""

import asyncio
import inspect
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from types import TracebackType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec.structs import replace
from tests.fakes.fake_channel import FakeChannel, line
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_core_presenter import FakeCorePresenter
from tests.fakes.heard import Record
from tests.fakes.verb_table import VERBS

from tooltray import __version__
from tooltray.carriers.control.control_session import ControlSession, HubControl
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, Asker, NeedsPassphrase, confirm_widening
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import (
    EVENTS,
    ActivityWritten,
    ApprovalAsked,
    ApprovalEnded,
    ClientListUpdated,
    ConfigChanged,
    ElicitationAsked,
    ElicitationEnded,
    EventBus,
    FeedbackAsked,
    FeedbackEnded,
    GrantsChanged,
    ImportProgressed,
    LogWritten,
    NpmRegistryChanged,
    ProblemReported,
    PromptListChanged,
    ResourceListChanged,
    ResourceUpdated,
    ServerChanged,
    ServerFailed,
    ServerFilesChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    ServerTestOutput,
    SessionListChanged,
    SessionsChanged,
    ToolCallResult,
    ToolListChanged,
    TryProgressed,
)
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityFilter, LogFilter
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.clients import Scope
from tooltray.foundation.snapshots.diagnosis import Diagnosis
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.snapshots.hub import HubSnapshot, NpmRegistryStatus, RegistryMeasurement
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationSnapshot, FeedbackAttachment, FeedbackSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse, ToolSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel

SERVER = ServerSnapshot(name="s", transport="stdio", target="npx s", state=ServerState.ERROR, problem=Problem("t", "m", "h"), pids=(1, 2))
VALUES: dict[Any, Any] = {
    str: "text",
    int: 3,
    bool: True,
    float: 0.5,
    Mapping[str, str]: {"a": "b"},
    Mapping[str, Mapping[str, FieldValue]]: {"a": {"b": "c"}},
    Mapping[str, FieldValue]: {"a": ["x"], "b": 0.5},
    list[str]: ["x"],
    list[dict[str, Any]]: [{"a": 1}],
    Sequence[str]: ["x"],
    Scope: "call",
    ActivityFilter: ActivityFilter(text="x", kinds=("call",)),
    list[str] | None: ["x"],
    Sequence[FeedbackAttachment]: [FeedbackAttachment("a.png", "image/png", "eA==")],
    LogFilter: LogFilter(text="x", levels=("error",)),
    MCPToolCall: MCPToolCall("1", "t", {"a": [1]}, "s"),
    MCPToolResponse: MCPToolResponse("t", "s", "c", "ok", 0.5, 1, 2, "1", {"content": []}),
}


class Control:
    """A front end at one end of a control session. Use as a context manager."""

    def __init__(self, *, wants_events: bool = False, has_window: bool = True, asker: Asker = UNATTENDED) -> None:
        self.presenter, self.bus, self.channel = FakeCorePresenter(), EventBus(), FakeChannel()
        self.done: Record[str] = Record()
        self.may_hand_over = asyncio.Event()
        control = HubControl(
            kind="serve",
            execution_id="e1",
            stop=lambda: self.done.add("stop"),
            hand_over=self._hand_over,
            raise_window=(lambda link: self.done.add(f"raise {link}")) if has_window else None,
        )
        self.session = ControlSession(
            presenter=self.presenter,  # type: ignore[arg-type]
            bus=self.bus,
            deadlines=DeadlineWheel(),
            control=control,
            wants_events=wants_events,
            asker=asker,
        )
        self.session.dispatcher.attach(self.channel)
        self._keeper, self._ids = TaskKeeper(), itertools.count(1)

    async def _hand_over(self) -> None:
        self.done.add("hand over begun")
        await self.may_hand_over.wait()
        self.done.add("handed over")

    async def __aenter__(self) -> "Control":
        self._running = self._keeper.spawn(self.session.run(), name="control")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.session.dispatcher.close("gone")
        await self._running

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        id = next(self._ids)
        self.session.dispatcher.feed(line(id=id, method=method, **({} if params is None else {"params": params})))
        return await self.channel.reply(id)


def sample(hint: Any) -> Any:
    """A JSON value for a parameter of a verb."""
    if hint in VALUES:
        return VALUES[hint]
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    if type(None) in getattr(hint, "__args__", ()):
        return sample(next(each for each in hint.__args__ if each is not type(None)))
    if isinstance(hint, UnionType):
        return sample(get_args(hint)[0])
    return {"a": {"b": [1]}}  # a mapping


@pytest.mark.parametrize(("asker", "is_allowed"), [(PERSON, True), (UNATTENDED, False)])
@in_fake_time
async def test_what_widens_is_confirmed_at_a_terminal_and_nowhere_else(asker: Asker, is_allowed: bool) -> None:
    async def allow_folder(path: str) -> str:
        await confirm_widening("Allowing a folder")
        return path

    async with Control(asker=asker) as control:
        control.presenter.verbs["allow_folder"] = allow_folder
        answer = await control.ask("allow_folder", {"path": "/p"})
        if is_allowed:
            assert answer["result"] == "/p"
        else:
            assert answer["error"]["data"]["title"] == "Allowing a folder needs a person at a terminal"


@in_fake_time
async def test_a_refusal_that_a_passphrase_would_help_says_so_and_a_wait_is_told() -> None:
    async def allow_folder(path: str) -> str:
        control.session.tell_of_wait(120.0)
        raise NeedsPassphrase("It needs the passphrase")

    async with Control(asker=PERSON) as control:
        control.presenter.verbs["allow_folder"] = allow_folder
        answer = await control.ask("allow_folder", {"path": "/p"})
        assert answer["error"]["data"]["kind"] == "passphrase"
        assert {"jsonrpc": "2.0", "method": "waits_for_person", "params": {"seconds": 120.0}} in control.channel.messages


@pytest.mark.parametrize("verb", VERBS)
@in_fake_time
async def test_every_verb_is_reached_by_its_name_with_all_its_arguments(verb: str) -> None:
    real = VERBS[verb]
    hints = get_type_hints(real)
    arguments = {name: sample(hints[name]) for name in list(inspect.signature(real).parameters)[1:]}
    async with Control() as control:
        assert await control.ask(verb, msgspec.to_builtins(arguments)) == {"jsonrpc": "2.0", "id": 1, "result": None}
        assert control.presenter.calls.all == [(verb, arguments)]


@pytest.mark.parametrize("params", [None, {}, []])
@in_fake_time
async def test_a_verb_that_needs_nothing_may_be_given_nothing(params: Any) -> None:
    async with Control() as control:
        assert (await control.ask("get_snapshot", params))["result"] is None
        assert (await control.ask("diagnose", params))["result"] is None
        assert control.presenter.calls.all == [("get_snapshot", {}), ("diagnose", {})]


@pytest.mark.parametrize(
    ("verb", "params"),
    [
        ("start_server", {}),
        ("start_server", None),
        ("start_server", {"name": 5}),
        ("start_server", {"name": None}),
        ("start_server", {"name": "s", "more": 1}),
        ("start_server", {"self": "s"}),
        ("start_server", ["s"]),
        ("get_server_log", {"name": "s", "lines": "ten"}),
        ("set_mcp_enabled", {"enabled": 1}),
        ("set_mcp_enabled", {"enabled": "true"}),
        ("add_mcp_server", {"name": "s", "config": []}),
        ("call_tool", {"name": "t", "arguments": "x"}),
    ],
)
@in_fake_time
async def test_wrong_arguments_are_told_and_the_verb_is_not_called(verb: str, params: Any) -> None:
    async with Control() as control:
        error = (await control.ask(verb, params))["error"]
        assert error["code"] == -32602
        assert error["message"]
        assert control.presenter.calls.all == []


@pytest.mark.parametrize("request_of", [b'"get_tools","params":{"server":%b}', b'"call_tool","params":{"name":"t","arguments":{"a":%b}}'])
@in_fake_time
async def test_arguments_of_any_depth_are_taken_or_refused_and_never_a_failure_of_ours(request_of: bytes) -> None:
    async with Control() as control:
        depths = [100, *range(880, 1010), 50_000]
        for depth in depths:
            deep = b"[" * depth + b"]" * depth
            request = b'{"jsonrpc":"2.0","id":%d,"method":%b}\n' % (depth, request_of % deep)
            asyncio.get_running_loop().call_soon(control.session.dispatcher.feed, request)  # where the stack is as low as in a hub
        await control.channel.message(len(depths))
        assert {reply.get("error", {}).get("code") for reply in control.channel.messages} <= {None, -32602, -32700}


@pytest.mark.parametrize("method", ["no_such_verb", "_config", "__init__", "answer", "snapshot", "hub/no_such", "tools/list", "relay"])
@in_fake_time
async def test_what_is_no_verb_is_not_found(method: str) -> None:
    async with Control() as control:
        assert (await control.ask(method, {}))["error"] == {"code": -32601, "message": "Method not found", "data": method}


@in_fake_time
async def test_an_expected_failure_arrives_in_all_its_parts() -> None:
    async with Control() as control:
        control.presenter.answers["start_server"] = TooltrayError("'s' is not running", "exit code 1", "See its log.")
        assert (await control.ask("start_server", {"name": "s"}))["error"] == {
            "code": -32000,
            "message": "'s' is not running: exit code 1. See its log",
            "data": {"title": "'s' is not running", "message": "exit code 1", "hint": "See its log."},
        }


@in_fake_time
async def test_a_failure_in_the_words_of_the_ui_arrives_as_text() -> None:
    async with Control() as control:
        control.presenter.answers["start_server"] = TooltrayError(Phrase("{file} cannot be read", file="x"), Phrase("it is empty"))
        data = (await control.ask("start_server", {"name": "s"}))["error"]["data"]
        assert data == {"title": "x cannot be read", "message": "it is empty", "hint": ""}


@pytest.mark.expected_warnings("answering start_server failed")
@in_fake_time
async def test_a_bug_in_a_verb_is_an_internal_error_and_the_next_one_is_answered() -> None:
    async with Control() as control:
        control.presenter.answers["start_server"] = KeyError("oops")
        assert (await control.ask("start_server", {"name": "s"}))["error"]["code"] == -32603
        assert "result" in await control.ask("get_mcp_enabled")


@in_fake_time
async def test_snapshots_arrive_as_objects_with_the_names_of_their_fields() -> None:
    async with Control() as control:
        control.presenter.answers["get_snapshot"] = HubSnapshot(1, "9", False, 2, 3.5, (SERVER,), (Problem(Phrase("{name}", name="n")),))
        result = (await control.ask("get_snapshot"))["result"]
        assert (result["pid"], result["is_paused"], result["started_at"]) == (1, False, 3.5)
        assert result["notices"] == [{"title": "n", "message": "", "hint": "", "code": ""}]
        (server,) = result["servers"]
        assert (server["state"], server["pids"]) == ("error", [1, 2])
        assert server["problem"] == {"title": "t", "message": "m", "hint": "h", "code": ""}


@in_fake_time
async def test_lists_of_snapshots_and_what_the_doctor_found_arrive_too() -> None:
    async with Control() as control:
        control.presenter.answers["get_tools"] = [ToolSnapshot("n", "s", "o", "d", "read", True, False)]
        tool = (await control.ask("get_tools"))["result"][0]
        assert (tool["original_name"], tool["category"], tool["is_approved"]) == ("o", "read", False)
        control.presenter.answers["diagnose"] = [_diagnosis()]
        assert (await control.ask("diagnose"))["result"][0]["server"] == "s"


def _diagnosis() -> Diagnosis:
    values: dict[Any, Any] = {str: "", bool: False, int: 0}
    return Diagnosis(**{**{name: values.get(hint) for name, hint in get_type_hints(Diagnosis).items()}, "server": "s"})


@in_fake_time
async def test_results_of_tools_keep_what_json_can_hold() -> None:
    async with Control() as control:
        control.presenter.answers["call_tool"] = {"big": 2**70, "half": "\ud800", "infinite": float("inf")}
        reply = await control.ask("call_tool", {"name": "t", "arguments": {"a": 2**70, "b": "\udfff"}})
        assert reply["result"] == {"big": 2**70, "half": "\ud800", "infinite": None}
        assert control.presenter.calls.all == [("call_tool", {"name": "t", "arguments": {"a": 2**70, "b": "\udfff"}})]


@in_fake_time
async def test_verbs_run_side_by_side() -> None:
    async with Control() as control:
        control.session.dispatcher.feed(line(id=1, method="hub/hand_over"))
        await control.done.wait()
        control.session.dispatcher.feed(line(id=2, method="get_mcp_enabled"))
        await control.channel.reply(2)
        assert 1 not in control.channel.replies
        control.may_hand_over.set()
        await control.channel.reply(1)


# the hub itself


@in_fake_time
async def test_info_tells_which_hub_answers() -> None:
    async with Control() as control:
        info = {"pid": os.getpid(), "version": __version__, "kind": "serve", "execution_id": "e1"}
        assert (await control.ask("hub/info", {}))["result"] == info


@in_fake_time
async def test_stop_is_answered_and_done() -> None:
    async with Control() as control:
        assert (await control.ask("hub/stop", {}))["result"] == {}
        assert control.done.all == ["stop"]


@in_fake_time
async def test_handing_over_is_answered_when_it_is_done() -> None:
    async with Control() as control:
        control.may_hand_over.set()
        assert (await control.ask("hub/hand_over", {}))["result"] == {}
        assert control.done.all == ["hand over begun", "handed over"]


@in_fake_time
async def test_a_window_is_raised_where_there_is_one() -> None:
    async with Control() as control:
        assert (await control.ask("hub/raise_window", {}))["result"] == {}
        assert (await control.ask("hub/raise_window", {"link": "tooltray://open"}))["result"] == {}
        assert control.done.all == ["raise ", "raise tooltray://open"]
    async with Control(has_window=False) as control:
        assert (await control.ask("hub/raise_window", {}))["error"]["code"] == -32601


# events

ALL = [
    ServerStarted("s"),
    ServerStopped("s"),
    ToolCallResult(MCPToolResponse("t", "s", "c", "ok", 0.5, 1, 2)),
    ConfigChanged({"s": {"command": "npx", "env": {"A": "${secret:s/A}"}}}, ("s",), True),
    ServerStatusChanged("s", "running"),
    ClientListUpdated(),
    ServerChanged(SERVER),
    ServerRemoved("s"),
    ToolListChanged("s"),
    PromptListChanged("s"),
    ResourceListChanged("s"),
    SessionsChanged(3),
    ProblemReported(Problem("t", "m", "h"), "s"),
    ServerFailed("s", Problem("t", "m", "h"), True, 2, 1),
    ElicitationAsked(
        ElicitationSnapshot("1", "s", "form", "m", 1.5, fields=(ElicitationField("x", "X", AnswerKind.TEXT, default=("a",)),))
    ),
    ElicitationEnded("1"),
    SessionListChanged(),
    ApprovalAsked(ApprovalSnapshot("1", "s", "t", "c", "write", "{}", "w", 1.5, ("once",))),
    ApprovalEnded("1"),
    GrantsChanged(),
    FeedbackAsked(FeedbackSnapshot("1", "c", "/p", "p", "# s", 1.5, 2.5)),
    FeedbackEnded("1"),
    ServerFilesChanged(),
    ImportProgressed(1, 2, "s"),
    ActivityWritten(7),
    ServerTestOutput("1", ("a line",)),
    LogWritten("server:s"),
    TryProgressed("a", 1.0, 2.0, "m"),
    ResourceUpdated("x://1"),
    NpmRegistryChanged(NpmRegistryStatus("https://r.example/", measurements=(RegistryMeasurement("https://r.example/", "R", "mirror"),))),
]


def test_every_kind_of_event_is_tried_here() -> None:
    assert {type(event) for event in ALL} == set(EVENTS)


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
@in_fake_time
async def test_every_event_arrives_as_a_notification(event: Any) -> None:
    async with Control(wants_events=True) as control:
        control.bus.publish(event)
        told = await control.channel.notification("event")
        assert told["type"] == type(event).__name__
        assert set(told["data"]) == set(event.__struct_fields__)


@in_fake_time
async def test_the_data_of_an_event_is_that_of_its_fields() -> None:
    async with Control(wants_events=True) as control:
        control.bus.publish(ServerChanged(replace(SERVER, detail=Phrase("{count} wait", count=2))))
        server = (await control.channel.notification("event"))["data"]["server"]
        assert (server["name"], server["state"], server["problem"]["hint"]) == ("s", "error", "h")
        assert server["detail"] == "2 wait"


@in_fake_time
async def test_events_come_only_where_they_are_wanted_only_while_they_are_read_and_only_until_the_end() -> None:
    async with Control() as control:
        control.bus.publish(SessionsChanged(1))
        await control.ask("get_mcp_enabled")
        assert len(control.channel.messages) == 1
    async with Control(wants_events=True) as control:
        control.session.dispatcher.pause_writing()
        control.bus.publish(SessionsChanged(1))
        control.session.dispatcher.resume_writing()
        control.bus.publish(SessionsChanged(2))
        assert [message["params"]["data"] for message in control.channel.messages] == [{"session_count": 2}]
    control.bus.publish(SessionsChanged(3))
    assert len(control.channel.messages) == 1


@in_fake_time
async def test_notifications_of_a_front_end_are_taken_in_silence() -> None:
    async with Control() as control:
        control.session.dispatcher.feed(line(method="anything") + json.dumps({"jsonrpc": "2.0", "method": "hub/stop"}).encode() + b"\n")
        await control.ask("get_mcp_enabled")
        assert (len(control.channel.messages), control.done.all) == (1, [])
