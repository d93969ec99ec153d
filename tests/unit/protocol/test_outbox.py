"""Large writes leave in slices, at the pace of whoever reads them."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_transport import FakeTransport

from tooltray.protocol.outbox import SLICE_BYTES, Outbox
from tooltray.protocol.unsent import AllUnsent


def make_outbox() -> tuple[Outbox, FakeTransport]:
    transport = FakeTransport()
    return Outbox(transport), transport


def test_a_small_write_leaves_at_once() -> None:
    outbox, transport = make_outbox()
    outbox.write(b"abc")
    assert transport.writes == [b"abc"]


def test_a_large_write_leaves_in_slices_and_stops_when_the_peer_is_slow() -> None:
    outbox, transport = make_outbox()
    data = bytes(range(256)) * (SLICE_BYTES // 100)
    transport.after_write = outbox.pause
    outbox.write(data)
    assert transport.writes == [data[:SLICE_BYTES]]
    outbox.resume()
    assert transport.writes[1] == data[SLICE_BYTES : 2 * SLICE_BYTES]
    transport.after_write = None
    outbox.resume()
    assert transport.written == data
    assert max(map(len, transport.writes)) == SLICE_BYTES


def test_what_waits_is_counted_until_it_has_left_or_nobody_reads_it() -> None:
    outbox, transport = make_outbox()
    unsent = AllUnsent().of(is_server=False)
    outbox.count_for(unsent)
    outbox.write(b"at once")
    assert unsent.bytes == 0
    transport.after_write = outbox.pause
    outbox.write(bytes(2 * SLICE_BYTES + 5))
    outbox.write(b"behind")
    assert unsent.bytes == SLICE_BYTES + 5 + 6
    outbox.resume()
    assert unsent.bytes == 5 + 6
    outbox.discard()
    assert unsent.bytes == 0


def test_a_transport_that_is_ending_takes_nothing_any_more() -> None:
    outbox, transport = make_outbox()
    assert not outbox.is_broken
    transport.close()
    assert outbox.is_broken


def test_nothing_overtakes_what_waits() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"a" * (SLICE_BYTES + 1))
    outbox.write(b"b")
    assert transport.writes == []
    outbox.resume()
    assert transport.written == b"a" * (SLICE_BYTES + 1) + b"b"


def test_closing_waits_until_everything_has_left() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"last words")
    outbox.close()
    assert not transport.is_closing()
    outbox.resume()
    assert (transport.written, transport.is_closing()) == (b"last words", True)


def test_closing_is_immediate_when_nothing_waits() -> None:
    outbox, transport = make_outbox()
    outbox.write(b"x")
    outbox.close()
    assert transport.is_closing()


def test_what_a_lost_peer_has_not_read_is_let_go() -> None:
    outbox, transport = make_outbox()
    outbox.pause()
    outbox.write(b"x" * SLICE_BYTES)
    outbox.discard()
    outbox.resume()
    assert transport.writes == []


@given(
    st.lists(
        st.one_of(st.binary(min_size=1, max_size=20), st.integers(SLICE_BYTES - 1, 3 * SLICE_BYTES).map(bytes), st.booleans()), max_size=12
    )
)
def test_bytes_keep_their_order_however_the_peer_reads(steps: list[bytes | bool]) -> None:
    outbox, transport = make_outbox()
    for step in steps:
        if step is True:
            outbox.pause()
        elif step is False:
            outbox.resume()
        else:
            outbox.write(step)
    outbox.resume()
    assert transport.written == b"".join(step for step in steps if isinstance(step, bytes))


def test_the_fake_is_what_asyncio_expects() -> None:
    assert isinstance(FakeTransport(), asyncio.WriteTransport)
