"""entry_maker.py"""

import json
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.journals import NOW, SECRET, call, large

from tooltray.config.settings.settings import ActivitySettings
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.call_params import LONGEST_TARGET
from tooltray.records.journal.entry_maker import (
    LARGEST_BYTES,
    LONGEST_REASON,
    MOST_NAMES,
    REASON_BELOW_BYTES,
    EntryMaker,
    beginning_of,
    masked_json,
)
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.records.journal.journal_file import COLUMNS, Contents, NewEntry
from tooltray.records.log.masking import Mask


def made(event: JournalEvent, **wanted: Any) -> NewEntry:
    mask = Mask(lambda: {SECRET})
    mask.refresh()
    return EntryMaker(mask, "r1", wanted=lambda: ActivitySettings(**wanted), clock=lambda: NOW).entry(event)


def columns(event: JournalEvent, **wanted: Any) -> dict[str, Any]:
    return dict(zip(COLUMNS, made(event, **wanted).values, strict=True))


def said(event: JournalEvent, **wanted: Any) -> list[str]:
    return columns(event, **wanted)["said"].split("\n")


def failing(result: Any) -> list[str]:
    return said(call(result=result, outcome="error", is_fault=True))


def test_a_call_says_who_what_and_how_much() -> None:
    row = columns(call(client="Cursor", session="s1", project="/p", published="files__t", duration_s=0.5))
    assert (row["kind"], row["at"], row["outcome"], row["duration"]) == ("call", NOW, "ok", 0.5)
    assert (row["client"], row["session"], row["project"], row["server"]) == ("Cursor", "s1.r1", "/p", "files")
    assert (row["tool"], row["published"], row["argument_bytes"], row["result_bytes"]) == ("t", "files__t", 27, 14)
    assert (row["tokens"], row["allowed_by"], row["has_contents"], row["server_s"]) == (3, "", False, None)


def test_a_name_is_masked_from_the_moment_on_that_it_is_a_secret() -> None:
    secrets = set[str]()
    maker = EntryMaker(Mask(lambda: frozenset(secrets)), "r1", wanted=ActivitySettings, clock=lambda: NOW)
    shown = []
    for secret in ([], [SECRET]):
        secrets.update(secret)
        maker.refresh()
        for number in range(MOST_NAMES + 1):
            maker.entry(call(client=f"c{number}"))
        shown.append(dict(zip(COLUMNS, maker.entry(call(client=f"my {SECRET}")).values, strict=True))["client"])
    assert shown == [f"my {SECRET}", "my ***"]


def test_the_trace_that_its_client_named_is_kept_and_masked() -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    meta = {"traceparent": parent, "tracestate": "a=1", "baggage": f"key={SECRET}"}
    row = columns(call(params=dump({"name": "t", "arguments": {}, "_meta": meta})))
    assert row["trace"] == "0af7651916cd43dd8448eb211c80319c"
    assert json.loads(row["trace_context"]) == meta | {"baggage": "key=***"}
    row = columns(call(kind="start", params=dump({"_meta": meta})))
    assert (row["trace"], row["trace_context"]) == ("", "")


def test_what_it_touched_is_there_unless_a_person_wants_it_not() -> None:
    event = call(arguments={"path": f"/home/{SECRET}/a\u202e\nb"})
    assert said(event) == ["/home/***/a b", ""]
    assert said(event, line=False) == ["", ""]
    long = said(call(arguments={"path": f"/home/{'x' * 300}/{SECRET}/b.txt"}))[0]
    assert (long[:6], long[-10:], len(long)) == ("/home/", "/***/b.txt", LONGEST_TARGET)
    assert said(JournalEvent(kind="start", at=NOW, outcome="ok", params=event.params)) == ["", ""]
    assert said(JournalEvent(kind="approval", at=NOW, outcome="once", line="fetch a.example → send")) == ["fetch a.example → send", ""]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"code": -32000, "message": "It is\ngone"}, "It is gone"),
        ({"isError": True, "content": [{"type": "image"}, {"type": "text", "text": f"no {SECRET}"}]}, "no ***"),
        ({"isError": True, "content": [{"type": "image"}]}, ""),
        ({"content": "odd"}, ""),
        ([1], ""),
        (Raw(b"[" * 100_000), ""),
        (large(REASON_BELOW_BYTES), ""),
    ],
)
def test_why_it_failed(result: Any, reason: str) -> None:
    event = call(result=result, outcome="error", is_fault=True) if not isinstance(result, Raw) else call(reply=result, is_fault=True)
    assert said(event)[1] == reason


def test_a_long_reason_is_cut_and_one_that_is_given_counts() -> None:
    assert len(failing({"message": "x" * 1000})[1]) == LONGEST_REASON
    assert said(call(result={"message": "x"}, is_fault=True, reason=f"so it is {SECRET}"))[1] == "so it is ***"
    assert said(call(result={"message": "all well"}))[1] == ""
    assert said(call(reply=NOTHING, is_fault=True))[1] == ""


def test_where_its_time_went() -> None:
    timings = CallTimings()
    timings.received_at, timings.person_s, timings.start_s, timings.server_s = 10.0, 1.0, 2.0, 3.0
    timings.answered_at, timings.sent_at, timings.allowed_by = 16.5, 17.0, "person"
    row = columns(call(timings=timings))
    assert [row[name] for name in ("queue_s", "person_s", "start_s", "server_s", "back_s", "allowed_by")] == [0.5, 1, 2, 3, 0.5, "person"]
    timings.server_s, timings.person_s, timings.sent_at = 3.6, None, None
    timings.answered_at = 15.0
    row = columns(call(timings=timings))
    assert (row["queue_s"], row["person_s"], row["back_s"]) == (0.0, None, None)  # parts that were measured one by one
    timings.answered_at = None
    assert columns(call(timings=timings))["queue_s"] is None


def test_arguments_and_result_are_kept_where_a_person_wants_them_until_the_time_is_over() -> None:
    event = call(arguments={"a": SECRET}, result={"b": SECRET})
    assert made(event).contents is None
    assert made(event, contents=True).contents == Contents('{"a": "***"}', '{"b": "***"}', False)
    assert columns(event, contents=True, contents_until=NOW + 1)["has_contents"] is True
    assert made(event, contents=True, contents_until=NOW).contents is None
    assert made(JournalEvent(kind="start", at=NOW, outcome="ok"), contents=True).contents is None
    approval = JournalEvent(kind="approval", at=NOW, outcome="once", params=call(arguments={"path": "a"}).params)  # the user changed them
    assert made(approval, contents=True).contents == Contents('{"path": "a"}', "", False)


def test_the_change_that_the_user_was_shown_is_kept_with_the_contents_masked_and_bounded() -> None:
    timings = CallTimings()
    timings.diff = (f"-key {SECRET}", "+key b")
    event = call(arguments={}, result={}, timings=timings)
    assert (made(event).contents, made(event).change) == (None, "-key ***\n+key b")
    assert made(event, contents=True).contents == Contents("{}", "{}", False, "-key ***\n+key b")
    assert made(event, contents=True).change == ""
    timings.diff = (' {"a": 1}',)  # the arguments, which are recorded by themselves
    assert made(event).change == ' {"a": 1}'
    assert made(event, contents=True).contents == Contents("{}", "{}", False)
    timings.diff = ("+" + "x" * LARGEST_BYTES,)
    kept = made(event, contents=True).contents
    assert kept
    assert (len(kept.diff), kept.is_cut) == (LARGEST_BYTES, True)


def test_the_target_of_a_call_that_the_user_was_asked_about_is_kept_in_full() -> None:
    path, timings = "/" + "long/" * 100 + "a.md", CallTimings()
    assert len(said(call(arguments={"path": path}, timings=timings))[0]) == LONGEST_TARGET
    timings.person_s = 1.0
    assert said(call(arguments={"path": path}, timings=timings))[0] == path


def test_what_was_left_out_of_them_is_marked() -> None:
    assert made(call(params=NOTHING, argument_bytes=10**7), contents=True).contents == Contents("", '{"content": []}', True)
    kept = made(call(result={"a": "x" * 10**6}), contents=True).contents
    assert kept
    assert kept.is_cut


def mask(*secrets: str) -> Mask:
    made = Mask(lambda: secrets)
    made.refresh()
    return made


def test_without_secrets_the_text_is_as_it_came() -> None:
    assert masked_json(Raw(b'{ "a": [1.50, null] }'), mask()) == ('{ "a": [1.50, null] }', False)
    assert masked_json(NOTHING, mask()) == ("", False)


def test_a_secret_is_masked_in_values_and_names_however_it_is_spelled() -> None:
    spelled = "".join(f"\\u{ord(sign):04x}" for sign in SECRET)
    raw = Raw(f'{{"a": ["{spelled}", {{"x{SECRET}": "{SECRET}"}}], "n": 123456, "f": true, "m": null}}'.encode())
    text, is_cut = masked_json(raw, mask(SECRET, "123456"))
    assert json.loads(text) == {"a": ["***", {"x***": "***"}], "n": "***", "f": True, "m": None}
    assert not is_cut


@pytest.mark.parametrize("raw", [b'{"a": "' + SECRET.encode() + b'", ', b"\xff" + SECRET.encode(), b"[" * 2000 + SECRET.encode()])
def test_what_is_no_json_is_masked_as_text(raw: bytes) -> None:
    text, _ = masked_json(Raw(raw), mask(SECRET))
    assert SECRET not in text
    assert "***" in text


def test_what_is_too_large_is_cut_and_leaves_no_half_of_a_secret() -> None:
    raw = Raw(b'{"a": "' + b"x" * (LARGEST_BYTES - 12) + SECRET.encode() + b"y" * LARGEST_BYTES + b'"}')
    for given in (raw, beginning_of(raw)):
        text, is_cut = masked_json(given, mask(SECRET))
        assert is_cut
        assert len(text.encode()) <= LARGEST_BYTES
        assert SECRET[:4] not in text


def test_a_cut_leaves_whole_characters() -> None:
    text, is_cut = masked_json(dump({"a": "€" * LARGEST_BYTES}), mask())
    assert (text[-1], is_cut) == ("€", True)
    assert masked_json(large(10), mask())[1] is False
