"""Who a request is for, and who may be asked while it runs.

Above it: sessions of AI clients and our own front ends, which satisfy these. Below it: McpClient, ManagedServer and the calls across eras,
which see nothing else of them.
"""

from collections.abc import Hashable
from typing import Protocol

from msgspec import Raw

from tooltray.protocol.envelope import NOTHING, Envelope
from tooltray.sessions.session_state import SessionState


class Caller(Protocol):
    """Who one call is for: a session, or a call that stands for one (held_calls)."""

    @property
    def session(self) -> "Session": ...

    @property
    def capabilities(self) -> Raw:
        """What the client declared, as JSON."""
        ...

    def can_answer(self, method: str) -> bool:
        """Whether it declared what a server's request needs."""
        ...

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        """A server's question. `about`: the id of the client's request that it belongs to, where that is known."""
        ...

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """News that belongs to a request of the client's, or to none."""
        ...


class Session(Caller, Protocol):
    """One AI client's connection; told apart by identity.

    Attributes:
        name: for records.
        folder: where the client's bridge was started; empty if it is not known.
        is_lasting: False for a request that stands for itself, as modern clients send them over HTTP: it has no copy of a server of its
            own, and no subscription outlives it.
        introduction: the params of its `initialize`, as the client wrote them; empty before that, and for clients that never send one.
        state: what is kept of it, also for its next connection.
    """

    name: str
    folder: str
    is_lasting: bool
    introduction: Raw
    state: SessionState

    @property
    def identity(self) -> Hashable:
        """Tells clients apart; the same for requests that stand for themselves, if they are known to be of one client."""
        ...
