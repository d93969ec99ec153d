"""batches.py"""

from msgspec import Raw

from tooltray.protocol.batches import Batches, Parts
from tooltray.protocol.envelope import reply_parts, success
from tooltray.protocol.unsent import AllUnsent


def reply(id: int) -> Parts:
    return reply_parts(Raw(b"%d" % id), success(id))


class Sent:
    def __init__(self) -> None:
        self.all: list[tuple[bytes, bytes]] = []

    def __call__(self, parts: Parts, about: Raw) -> None:
        self.all.append((b"".join(parts), bytes(about)))


def ids(*numbers: int) -> list[Raw]:
    return [Raw(b"%d" % number) for number in numbers]


def test_replies_leave_as_one_array_after_the_last_in_the_order_in_which_they_came() -> None:
    sent = Sent()
    batches = Batches(sent, AllUnsent().of(is_server=False))
    batches.open(ids(1, 2), [])
    assert batches.answer(Raw(b"2"), reply(2))
    assert (sent.all, bool(batches.waiting)) == ([], True)
    assert batches.answer(Raw(b"1"), reply(1))
    assert sent.all == [(b'[{"jsonrpc":"2.0","id":2,"result":2},{"jsonrpc":"2.0","id":1,"result":1}]\n', b"1")]
    assert not batches.waiting


def test_a_reply_to_no_batch_is_somebody_elses() -> None:
    sent = Sent()
    assert not Batches(sent, AllUnsent().of(is_server=False)).answer(Raw(b"1"), reply(1))
    assert sent.all == []


def test_a_request_that_is_not_going_to_be_answered_holds_nothing_up() -> None:
    sent = Sent()
    batches = Batches(sent, AllUnsent().of(is_server=False))
    batches.open(ids(1, 2), [])
    batches.answer(Raw(b"1"), reply(1))
    batches.leave(b"2")
    batches.leave(b"2")
    assert [text for text, _ in sent.all] == [b'[{"jsonrpc":"2.0","id":1,"result":1}]\n']


def test_a_batch_of_which_nothing_is_answered_says_nothing() -> None:
    sent = Sent()
    batches = Batches(sent, AllUnsent().of(is_server=False))
    batches.open(ids(1), [])
    batches.leave(b"1")
    batches.open([], [])
    assert sent.all == []


def test_what_is_no_message_is_refused_in_the_array_or_at_once_where_nothing_else_is_asked() -> None:
    sent = Sent()
    batches = Batches(sent, AllUnsent().of(is_server=False))
    refusal = reply_parts(Raw(b""), success("refused"))
    batches.open([], [refusal])
    batches.open(ids(1), [refusal])
    batches.answer(Raw(b"1"), reply(1))
    assert [text.count(b"refused") for text, _ in sent.all] == [1, 1]
    assert sent.all[1][0].count(b"jsonrpc") == 2


def test_an_id_that_is_in_a_batch_already_stays_there() -> None:
    sent = Sent()
    batches = Batches(sent, AllUnsent().of(is_server=False))
    batches.open(ids(1, 1), [])
    batches.open(ids(1, 2), [])
    batches.answer(Raw(b"1"), reply(1))
    batches.answer(Raw(b"2"), reply(2))
    assert [about for _, about in sent.all] == [b"1", b"2"]


def test_what_waits_for_its_batch_counts_until_it_leaves_or_nobody_reads_it() -> None:
    unsent = AllUnsent().of(is_server=False)
    batches = Batches(Sent(), unsent)
    batches.open([Raw(b"1"), Raw(b"2")], [])
    batches.answer(Raw(b"1"), reply(1))
    assert unsent.bytes == len(bytes(reply(1)[1]))
    batches.leave(b"2")
    assert unsent.bytes == 0
    batches.open([Raw(b"3"), Raw(b"4")], [])
    batches.answer(Raw(b"3"), reply(3))
    batches.clear()
    assert unsent.bytes == 0


def test_what_nobody_reads_is_forgotten() -> None:
    batches = Batches(Sent(), AllUnsent().of(is_server=False))
    batches.open(ids(1), [])
    batches.clear()
    assert not batches.waiting
