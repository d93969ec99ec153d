"""What is followed of both directions: which calls are told that the hub was lost, and what the next hub is told."""

import json
import tracemalloc

import pytest
from tests.fakes.fake_hub import reply, request

from tooltray_bridge.lines import HUB_LOST, LEAVE_ID, WITHDRAWN
from tooltray_bridge.tracker import CUT, MAX_HELD_BYTES, MAX_LINE_BYTES, Tracker

LONG = "x" * 300
HANDSHAKE = b'{"method":"initialize","params":{},"jsonrpc":"2.0","id":0}\n'
INITIALIZED = b'{"method":"notifications/initialized","jsonrpc":"2.0"}\n'
REFUSED = b'{"code":-32603,"message":"why"}'


def lost(id: object) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (json.dumps(id).encode(), HUB_LOST)


def refused(id: object) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (json.dumps(id).encode(), REFUSED)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def shaken(*, first: bytes = b"") -> Tracker:
    """A tracker whose client has shaken hands with the hub, and has sent `first` since."""
    tracker = Tracker()
    assert tracker.client_sent(HANDSHAKE) == HANDSHAKE
    tracker.hub_sent(reply(0))
    tracker.client_sent(INITIALIZED)
    if first:
        assert tracker.client_sent(first) == first
    return tracker


@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_however_the_bytes_are_cut_each_lost_call_is_answered_once_and_the_handshake_is_replayed(size: int) -> None:
    tracker = Tracker()
    calls = b"".join(request(id, "tools/call", name="initialize") for id in range(1, 5))
    cancelled = b'{"method":"notifications/cancelled","params":{"requestId":3}}\n'
    half = b'{"jsonrpc":"2.0","id":9,"me'
    sent = HANDSHAKE + INITIALIZED + calls + cancelled + half
    assert b"".join(tracker.client_sent(chunk) for chunk in cut(sent, size)) == sent
    replies = reply(0) + b'{"jsonrpc":"2.0","method":"n"}\n' + reply(1, text="x" * 900)
    half_reply = reply(2, text="y" * 900)[:-3]
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(replies + half_reply, size)) == replies + half_reply

    assert tracker.hub_lost() == CUT + lost(2) + lost(4)
    again = tracker.hub_found()

    replayed, initialized, rest = again.split(b"\n", 2)
    ours = json.loads(replayed)["id"]
    assert replayed == HANDSHAKE.rstrip(b"\n").replace(b'"id":0', b'"id":' + json.dumps(ours).encode())
    assert (initialized + b"\n", rest) == (INITIALIZED, half)
    second = reply(ours, text="z" * 900) + replies.partition(b"\n")[2]
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(second, size)) == replies.partition(b"\n")[2]
    assert tracker.hub_lost() == b""


def test_a_call_whose_reply_has_begun_but_not_ended_is_lost() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    begun = reply(1, text=LONG)[:250]
    assert tracker.hub_sent(begun) == begun

    assert tracker.hub_lost() == CUT + lost(1)


def test_a_reply_that_only_lacks_the_end_of_its_line_is_no_answer_beside_the_error() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    given = tracker.hub_sent(reply(1)[:-1]) + tracker.hub_lost()

    cut_off, error = given.splitlines(keepends=True)
    assert error == lost(1)
    with pytest.raises(ValueError):
        json.loads(cut_off)


def test_of_a_reply_whose_id_is_not_there_yet_the_client_sees_nothing() -> None:
    tracker = shaken(first=request("some long id", "tools/call"))

    assert tracker.hub_sent(b'{"jsonrpc":"2.0","id":"some l') == b""
    assert tracker.hub_lost() == lost("some long id")


def test_an_id_with_escaped_quotes_is_followed_both_ways() -> None:
    tracker = shaken(first=request('a "b" \\', "tools/call") + request('a "c" \\', "tools/call"))
    tracker.hub_sent(reply('a "b" \\'))

    assert tracker.hub_lost() == lost('a "c" \\')


def test_an_id_longer_than_both_looks_is_followed_both_ways() -> None:
    tracker = shaken(first=request("i" * 5000, "tools/call") + request("j" * 5000, "tools/call"))
    line = reply("i" * 5000)
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(line, 1000)) == line

    assert tracker.hub_lost() == lost("j" * 5000)


def test_what_is_held_of_an_endless_id_is_bounded() -> None:
    tracker = shaken()
    endless = b'{"jsonrpc":"2.0","id":"' + b"i" * MAX_HELD_BYTES

    assert tracker.hub_sent(endless) == endless


def test_a_request_of_the_hub_under_a_number_that_a_call_has_too_does_not_answer_the_call() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    asked = b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'
    assert tracker.hub_sent(asked) == asked
    assert tracker.hub_sent(asked + asked[:30]) == asked

    assert tracker.hub_lost() == WITHDRAWN % b"1" + lost(1)


def test_a_client_that_uses_one_id_for_everything_loses_nothing() -> None:
    tracker = Tracker()
    for method in ("initialize", "tools/list"):
        tracker.client_sent(request(1, method))
        tracker.hub_sent(reply(1))
    tracker.client_sent(request(1, "tools/call"))

    assert tracker.hub_lost() == lost(1)
    tracker.client_sent(request(1, "tools/call", name="again"))
    replayed, call = tracker.hub_found().splitlines(keepends=True)
    ours = json.loads(replayed)["id"]
    assert ours != 1
    assert call == request(1, "tools/call", name="again")
    assert tracker.hub_sent(reply(1, of="call") + reply(ours)) == reply(1, of="call")


def test_an_unanswered_handshake_waits_for_the_next_hub_under_its_own_id() -> None:
    tracker = Tracker()
    tracker.client_sent(HANDSHAKE)

    assert tracker.hub_lost() == b""
    assert tracker.is_awaiting
    assert tracker.hub_found() == HANDSHAKE
    assert tracker.hub_sent(reply(0)) == reply(0)


def test_a_second_handshake_replaces_the_first() -> None:
    tracker = shaken(first=request(5, "initialize", second=True))
    tracker.hub_sent(reply(5))
    tracker.hub_lost()

    (replayed,) = tracker.hub_found().splitlines()
    assert json.loads(replayed)["params"] == {"second": True}


def test_the_handshake_comes_first_even_if_it_was_made_last() -> None:
    tracker = Tracker()
    tracker.client_sent(request(1, "logging/setLevel") + HANDSHAKE + INITIALIZED)
    tracker.hub_lost()

    assert tracker.hub_found() == HANDSHAKE + INITIALIZED + request(1, "logging/setLevel")


def test_only_the_last_log_level_is_replayed_and_its_second_answer_is_swallowed() -> None:
    tracker = shaken()
    for id, level in enumerate(("debug", "error"), 1):
        tracker.client_sent(request(id, "logging/setLevel", level=level))
        tracker.hub_sent(reply(id))
    tracker.hub_lost()

    replayed = json.loads(tracker.hub_found().splitlines()[-1])
    assert (replayed["method"], replayed["params"]) == ("logging/setLevel", {"level": "error"})
    assert tracker.hub_sent(reply(replayed["id"]) + reply(7)) == reply(7)


def test_a_log_level_that_is_not_the_last_is_lost_like_any_call() -> None:
    tracker = shaken(first=request(1, "logging/setLevel") + request(2, "logging/setLevel"))

    assert tracker.hub_lost() == lost(1)
    assert tracker.hub_found().endswith(request(2, "logging/setLevel"))


def test_open_subscriptions_are_opened_again_under_their_own_ids_and_answered_ones_are_not() -> None:
    opened = [request(id, "subscriptions/listen") for id in (1, 2, 3)]
    tracker = Tracker()
    tracker.client_sent(b"".join(opened))
    tracker.hub_sent(reply(1))
    tracker.client_sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n')

    assert tracker.hub_lost() == b""
    assert not tracker.is_awaiting  # nobody needs a hub just to keep a subscription open
    assert tracker.hub_found() == opened[2]


def test_a_cancellation_that_names_no_request_changes_nothing() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    tracker.client_sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}\n')
    tracker.client_sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}\n')

    assert tracker.hub_lost() == lost(1)


def test_a_notification_under_the_name_of_a_request_is_not_replayed() -> None:
    tracker = shaken(first=b'{"jsonrpc":"2.0","method":"logging/setLevel","params":{"level":"debug"}}\n')
    tracker.hub_lost()

    assert tracker.hub_found().endswith(INITIALIZED)


def test_a_handshake_that_was_no_json_is_not_replayed() -> None:
    tracker = Tracker()
    tracker.client_sent(b'{"jsonrpc":"2.0","method":"initialize","params":{"x:1},"id":1}\n')
    tracker.hub_sent(reply(1))
    tracker.hub_lost()

    assert tracker.hub_found() == b""


def test_without_a_hub_requests_wait_and_everything_else_is_dropped() -> None:
    tracker = shaken()
    tracker.hub_lost()
    calls = request(1, "tools/call") + request(2, "tools/call", text=LONG)
    others = b'{"jsonrpc":"2.0","method":"notifications/progress"}\n' + reply(5) + b"\n" + b"garbage\n"
    for chunk in cut(calls + others + request(3, "tools/call") + b'{"id":4,', 50):
        assert tracker.client_sent(chunk) == b""
    tracker.client_sent(b'"method":"notifications/cancelled","params":{"requestId":1}}'[:0])

    assert tracker.is_awaiting
    assert tracker.kept_bytes == len(calls + request(3, "tools/call"))
    assert tracker.hub_found().endswith(INITIALIZED + calls + request(3, "tools/call") + b'{"id":4,')
    assert tracker.kept_bytes == 0


def test_a_waiting_request_that_is_cancelled_is_never_sent() -> None:
    tracker = Tracker()
    tracker.start_offline()
    tracker.client_sent(request(1, "tools/call") + b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')

    assert not tracker.is_awaiting
    assert tracker.hub_found() == b""


def test_what_waits_can_be_refused_and_is_then_forgotten() -> None:
    tracker = Tracker()
    tracker.start_offline()
    tracker.client_sent(HANDSHAKE + request(1, "tools/list") + request(2, "subscriptions/listen"))

    assert tracker.refuse(REFUSED) == refused(0) + refused(1) + refused(2)
    assert not tracker.is_awaiting
    assert tracker.refuse(REFUSED) == b""
    assert tracker.hub_found() == b""


def test_refusing_does_not_touch_what_an_earlier_hub_has_answered() -> None:
    tracker = shaken()
    tracker.hub_lost()
    tracker.client_sent(request(1, "tools/list"))
    tracker.refuse(REFUSED)

    assert [json.loads(line)["method"] for line in tracker.hub_found().splitlines()] == ["initialize", "notifications/initialized"]


def test_a_handshake_that_is_repeated_while_there_is_no_hub_is_sent_once_and_the_first_is_answered_at_once() -> None:
    tracker = Tracker()
    tracker.start_offline()
    tracker.client_sent(request(1, "initialize"))
    tracker.client_sent(request(2, "initialize"))

    assert tracker.take_owed() == lost(1)
    assert tracker.take_owed() == b""
    assert tracker.hub_found() == request(2, "initialize")


def test_whether_the_hub_answers_at_all_is_noticed() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    tracker.hub_lost()
    ours = json.loads(tracker.hub_found().splitlines()[0])["id"]
    assert not tracker.has_answered
    tracker.hub_sent(b'{"jsonrpc":"2.0","id":null,"error":{}}\n{"jsonrpc":"2.0","method":"n"}\n')
    assert not tracker.has_answered
    tracker.hub_sent(reply(ours))
    assert tracker.has_answered


def test_a_large_message_is_given_to_the_next_hub_as_it_is() -> None:
    tracker = Tracker()
    line = b'{"method":"tools/call","params":{"text":"' + b"x" * 3_000_000 + b'"},"jsonrpc":"2.0","id":1}\n'
    first, second = line[:1_000_000], line[1_000_000:]
    for chunk in cut(first, 1 << 18):
        assert tracker.client_sent(chunk) == chunk
    assert tracker.hub_lost() == b""

    assert tracker.hub_found() == first
    for chunk in cut(second, 1 << 18):
        assert tracker.client_sent(chunk) == chunk
    assert tracker.hub_lost() == lost(1)


def test_a_large_message_that_hides_its_id_is_followed_too() -> None:
    tracker = Tracker()
    line = b'{"params":{"text":"' + b"x" * 30_000 + b'"},"id":1,"more":"' + b"y" * 30_000 + b'","method":"tools/call"}\n'
    for chunk in cut(line, 10_000):
        tracker.client_sent(chunk)

    assert tracker.hub_lost() == lost(1)


def too_long(id: int) -> list[bytes]:
    return cut(
        b'{"jsonrpc":"2.0","method":"tools/call","params":{"text":"' + b"x" * (MAX_LINE_BYTES + (4 << 20)) + b'"},"id":%d}\n' % id, 1 << 20
    )


def test_a_message_beyond_the_limit_is_passed_on_for_the_hub_to_refuse_without_being_kept() -> None:
    tracker = Tracker()
    chunks = too_long(1)

    assert all(tracker.client_sent(chunk) == chunk for chunk in chunks)
    assert tracker.hub_sent(reply(1)) == reply(1)
    assert tracker.hub_lost() == b""


def test_of_a_message_beyond_the_limit_only_the_ends_are_kept() -> None:
    tracker = Tracker()
    tracemalloc.start()
    try:
        for _ in range(MAX_LINE_BYTES // (1 << 20) + 1):
            tracker.client_sent(b"x" * (1 << 20))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 4 << 20


def test_a_message_beyond_the_limit_whose_hub_is_lost_is_answered_when_it_ends_and_the_next_hub_sees_nothing_of_it() -> None:
    tracker = Tracker()
    *chunks, last = too_long(1)
    for chunk in chunks[:-2]:
        tracker.client_sent(chunk)
    tracker.hub_lost()
    assert tracker.hub_found() == b""
    for chunk in chunks[-2:]:
        assert tracker.client_sent(chunk) == b""

    begun = reply(7, text=LONG)[:250]
    tracker.hub_sent(begun)
    assert tracker.client_sent(last + request(2, "tools/call")) == request(2, "tools/call")
    assert tracker.owed
    assert tracker.take_owed() == b""  # not within a line of the hub
    tracker.hub_sent(reply(7, text=LONG)[250:])
    answer = json.loads(tracker.take_owed())
    assert (answer["id"], "too long" in answer["error"]["message"]) == (1, True)
    assert tracker.hub_lost() == lost(2)


def test_a_message_beyond_the_limit_that_ends_without_a_hub_is_answered_at_once() -> None:
    tracker = Tracker()
    tracker.start_offline()
    for chunk in too_long(1):
        tracker.client_sent(chunk)

    assert json.loads(tracker.take_owed())["id"] == 1
    assert not tracker.is_awaiting


def test_garbage_beyond_the_limit_is_owed_no_answer() -> None:
    tracker = Tracker()
    tracker.start_offline()
    for _ in range(MAX_LINE_BYTES // (1 << 20) + 1):
        tracker.client_sent(b"x" * (1 << 20))
    tracker.client_sent(b"\n")

    assert tracker.take_owed() == b""


# batches


def batch(*lines: bytes) -> bytes:
    return b"[%b]\n" % b",".join(line.rstrip(b"\n") for line in lines)


PROGRESS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"id":9}}\n'


def cancel(id: int) -> bytes:
    return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\n' % id


@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_each_request_of_a_batch_that_a_lost_hub_has_not_answered_is_answered_once(size: int) -> None:
    first = batch(request(1, "tools/call"), PROGRESS, request(2, "tools/call", text="x" * 900), request("[3]", "tools/call"))
    second = b" " + batch(request(4, "tools/call"), request(5, "tools/call"))
    tracker = shaken()
    assert b"".join(tracker.client_sent(chunk) for chunk in cut(first + second, size)) == first + second
    inner = reply(5)  # what looks like a reply within a reply answers nothing
    answers = batch(reply("[3]", text="],["), b"null", reply(1, text="x" * 900), reply(2, structuredContent=json.loads(inner)))
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(answers + reply(4), size)) == answers + reply(4)

    assert tracker.has_answered
    assert tracker.hub_lost() == lost(5)


def test_of_an_array_of_replies_that_is_cut_nothing_counts() -> None:
    tracker = shaken(first=batch(request(1, "tools/call"), request(2, "tools/call")))
    begun = batch(reply(1), reply(2))[:-2]
    assert tracker.hub_sent(begun) == begun

    assert tracker.hub_lost() == CUT + lost(1) + lost(2)
    tracker.hub_found()
    tracker.client_sent(request(1, "tools/call"))
    assert tracker.hub_lost() == lost(1)  # what was left of the cut line is forgotten


def test_a_cancelled_request_of_a_batch_is_not_waited_for() -> None:
    tracker = shaken(first=batch(request(1, "tools/call"), request(2, "tools/call"), cancel(2)))

    assert tracker.hub_lost() == lost(1)


def test_a_batch_that_waits_for_a_hub_is_sent_as_one_line_again() -> None:
    tracker = shaken()
    tracker.hub_lost()
    calls = [request(id, "tools/call", text="a[") for id in range(1, 7)]
    chunks = cut(batch(calls[0], PROGRESS, b"{}", b"[5]", calls[1]) + calls[2] + batch(*calls[3:5]) + b"[" + calls[5][:9], 50)
    assert b"".join(map(tracker.client_sent, chunks)) == b""

    assert tracker.kept_bytes == sum(map(len, calls[:5]))
    assert tracker.hub_found().endswith(INITIALIZED + batch(*calls[:2]) + calls[2] + batch(*calls[3:5]) + b"[" + calls[5][:9])
    assert not tracker.is_awaiting


def test_of_a_waiting_batch_a_cancelled_request_is_never_sent() -> None:
    tracker = Tracker()
    tracker.start_offline()
    tracker.client_sent(batch(request(1, "tools/call"), request(2, "tools/call")) + cancel(1))

    assert tracker.hub_found() == batch(request(2, "tools/call"))


def test_of_a_waiting_batch_each_request_is_refused() -> None:
    tracker = Tracker()
    tracker.start_offline()
    tracker.client_sent(batch(request(1, "tools/call"), request(2, "tools/call")))

    assert tracker.refuse(REFUSED) == refused(1) + refused(2)
    assert tracker.hub_found() == b""


def test_what_a_batch_sets_for_good_is_replayed_as_a_line_of_its_own() -> None:
    tracker = shaken()
    tracker.hub_lost()
    level, call = request(1, "logging/setLevel", level="debug"), request(2, "tools/call")
    tracker.client_sent(batch(level, call))

    assert tracker.hub_found().endswith(INITIALIZED + level + batch(call))
    tracker.hub_sent(reply(1) + batch(reply(2)))
    assert tracker.hub_lost() == b""
    assert json.loads(tracker.hub_found().splitlines()[-1])["params"] == {"level": "debug"}


@pytest.mark.parametrize("line", [b"[]\n", b"[1,null]\n", batch(PROGRESS), batch(reply(7)), b"[" * 5000 + b"\n"])
def test_a_batch_without_requests_is_not_waited_for(line: bytes) -> None:
    tracker = shaken(first=line)

    assert tracker.hub_lost() == b""
    tracker.client_sent(line)
    assert not tracker.is_awaiting


def test_a_batch_beyond_the_limit_whose_hub_is_lost_is_answered_without_an_id() -> None:
    tracker = Tracker()
    tracker.start_offline()
    for chunk in (b'[{"jsonrpc":"2.0","id":1,"method":"x"}', *[b" " * (1 << 20)] * (MAX_LINE_BYTES // (1 << 20) + 1), b"]\n"):
        tracker.client_sent(chunk)

    assert json.loads(tracker.take_owed())["id"] is None
    assert not tracker.is_awaiting


# subscriptions to resources


def subscribe(id: int, uri: str = "file:///a") -> bytes:
    return request(id, "resources/subscribe", uri=uri)


def unsubscribe(id: int, uri: str = "file:///a") -> bytes:
    return request(id, "resources/unsubscribe", uri=uri)


def refusal(id: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32002,"message":"not found"}}\n' % id


def replayed(tracker: Tracker) -> list[str]:
    """The resources that the next hub is asked to watch, apart from what waits for it."""
    tracker.hub_lost()
    messages = [json.loads(line) for line in tracker.hub_found().splitlines()]
    return [message["params"]["uri"] for message in messages if message["method"] == "resources/subscribe"]


def test_each_subscribed_resource_is_subscribed_again_once_and_its_second_answer_is_swallowed() -> None:
    tracker = shaken(first=subscribe(1) + subscribe(2, "file:///b") + subscribe(3))
    for id in (1, 2, 3):
        tracker.hub_sent(reply(id))
    assert tracker.hub_lost() == b""
    assert not tracker.is_awaiting

    again = [json.loads(line) for line in tracker.hub_found().splitlines()[2:]]
    assert [each["params"]["uri"] for each in again] == ["file:///a", "file:///b"]
    assert tracker.hub_sent(b"".join(reply(each["id"]) for each in again) + PROGRESS) == PROGRESS
    assert replayed(tracker) == ["file:///a", "file:///b"]


@pytest.mark.parametrize("size", [1, 64, 5000])
def test_a_refused_subscription_is_not_replayed(size: int) -> None:
    tracker = shaken(first=subscribe(1) + subscribe(2, "file:///b") + subscribe(3, "file:///c"))
    answers = refusal(1) + batch(reply(2), refusal(3))
    assert b"".join(map(tracker.hub_sent, cut(answers, size))) == answers

    assert replayed(tracker) == ["file:///b"]


def test_an_answered_unsubscribe_ends_a_subscription_and_an_unanswered_one_is_lost_like_any_call() -> None:
    tracker = shaken(first=subscribe(1) + subscribe(2, "file:///b"))
    tracker.hub_sent(reply(1) + reply(2))
    tracker.client_sent(unsubscribe(3) + unsubscribe(4, "file:///b") + unsubscribe(5, "file:///never"))
    tracker.hub_sent(reply(3) + reply(5))

    assert tracker.hub_lost() == lost(4)
    assert tracker.hub_found().endswith(b'"params":{"uri":"file:///b"}}\n')


def test_a_resource_that_is_subscribed_anew_stays_subscribed_whenever_the_answers_come() -> None:
    tracker = shaken(first=subscribe(1) + unsubscribe(2) + subscribe(3))
    tracker.hub_sent(reply(1) + reply(3) + reply(2))

    assert replayed(tracker) == ["file:///a"]


def test_an_unsubscribe_without_a_hub_waits_behind_the_subscription_that_it_ends() -> None:
    tracker = shaken(first=subscribe(1))
    tracker.hub_sent(reply(1))
    tracker.hub_lost()
    tracker.client_sent(unsubscribe(2))

    handshake, _, again, end = tracker.hub_found().splitlines(keepends=True)
    assert (json.loads(again)["method"], end) == ("resources/subscribe", unsubscribe(2))
    tracker.hub_sent(reply(json.loads(handshake)["id"]) + reply(json.loads(again)["id"]) + reply(2))
    assert replayed(tracker) == []


def test_an_unsubscribe_that_a_new_subscription_overtakes_without_a_hub_is_answered_at_once() -> None:
    tracker = shaken(first=subscribe(1))
    tracker.hub_sent(reply(1))
    tracker.hub_lost()
    tracker.client_sent(unsubscribe(2) + subscribe(3))

    assert tracker.take_owed() == lost(2)
    assert tracker.hub_found().endswith(INITIALIZED + subscribe(3))


def test_a_subscription_that_no_hub_could_be_had_for_is_not_replayed() -> None:
    tracker = shaken()
    tracker.hub_lost()
    tracker.client_sent(subscribe(1))

    assert tracker.refuse(REFUSED) == refused(1)
    assert replayed(tracker) == []


def test_a_refused_log_level_is_not_replayed() -> None:
    tracker = shaken(first=request(1, "logging/setLevel", level="loud"))
    tracker.hub_sent(refusal(1))
    tracker.hub_lost()

    assert tracker.hub_found().endswith(INITIALIZED)


# what the hub asks the client


def question(id: int) -> bytes:
    return request(id, "elicitation/create", message="which?")


@pytest.mark.parametrize("size", [1, 64, 5000])
def test_the_client_is_told_that_nobody_waits_for_its_answers_any_more_but_only_to_open_questions(size: int) -> None:
    tracker = shaken(first=request(1, "tools/call"))
    withdrawn = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":73,"reason":"the call was cancelled"}}\n'
    questions = question(71) + question(72) + question(73) + question(74) + PROGRESS + withdrawn + question(75)
    assert b"".join(map(tracker.hub_sent, cut(questions, size))) == questions
    answers = b'{"result":{"action":"accept"},"jsonrpc":"2.0","id":71}\n' + batch(b'{"jsonrpc":"2.0","id":"75","error":{}}')
    tracker.client_sent(answers + PROGRESS)

    *told, error = tracker.hub_lost().splitlines(keepends=True)
    assert sorted(told) == [WITHDRAWN % b"72", WITHDRAWN % b"74"]
    assert error == lost(1)
    tracker.hub_found()
    assert tracker.hub_lost() == b""


def test_a_question_that_is_cut_has_not_been_asked() -> None:
    tracker = shaken()
    tracker.hub_sent(question(71)[:-5])

    assert tracker.hub_lost() == CUT


def test_an_answer_to_the_hub_that_is_gone_does_not_wait_for_the_next() -> None:
    tracker = shaken()
    tracker.hub_sent(question(71))
    tracker.hub_lost()
    tracker.client_sent(reply(71))

    assert not tracker.is_awaiting
    assert tracker.hub_found().endswith(INITIALIZED)


def test_a_reply_to_nothing_is_no_question() -> None:
    tracker = shaken()
    tracker.hub_sent(reply(5) + b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}\n')

    assert tracker.hub_lost() == b""


def test_a_client_has_all_its_answers_when_the_last_byte_of_the_last_one_is_there() -> None:
    tracker = Tracker()
    assert tracker.is_settled

    tracker.client_sent(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}\n')
    assert not tracker.is_settled

    tracker.hub_sent(b'{"jsonrpc":"2.0","id":1,"result":{"content":[')
    assert not tracker.is_settled

    tracker.hub_sent(b"]}}\n")
    assert tracker.is_settled


LEAVE = b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % LEAVE_ID


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_a_hub_that_hands_over_is_left_when_the_client_has_its_answers_and_none_is_lost(size: int) -> None:
    tracker = shaken(first=request(1, "tools/call"))
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(LEAVE, size)) == b""
    assert (tracker.may_leave, tracker.reads_client) == (False, False)

    answer = reply(1)
    assert b"".join(tracker.hub_sent(chunk) for chunk in cut(answer[:-1], size)) == answer[:-1]
    assert not tracker.may_leave, "within a line"
    assert tracker.hub_sent(answer[-1:]) == answer[-1:]

    assert tracker.may_leave
    assert tracker.hub_lost() == b""
    assert (tracker.may_leave, tracker.reads_client) == (False, True)


def test_the_request_to_leave_may_come_with_an_answer_and_with_the_start_of_another_line() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    assert tracker.hub_sent(reply(1) + LEAVE + b'{"jsonrpc"') == reply(1)
    assert not tracker.may_leave


def test_what_the_next_hub_is_sent_again_keeps_no_bridge() -> None:
    tracker = shaken(first=request(1, "subscriptions/listen"))
    tracker.hub_sent(LEAVE)
    assert tracker.may_leave


def test_a_hub_that_hands_over_still_gets_the_answers_that_it_awaits() -> None:
    tracker = shaken(first=request(1, "tools/call"))
    question = b'{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}\n'
    assert tracker.hub_sent(question + LEAVE) == question
    assert tracker.reads_client

    tracker.client_sent(reply(7))
    assert not tracker.reads_client
