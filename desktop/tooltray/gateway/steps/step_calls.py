"""The exchange of each call of a chain: it is a call as any other, but for its progress, which is the chain's."""

import contextlib
from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING, Envelope, dump
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY, TASKS_EXTENSION, Head, read_head
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import CallerBehind
from tooltray.protocol.sessions.exchange import CallTimings, Exchange, Work
from tooltray.servers.relay.held_calls import PROGRESS


class StepTimings(CallTimings):
    """The timings of one call of a chain. The chain waits for what the call waits for, so that its client is notified of it."""

    __slots__ = ("_chain",)

    def __init__(self, chain: CallTimings) -> None:
        self._chain = chain
        super().__init__()

    @property
    def waits_for(self) -> str:
        return self._chain.waits_for

    @waits_for.setter
    def waits_for(self, waits_for: str) -> None:
        self._chain.waits_for = waits_for

    @property
    def before(self) -> Callable[[], int]:
        return self._chain.before

    @before.setter
    def before(self, before: Callable[[], int]) -> None:
        self._chain.before = before


class _HeldByChain:
    """Held calls of a modern client inside a chain: the chain as a whole is held, so its calls ask at once. Satisfies Held."""

    def is_held(self, state: str, owner: str) -> bool:
        return False

    async def run(self, work: Work, exchange: Exchange, *, owner: str) -> Envelope:
        return await work(exchange)


class _Progress(msgspec.Struct):
    progress: float
    total: float | None = None
    message: str = ""


class StepCalls(CallerBehind):
    """The caller of a chain's calls, which makes their exchanges. The unit of the chain's progress is a step."""

    def __init__(self, exchange: Exchange, steps: int) -> None:
        """
        Args:
            exchange: of the call of `run_steps`.
            steps: how many there are.
        """
        super().__init__(exchange.caller)
        self._exchange, self._steps = exchange, steps
        self._last, self._done, self._share, self._label = -1.0, 0.0, 0.0, ""

    @property
    def capabilities(self) -> Raw:
        """Returns what the client declared, without tasks: a chain needs results."""
        return _without_tasks(self._caller.capabilities)

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        return await self._caller.ask(method, params, about=about)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        if method != PROGRESS:
            self._caller.tell(method, params, about=about)
            return
        with contextlib.suppress(ValueError, RecursionError):  # a server's notification that cannot be read
            news = msgspec.json.decode(params, type=_Progress)
            passed = max(news.progress, 0.0)
            part = passed / (passed + 1.0) if not news.total or news.total <= 0 else min(passed / news.total, 1.0)
            self._report(self._done + self._share * part, news.message)

    def begin(self, step: int, label: str, call: int, calls: int) -> None:
        """Notifies the client that a call begins.

        Args:
            step, call: how many are done; `call`, in this step.
            calls: how many the step has.
        """
        self._share = 1.0 / calls
        self._done, self._label = step + call * self._share, f"{label}, call {call + 1} of {calls}" if calls > 1 else label
        self._report(self._done)

    def exchange(self, tool: str, arguments: Raw) -> Exchange:
        """Returns the exchange of one call."""
        members = {"name": dump(tool), "arguments": arguments}
        meta = opened(self._exchange.request.params).get("_meta")
        return self.repeated(closed(members if meta is None else members | {"_meta": _for_steps(meta)}))

    def repeated(self, params: Raw) -> Exchange:
        """Returns the exchange of a call that is made again with the answers of the client."""
        request = Envelope(id=self._exchange.request.id, method=self._exchange.request.method, params=params)
        exchange = self._exchange.child(request=request, head=read_head(params) or Head(), caller=self)
        exchange.held, exchange.timings, exchange.is_whole = _HELD_BY_CHAIN, StepTimings(self._exchange.timings), True
        return exchange

    def _report(self, progress: float, message: str = "") -> None:
        token = self._exchange.head.meta.progress_token
        if not token or progress <= self._last:
            return
        self._last = progress
        words = f"{self._label}: {message}" if message else self._label
        told = {"progressToken": token, "progress": progress, "total": self._steps, "message": words}
        self._caller.tell(PROGRESS, dump(told), about=self._exchange.request.id)


_HELD_BY_CHAIN = _HeldByChain()


def _for_steps(meta: Raw) -> Raw:
    members = opened(meta)
    if declared := members.get(CLIENT_CAPABILITIES_KEY):
        members[CLIENT_CAPABILITIES_KEY] = _without_tasks(declared)
    return closed(members)


def _without_tasks(capabilities: Raw) -> Raw:
    with contextlib.suppress(ValueError):
        members = opened(capabilities)
        if (extensions := opened(members.get("extensions", NOTHING))).pop(TASKS_EXTENSION, None):
            return closed(members | {"extensions": closed(extensions)})
    return capabilities
