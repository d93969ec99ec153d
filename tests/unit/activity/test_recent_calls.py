"""activity/recent_calls.py: the last tool calls, without what was in them."""

from tooltray.activity.recent_calls import MOST_KEPT, RecentCalls
from tooltray.events import EventBus, ServerStarted, ToolCallResult
from tooltray.snapshots.calls import MCPToolResponse, RecentCall


def called(tool: str, outcome: str = "ok") -> ToolCallResult:
    response = MCPToolResponse(tool, "files", "Cursor", outcome, 0.25, 7, 9)
    return ToolCallResult(response)


def test_the_newest_call_comes_first_with_who_what_when_and_how() -> None:
    bus, times = EventBus(), iter((1000.0, 1001.0))
    calls = RecentCalls(bus=bus, clock=lambda: next(times))
    bus.publish(called("read_file"))
    bus.publish(ServerStarted("files"))
    bus.publish(called("write_file", "refused"))
    assert calls.last(5) == [
        RecentCall(2, 1001.0, "write_file", "files", "Cursor", "refused", 0.25, 7, 9),
        RecentCall(1, 1000.0, "read_file", "files", "Cursor", "ok", 0.25, 7, 9),
    ]


def test_there_are_as_many_as_are_asked_for() -> None:
    bus = EventBus()
    calls = RecentCalls(bus=bus)
    for name in "abc":
        bus.publish(called(name))
    assert [[call.tool for call in calls.last(limit)] for limit in (-1, 0, 2, 9)] == [[], [], ["c", "b"], ["c", "b", "a"]]


def test_old_calls_are_forgotten_and_numbers_are_never_given_twice() -> None:
    bus = EventBus()
    calls = RecentCalls(bus=bus)
    for number in range(MOST_KEPT + 3):
        bus.publish(called(f"tool-{number}"))
    kept = calls.last(1000)
    assert len(kept) == MOST_KEPT
    assert [call.id for call in kept] == list(range(MOST_KEPT + 3, 3, -1))


def test_what_was_asked_and_answered_is_not_kept() -> None:
    bus = EventBus()
    calls = RecentCalls(bus=bus)
    bus.publish(called("read_file"))
    assert not {"arguments", "result"} & set(calls.last(1)[0].__struct_fields__)
