"""Server-sent events in both directions."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.protocol.event_stream import KEEPALIVE, Event, EventReader, event_parts


def events_of(*chunks: bytes) -> list[Event]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


def data_of(*chunks: bytes) -> list[bytes]:
    return [bytes(event.data) for event in events_of(*chunks)]


def test_an_event_has_data_type_id_and_the_time_to_reconnect_after() -> None:
    assert events_of(b"event: odd\nid: 7\nretry: 250\ndata: {}\n\n") == [Event(b"{}", "odd", "7", 250)]


def test_an_event_without_these_has_none() -> None:
    assert events_of(b"data: x\n\n") == [Event(b"x", "message", None, None)]


def test_every_kind_of_line_end_counts_also_across_chunks() -> None:
    assert data_of(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n") == [b"a", b"b", b"c"]
    assert data_of(b"data: a\r", b"\n\r", b"\n", b"data: b\n", b"\n") == [b"a", b"b"]
    assert data_of(b"data: a\r", b"", b"\ndata: b\r\n\r\n") == [b"a\nb"]


def test_lines_of_data_are_joined_by_line_breaks() -> None:
    assert data_of(b"data: a\ndata\ndata:  b\n\n") == [b"a\n\n b"]


def test_one_blank_behind_the_colon_is_no_part_of_the_value() -> None:
    assert data_of(b"data:a\n\ndata:  b\n\n") == [b"a", b" b"]


def test_comments_unknown_fields_and_a_mere_type_make_no_event() -> None:
    assert events_of(KEEPALIVE, b":\n\nodd: 1\n\nodd\n\nevent: message\n\n\n\n") == []


def test_a_first_event_without_data_is_told_for_its_id_and_time() -> None:
    assert events_of(b"id: 1\nretry: 5\ndata:\n\n") == [Event(b"", "message", "1", 5)]
    assert events_of(b"id: 1\n\n") == [Event(b"", "message", "1")]


def test_an_id_may_be_taken_back() -> None:
    assert [event.id for event in events_of(b"id: 1\n\nid\n\n")] == ["1", ""]


def test_an_impossible_id_or_time_is_ignored() -> None:
    assert events_of(b"id: a\0b\nretry: soon\nretry: -1\ndata: x\n\n") == [Event(b"x")]


def test_a_byte_order_mark_in_front_is_skipped() -> None:
    assert data_of(b"\xef\xbb\xbfdata: x\n\n") == [b"x"]


def test_an_event_that_is_cut_off_is_none() -> None:
    assert data_of(b"data: x\n\ndata: y\n") == [b"x"]


def test_a_type_is_forgotten_with_its_event() -> None:
    assert [event.type for event in events_of(b"event: endpoint\ndata: /\n\ndata: x\n\n")] == ["endpoint", "message"]


def test_a_long_line_in_many_chunks_comes_out_whole() -> None:
    chunks = [b"data: ", *[b"x" * 1000] * 1000, b"\n\n"]
    assert data_of(*chunks) == [b"x" * 1_000_000]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))), st.lists(st.integers(1, 30)))
def test_what_is_written_is_read_however_it_is_cut(texts: list[str], sizes: list[int]) -> None:
    stream = b"".join(b"".join(event_parts([text.encode()], id="n")) for text in texts)
    chunks, at = [], 0
    for size in [*sizes, len(stream)]:
        chunks.append(stream[at : at + size])
        at += size
    assert data_of(*chunks) == [text.encode() for text in texts]


@given(st.binary())
def test_no_bytes_are_too_odd_to_be_read(noise: bytes) -> None:
    assert data_of(b"\n\n" + noise + b"\n\ndata: after\n\n")[-1:] in ([b"after"], [])


def test_an_event_is_written_with_what_is_given() -> None:
    assert b"".join(event_parts([b"{", Raw(b"1"), b"}"])) == b"data: {1}\n\n"
    assert b"".join(event_parts([b"{}"], id="3", type="odd", retry_ms=0)) == b"event: odd\nid: 3\nretry: 0\ndata: {}\n\n"


def test_line_breaks_in_data_survive_writing() -> None:
    for data in (b'{\n"a":1}', b'{\r\n"a":1}', b'{\r"a":1}'):
        assert data_of(b"".join(event_parts([data]))) == [b'{\n"a":1}']
    large = b"[" + b" " * 100_000 + b"\n]"
    assert data_of(b"".join(event_parts([large]))) == [large]


def test_large_data_is_not_copied() -> None:
    large = b"x" * 1_000_000
    _, part, _ = event_parts([large])
    assert isinstance(part, memoryview)
    assert part.obj is large
