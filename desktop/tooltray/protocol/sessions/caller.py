"""The caller of a request, and what a server may ask of it while the request runs.

The rule of both eras: a capability that is not declared must not be used, nor a mode of a capability.
"""

from collections.abc import Hashable
from typing import Protocol

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, failure
from tooltray.protocol.eras import CAPABILITY_FOR
from tooltray.protocol.sessions.session_state import SessionState

MAY_ASK = frozenset({"tools/call", "prompts/get", "resources/read"})  # the only requests that 2026-07-28 answers with `input_required`


class Caller(Protocol):
    """The recipient of one call: a session, or a call that represents a session (held_calls)."""

    @property
    def session(self) -> "Session": ...

    @property
    def capabilities(self) -> Raw:
        """Returns what the client declared, as JSON."""
        ...

    def can_answer(self, method: str) -> bool:
        """Returns whether the client declared what a server's request needs."""
        ...

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        """Asks a server's question. `about`: the id of the client's request that the question belongs to, if known."""
        ...

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Sends a notification that belongs to a request of the client's, or to none."""
        ...


class Session(Caller, Protocol):
    """One AI client's connection, compared by identity.

    Attributes:
        name: for records.
        folder: where the client's bridge was started; empty if it is not known.
        is_lasting: False for a single request, as modern clients send them over HTTP: it has no instance of a server of its own, and no
            subscription outlives it.
        introduction: the params of its `initialize`, as the client wrote them; empty before that, and for clients that never send one.
        state: the session's state, which its next connection keeps.
    """

    name: str
    folder: str
    is_lasting: bool
    introduction: Raw
    state: SessionState

    @property
    def identity(self) -> Hashable:
        """Returns a key that distinguishes clients; the same for single requests that are known to be of one client."""
        ...


class CallerBehind:
    """An AI client behind a layer that changes how it is asked: a subclass adds `ask`, and is then a Caller."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def session(self) -> Session:
        return self._caller.session

    @property
    def capabilities(self) -> Raw:
        return self._caller.capabilities

    def can_answer(self, method: str) -> bool:
        return self._caller.can_answer(method)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        self._caller.tell(method, params, about=about)


class OwnCaller:
    """The caller of the command line and the desktop, without an AI client. Satisfies Session; one object serves all calls.

    It answers no questions and shows no progress. It works on a project only if the user names one; without one it has the servers of all
    projects.
    """

    name, identity, folder, is_lasting, introduction = "tooltray", "tooltray", "", False, NOTHING
    capabilities = Raw(b"{}")

    def __init__(self, state: SessionState | None = None) -> None:
        self.state = state or SessionState("tooltray", client="tooltray", is_persons=True, reads_hints=True)

    def in_project(self, project: SessionProject) -> "OwnCaller":
        """Returns a caller for the same user, working on a project."""
        return OwnCaller(replace(self.state, projects={"person": project}))

    def for_model(self) -> "OwnCaller":
        """Returns a caller whose replies a model reads."""
        return OwnCaller(replace(self.state, reads_hints=False))

    @property
    def session(self) -> "OwnCaller":
        return self

    def can_answer(self, method: str) -> bool:
        return False

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        return failure(METHOD_NOT_FOUND, f"no client can answer {method} here")

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Does nothing, because no one reads notifications."""


class Question(msgspec.Struct):
    """A server's request, also in an `input_required` result."""

    method: str
    params: Raw = NOTHING

    def to_json(self) -> dict[str, object]:
        return {"method": self.method} | ({"params": self.params} if self.params else {})


class _Params(msgspec.Struct):
    mode: str = "form"
    tools: Raw = NOTHING
    tool_choice: Raw = msgspec.field(name="toolChoice", default=NOTHING)


def can_be_asked(method: str, capabilities: Raw) -> bool:
    """Returns whether a client that declared `capabilities` can answer a method at all."""
    return _declared(method, capabilities) is not None


def lacking(question: Question, capabilities: Raw) -> dict[str, object]:
    """Returns the capability that a client lacks to answer a question of `CAPABILITY_FOR`; empty if it can answer."""
    name = CAPABILITY_FOR[question.method]
    declared = _declared(question.method, capabilities)
    if declared is None:
        return {name: {}}
    needed = _mode(question)
    is_plain_form = needed == "form" and not declared.keys() & {"form", "url"}  # before 2025-11-25 there was but one mode
    return {name: {needed: {}}} if needed and needed not in declared and not is_plain_form else {}


def _declared(method: str, capabilities: Raw) -> dict[str, object] | None:
    try:
        declared = msgspec.json.decode(capabilities)
    except (ValueError, RecursionError):
        return None
    found = declared.get(CAPABILITY_FOR.get(method)) if isinstance(declared, dict) else None
    return found if isinstance(found, dict) else None


def _mode(question: Question) -> str:
    """Returns the part of its capability that a question needs; empty if it needs none."""
    try:
        params = msgspec.json.decode(question.params, type=_Params) if question.params else _Params()
    except (ValueError, RecursionError):
        return ""  # the client's to judge
    if question.method == "elicitation/create":
        return params.mode
    is_with_tools = question.method == "sampling/createMessage" and (params.tools or params.tool_choice)
    return "tools" if is_with_tools else ""
