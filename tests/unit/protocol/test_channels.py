"""protocol/channels.py"""

import asyncio
import itertools
import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.heard import Record

from tooltray.protocol.channels import KEPT_OF_OVERSIZED_BYTES, LOOKED_AT_BYTES, READ_BYTES, LineBuffer, on_one_line, read_in_pieces

Dropped = list[tuple[bytes, int]]


def lines_of(chunks: list[bytes], max_line_bytes: int = 2**20) -> tuple[list[bytes], Dropped, LineBuffer]:
    dropped: Dropped = []
    buffer = LineBuffer(on_oversized=lambda ends, size: dropped.append((ends, size)), max_line_bytes=max_line_bytes)
    return [bytes(line) for chunk in chunks for line in buffer.feed(chunk)], dropped, buffer


def cut(stream: bytes, sizes: list[int]) -> list[bytes]:
    """Pieces of these sizes, over and over."""
    ends = itertools.takewhile(lambda end: end < len(stream), itertools.accumulate(itertools.cycle(sizes)))
    return [stream[a:b] for a, b in itertools.pairwise([0, *ends, len(stream)])]


sizes_of_pieces = st.lists(st.integers(1, 400), min_size=1, max_size=20)
lines = st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"")), max_size=20)


@settings(deadline=None)
@given(lines, st.binary(max_size=20).map(lambda rest: rest.replace(b"\n", b"")), sizes_of_pieces)
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], rest: bytes, cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines) + rest
    found, dropped, buffer = lines_of(cut(stream, cuts))
    assert found == [line for line in lines if line.strip(b" \t\r\x0b\x0c")]
    assert (bytes(buffer.finish()), dropped) == (rest, [])


@settings(deadline=None)
@given(st.lists(st.integers(0, 300), max_size=20), sizes_of_pieces, st.integers(1, 200))
def test_exactly_the_lines_beyond_the_bound_are_dropped_however_they_are_cut(sizes: list[int], cuts: list[int], bound: int) -> None:
    lines = [b"x" * size for size in sizes]
    found, dropped, buffer = lines_of(cut(b"".join(line + b"\n" for line in lines), cuts), bound)
    assert found == [line for line in lines if 0 < len(line) <= bound]
    assert dropped == [(line, len(line)) for line in lines if len(line) > bound]
    assert buffer.finish() == b""


@settings(deadline=None)
@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=8), st.integers(0, 30_000))
def test_of_a_dropped_line_both_ends_and_the_size_are_kept(sizes: list[int], bound: int) -> None:
    pieces = [bytes([65 + place]) * size for place, size in enumerate(sizes)]
    line = b"{" + b"".join(pieces) + b"}"
    found, dropped, _ = lines_of([b"{", *pieces, b"}\n", b"next\n"], bound)
    if len(line) <= bound:
        assert found == [line, b"next"]
        return
    (ends, size), *others = dropped
    assert size == len(line)
    if size > 2 * KEPT_OF_OVERSIZED_BYTES:
        line = line[:KEPT_OF_OVERSIZED_BYTES] + line[-KEPT_OF_OVERSIZED_BYTES:]
    assert ends == line
    assert (found, others) == (([b"next"], []) if bound >= 4 else ([], [(b"next", 4)]))


def test_white_space_is_no_line() -> None:
    assert lines_of([b"\n \r\n\t\n", b"a\r\n \n"])[0] == [b"a\r"]


def test_an_unfinished_line_is_handed_out_at_the_end_and_only_once() -> None:
    _, _, buffer = lines_of([b"a\nhal", b"f"])
    assert bytes(buffer.finish()) == b"half"
    assert bytes(buffer.finish()) == b""


def test_an_unfinished_line_beyond_the_bound_is_told_at_the_end() -> None:
    found, dropped, buffer = lines_of([b"x" * 30, b"y" * 30], 50)
    assert (found, dropped) == ([], [])
    assert bytes(buffer.finish()) == b""
    assert dropped == [(b"x" * 30 + b"y" * 30, 60)]


def test_a_line_that_comes_in_one_chunk_is_not_copied_into_a_buffer() -> None:
    line = next(iter(LineBuffer(on_oversized=lambda ends, size: None, max_line_bytes=10).feed(b"abc\n")))
    assert isinstance(line, bytes)


def test_a_message_with_line_breaks_is_brought_onto_one_line() -> None:
    assert on_one_line(b'{\n"a":\r\n1}') == b'{ "a":  1}'
    message = b'{"a":"\\n"}'
    assert on_one_line(message) is message


def test_of_a_very_long_line_it_is_asked_once_whether_anybody_wants_it() -> None:
    asked: list[bytes] = []
    dropped: Dropped = []

    def is_unwanted(head: bytes) -> bool:
        asked.append(head)
        return head.startswith(b"no")

    buffer = LineBuffer(
        on_oversized=lambda ends, size: dropped.append((ends, size)), max_line_bytes=4 * LOOKED_AT_BYTES, is_unwanted=is_unwanted
    )
    found = []
    for begins in (b"yes", b"no", b"yes"):
        for chunk in (begins, b"x" * LOOKED_AT_BYTES, b"x" * 10, b"\n"):
            found += [len(line) for line in buffer.feed(chunk)]
    assert found == [LOOKED_AT_BYTES + 13] * 2
    assert [size for _, size in dropped] == [LOOKED_AT_BYTES + 12]
    assert [head[:3] for head in asked] == [b"yes", b"nox", b"yes"]
    assert {len(head) for head in asked} == {KEPT_OF_OVERSIZED_BYTES}


SENT_BYTES = 4 * READ_BYTES


class Pieces(asyncio.Protocol):
    """Keeps the sizes of what is read."""

    def __init__(self) -> None:
        self.sizes: Record[int] = Record()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        read_in_pieces(transport)

    def data_received(self, data: bytes) -> None:
        self.sizes.add(len(data))

    async def all(self, size: int) -> list[int]:
        await self.sizes.until(lambda: sum(self.sizes.all) == size)
        return self.sizes.all


async def test_a_socket_is_read_in_pieces() -> None:
    near, far = socket.socketpair()
    far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * SENT_BYTES)
    far.setblocking(False)
    transport, pieces = await asyncio.get_running_loop().create_connection(Pieces, sock=near)
    sent = far.send(bytes(SENT_BYTES))
    assert sent > READ_BYTES
    assert max(await pieces.all(sent)) == READ_BYTES
    transport.close()
    far.close()
    await asyncio.sleep(0)


@pytest.mark.posix
async def test_a_pipe_has_the_limit_too() -> None:
    reading, writing = os.pipe()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(asyncio.Protocol, os.fdopen(reading, "rb", 0))
    assert transport.max_size > READ_BYTES  # type: ignore[attr-defined]  # else asyncio calls it by another name now
    read_in_pieces(transport)
    assert transport.max_size == READ_BYTES  # type: ignore[attr-defined]
    transport.close()
    os.close(writing)
    await asyncio.sleep(0)


def test_what_is_not_there_need_not_be_read() -> None:
    read_in_pieces(None)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep a process to so much address space")
def test_a_line_for_which_there_is_no_memory_is_dropped_and_the_next_one_arrives() -> None:
    import resource

    dropped: list[tuple[bytes, int]] = []
    buffer = LineBuffer(on_oversized=lambda ends, size: dropped.append((ends, size)), max_line_bytes=2**40)
    chunk = b"a" * 2**20
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + 32 * 2**20, before[1]))
    try:
        for _ in range(1000):
            list(buffer.feed(chunk))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert list(buffer.feed(b"c\nnext\n")) == [b"next"]
    [(ends, size)] = dropped
    assert (ends[:1], ends[-1:], size) == (b"a", b"c", 1000 * 2**20 + 1)
