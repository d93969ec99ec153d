"""What a client is answered before there is a hub, and what the hub that comes is told of it."""

import json
from typing import Any

import pytest
from tests.fakes.fake_hub import reply, request

from tooltray_bridge.tracker import Tracker

HELLO = request(0, "initialize", protocolVersion="1")
INTRODUCED = b'{"protocolVersion":"1"}'
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
LISTS = request(1, "tools/list")
LEVEL = request(2, "logging/setLevel", level="info")
REFUSED = b'{"code":-32603,"message":"why"}'


class Answers:
    """Answers whose checksum is always the same."""

    def __init__(self, *known: tuple[bytes, bytes, bytes]) -> None:
        self._known = known

    def find(self, introduction: bytes, method: bytes, params: bytes) -> tuple[bytes, bytes]:
        return (b'{"of":"%b"}' % method, b"0123abcd") if (introduction, method, params) in self._known else (b"", b"")


GREETING = (INTRODUCED, b"initialize", INTRODUCED)
LIST, LIST_ALONE = (INTRODUCED, b"tools/list", b"{}"), (b"", b"tools/list", b"{}")
LEVEL_SET = (INTRODUCED, b"logging/setLevel", b'{"level":"info"}')
ALL = GREETING, LIST, LIST_ALONE, LEVEL_SET


def started(*known: tuple[bytes, bytes, bytes]) -> Tracker:
    tracker = Tracker()
    tracker.start_offline(Answers(*known))  # type: ignore[arg-type]
    return tracker


def told(tracker: Tracker) -> list[dict[str, Any]]:
    return [json.loads(line) for line in tracker.take_owed().splitlines()]


def found(tracker: Tracker) -> list[dict[str, Any]]:
    """What the hub is told when it comes."""
    return [json.loads(line) for line in tracker.hub_found().splitlines()]


@pytest.mark.parametrize("size", [1, 1000])
def test_known_answers_are_given_at_once_and_the_hub_hears_of_the_requests_under_other_ids(size: int) -> None:
    tracker, sent = started(*ALL), HELLO + INITIALIZED + LISTS + LEVEL
    for start in range(0, len(sent), size):
        assert tracker.client_sent(sent[start : start + size]) == b""

    assert [(each["id"], each["result"]["of"]) for each in told(tracker)] == [(0, "initialize"), (1, "tools/list"), (2, "logging/setLevel")]
    assert (tracker.is_awaiting, tracker.wants_hub, tracker.is_settled) == (False, True, True)
    handshake, initialized, level, listing = found(tracker)
    assert (handshake["method"], initialized["method"], level["method"]) == ("initialize", "notifications/initialized", "logging/setLevel")
    assert listing == {"jsonrpc": "2.0", "id": "tooltray-ahead-0123abcd-1", "method": "tools/list", "params": {}}
    assert tracker.hub_sent(b"".join(reply(each["id"]) for each in (handshake, level, listing)) + reply(9)) == reply(9)
    assert not tracker.wants_hub


def test_a_hub_that_is_lost_before_it_has_answered_is_followed_by_one_that_is_asked_again() -> None:
    tracker = started(*ALL)
    tracker.client_sent(HELLO + LISTS)
    first = found(tracker)
    assert tracker.hub_lost() == b""

    again = found(tracker)
    assert again[1] == first[1]
    tracker.hub_sent(reply(again[1]["id"]))
    tracker.hub_lost()
    assert [each["method"] for each in found(tracker)] == ["initialize"]


def test_without_an_answer_to_its_handshake_a_client_waits_for_all() -> None:
    tracker = started(LIST, LIST_ALONE)
    tracker.client_sent(HELLO + LISTS)

    assert (tracker.owed, tracker.is_awaiting, tracker.has_answers) == (b"", True, False)
    assert tracker.hub_found() == HELLO + LISTS


def test_a_request_without_a_known_answer_waits_and_others_are_still_answered() -> None:
    tracker = started(*ALL)
    tracker.client_sent(HELLO + request(7, "tools/call", name="echo") + LISTS)

    assert [each["id"] for each in told(tracker)] == [0, 1]
    assert [each["method"] for each in found(tracker)] == ["initialize", "tools/list", "tools/call"]


def test_a_modern_client_needs_no_handshake() -> None:
    tracker = started(*ALL)
    tracker.client_sent(LISTS)

    assert [each["id"] for each in told(tracker)] == [1]


def test_behind_a_second_handshake_everything_waits() -> None:
    tracker = started(*ALL)
    tracker.client_sent(HELLO + request(5, "initialize", protocolVersion="1") + LISTS)

    assert [each["id"] for each in told(tracker)] == [0]
    assert [each["id"] for each in found(tracker)] == [5, 1]


def test_a_batch_waits_for_the_hub() -> None:
    tracker = started(*ALL)
    batch = b"[%b]\n" % LISTS.strip()
    tracker.client_sent(HELLO + batch)

    assert [each["id"] for each in told(tracker)] == [0]
    assert tracker.hub_found().endswith(batch)


def test_where_no_hub_can_be_had_the_client_keeps_its_answers_and_the_next_attempt_waits_for_a_call() -> None:
    tracker = started(*ALL)
    tracker.client_sent(HELLO + LISTS)
    assert tracker.refuse(REFUSED) == b""
    assert not tracker.wants_hub

    tracker.client_sent(request(3, "tools/call"))
    assert tracker.wants_hub
    assert tracker.refuse(REFUSED) == b'{"jsonrpc":"2.0","id":3,"error":%b}\n' % REFUSED


def test_once_there_was_a_hub_only_hubs_answer() -> None:
    tracker = started(*ALL)
    tracker.client_sent(HELLO)
    tracker.take_owed()
    tracker.hub_found()
    tracker.hub_lost()
    tracker.client_sent(LISTS)

    assert (tracker.take_owed(), tracker.is_awaiting, tracker.has_met_hub) == (b"", True, True)
