"""Whatever a client asks and whenever hubs die: each request is answered once, and no hub is asked the same twice."""

import json
import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.fake_hub import reply, request

from tooltray_bridge.tracker import Tracker

METHODS = ("tools/call", "tools/call", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
REFUSED = b'{"code":-32603,"message":"no hub"}'
NEWS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n'


def in_array(lines: list[bytes]) -> bytes:
    return b"[%b]\n" % b",".join(line[:-1] for line in lines)


def messages_in(data: bytes) -> list[dict[str, Any]]:
    """All messages, also those of arrays; what was cut by a hub's end is none."""
    found: list[dict[str, Any]] = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        found += value if isinstance(value, list) else [value]
    return found


class Hub:
    """Answers in any order: what came alone alone, a batch in one array."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._rest = b""
        self._open: list[tuple[bool, list[Any]]] = []  # whether it came as a batch, the ids
        self.asked: Counter[str] = Counter()
        self.saying = b""

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            asked = [message for message in messages_in(line) if "method" in message]
            if ids := [message["id"] for message in asked if "id" in message]:
                self.asked.update(map(json.dumps, ids))
                self._open.append((line.startswith(b"["), ids))
            for message in asked:
                if message["method"] == "notifications/cancelled":
                    self._forget(message["params"]["requestId"])

    def _forget(self, id: Any) -> None:
        self._open = [(is_batch, rest) for is_batch, ids in self._open if (rest := [each for each in ids if each != id])]

    def speak(self) -> bool:
        """Answers one line, or tells some news; returns whether there was something to answer."""
        if not self._open:
            self.saying += NEWS
            return False
        is_batch, ids = self._open.pop(self._rng.randrange(len(self._open)))
        self._rng.shuffle(ids)
        answers = [reply(id, text="x" * self._rng.randrange(40)) for id in ids]
        self.saying += in_array(answers) if is_batch else answers[0]
        return True


class Bridge:
    """A client's bytes, a tracker between, and one hub after the other, as `hot` and `cold` bring them together."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self.tracker = rng, Tracker()
        self.hub: Hub | None = Hub(rng)
        self.hubs = [self.hub]
        self.given = b""

    def client_writes(self, data: bytes) -> None:
        passed = self.tracker.client_sent(data)
        if self.hub:
            self.hub.take(passed)
        else:
            assert passed == b""
        self.given += self.tracker.take_owed()

    def hub_writes(self, size: int) -> None:
        assert self.hub
        chunk, self.hub.saying = self.hub.saying[:size], self.hub.saying[size:]
        if chunk:
            self.given += self.tracker.hub_sent(chunk)
            self.given += self.tracker.take_owed()

    def hub_dies(self) -> None:
        self.hub = None
        self.given += self.tracker.hub_lost()

    def hub_comes(self) -> None:
        self.hub = Hub(self._rng)
        self.hubs.append(self.hub)
        self.hub.take(self.tracker.hub_found())

    def something_happens(self) -> None:
        dice = self._rng.random()
        if self.hub is None:
            if dice < 0.5:
                self.hub_comes()
            elif dice < 0.6:
                self.given += self.tracker.refuse(REFUSED)
        elif dice < 0.1:
            self.hub_dies()
        elif dice < 0.6:
            self.hub.speak()
        else:
            self.hub_writes(self._rng.randrange(1, 120))

    def come_to_rest(self) -> None:
        if self.hub is None:
            self.hub_comes()
        assert self.hub
        while self.hub.speak():
            pass
        self.hub_writes(len(self.hub.saying))


def conversation(rng: random.Random, size: int) -> tuple[bytes, set[int], set[int]]:
    """What a client writes; the ids of its requests; those that it gives up."""
    lines, cancelled = [request(0, "initialize"), b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'], set[int]()
    id = 0
    while id < size:
        messages = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            id += 1
            messages.append(request(id, rng.choice(METHODS), uri=rng.choice("ab"), text="y" * rng.randrange(30)))
        if rng.random() < 0.2:
            gone = rng.randrange(1, id + 1)
            cancelled.add(gone)
            messages.append(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\n' % gone)
        lines += [in_array(messages)] if rng.random() < 0.4 else messages
    return b"".join(lines), set(range(id + 1)), cancelled


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 12))
def test_each_request_is_answered_once_however_often_hubs_die(seed: int, size: int) -> None:
    rng = random.Random(seed)
    stream, ids, cancelled = conversation(rng, size)
    bridge = Bridge(rng)
    while stream:
        cut = rng.randrange(1, 150)
        bridge.client_writes(stream[:cut])
        stream = stream[cut:]
        for _ in range(rng.randrange(4)):
            bridge.something_happens()
    bridge.come_to_rest()

    answered = Counter(message["id"] for message in messages_in(bridge.given) if "method" not in message)
    assert set(answered) <= ids  # and never an id of the bridge's own
    assert {id: answered[id] for id in ids - cancelled} == dict.fromkeys(ids - cancelled, 1)
    assert all(answered[id] <= 1 for id in cancelled)
    assert all(count == 1 for hub in bridge.hubs for count in hub.asked.values())
    assert bridge.tracker.hub_lost() == b""


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.sampled_from([*b'[]{}",:\\ \n1'.decode(), '"id":1', '"method":"x"', '"result"', "\n"]), max_size=60), st.integers(0, 2**32)
)
def test_no_bytes_of_either_side_break_it(parts: list[str], seed: int) -> None:
    rng = random.Random(seed)
    tracker = Tracker()
    for part in parts:
        tracker.client_sent(part.encode())
        tracker.hub_sent(part.encode())
        if rng.random() < 0.1:
            tracker.hub_lost()
            tracker.hub_found()
    tracker.hub_lost()
    tracker.refuse(REFUSED)
    assert not tracker.is_awaiting
