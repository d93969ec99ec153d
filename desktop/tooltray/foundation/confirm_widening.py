"""Identifies the caller of a verb of the engine, and has the user confirm each change that widens permissions.

A verb that widens permissions (trust, an approval, a grant, an allowed folder, wider rules, a trusted token, an address for others) calls
`confirm_widening` before it does anything. The carrier of a request sets its asker with `asked_by`: the window, a command, a program over
REST. Each `Asker` confirms in its own way, and records the decision (package consent) before the verb continues. A new way to confirm is
another `Asker`; no verb changes for it. Without a carrier the asker is `Unattended`, and nothing is widened.
"""

import contextlib
from collections.abc import Coroutine, Iterator, Mapping
from contextvars import Context, ContextVar, copy_context
from typing import Protocol, TypeVar

import msgspec

from tooltray.foundation.errors import Conflict, Denied
from tooltray.foundation.phrases import Phrase

T = TypeVar("T")


class Wish(msgspec.Struct, frozen=True):
    """A request that widens permissions, narrows them, or reads something private.

    Attributes:
        what: the beginning of a sentence: "Allowing tool calls".
        about: the names of the things concerned (server, tool, folder). They are recorded, so no secret is in them.
        verb: of the API.
        arguments: of the verb, as they came over the control socket. Only the user sees them; they are never recorded.
        shown: further facts that the user sees. They are not recorded: a command line may contain a key.
        is_shown: the window already asks about the same thing, e.g. about a call that waits.
        is_reading: it allows nothing, and shows data that only the user may see; this is not recorded.
    """

    what: str
    about: Mapping[str, str] = {}
    verb: str = ""
    arguments: Mapping[str, object] = {}
    shown: Mapping[str, str] = {}
    is_shown: bool = False
    is_reading: bool = False


class Asker(Protocol):
    """The caller of a verb of the engine.

    Attributes:
        name: by which the user knows the caller; empty if that is the user.
        proposes: without a confirmation, a server entry from this caller is stored as a proposal and waits for the user's approval.
        is_window: the user acts in the window itself, where no program can act for them.
        way: where a decision is made that needs no confirmation; see AuditEntry.
    """

    @property
    def name(self) -> str: ...
    @property
    def proposes(self) -> bool: ...
    @property
    def is_window(self) -> bool: ...
    @property
    def way(self) -> str: ...

    def on_asked(self, seconds: float) -> None:
        """Handles the notice that the user is being asked, and for how many seconds at most; the caller may extend its own time limit."""
        ...

    async def has_confirmed(self) -> bool:
        """Returns whether requests of this caller count without a further question. Never asks."""
        ...

    async def confirm(self, wish: Wish) -> None:
        """Requests the user's confirmation of a request that widens permissions, and records the decision.

        Raises:
            Denied: the user has not confirmed it; the hint names a way to confirm.
            TooltrayError: it cannot be recorded, and so must not happen.
        """
        ...

    async def note(self, wish: Wish) -> None:
        """Records a request that needs no confirmation, because it narrows permissions."""
        ...


class Person:
    """The user at the window or at a terminal. This asker records no decisions; a hub's askers do (package consent)."""

    name, proposes, is_window, way = "", False, False, ""

    def on_asked(self, seconds: float) -> None:
        pass

    async def has_confirmed(self) -> bool:
        return True

    async def confirm(self, wish: Wish) -> None:
        pass

    async def note(self, wish: Wish) -> None:
        pass


class NeedsPassphrase(Denied):
    """A refusal until the user's passphrase is given with `confirm_with_passphrase`; the verb can then be called again."""


class Unattended(Person):
    """A command, or a program at the control socket, without a terminal at which the user could have read the question."""

    async def has_confirmed(self) -> bool:
        return False

    async def confirm(self, wish: Wish) -> None:
        raise needs_terminal(wish.what)


PERSON, UNATTENDED = Person(), Unattended()
YES_TO_CALLS = Phrase("Allowing tool calls")  # in a Wish that widens approvals
OTHER_WORDS = Phrase("Showing a tool in other words")  # a model may take it for another one
OVERWRITTEN = Phrase("Reading a file that a call would overwrite")
_NO_CALL: tuple[str, Mapping[str, object]] = ("", {})
_asker: ContextVar[Asker] = ContextVar("asker", default=UNATTENDED)
_call: ContextVar[tuple[str, Mapping[str, object]]] = ContextVar("call", default=_NO_CALL)


def needs_terminal(what: str) -> Denied:
    """Returns the refusal for a script, or for an AI client that can run commands."""
    reason = Phrase("standard input and standard output must be one")
    return Denied(Phrase("{what} needs a person at a terminal", what=what), reason, Phrase("Type the command yourself, in a terminal"))


def check_unchanged(before: object, now: object) -> None:
    """Checks after a confirmation, which may have taken minutes, that its subject is unchanged since the user was asked.

    Raises:
        Conflict: it has changed, and the user has not seen the change.
    """
    if before != now:
        reason = Phrase("it is not what you were asked about any more, so nothing was allowed")
        raise Conflict(Phrase("This has changed meanwhile"), reason, Phrase("Look at it as it is now, and try again"))


def set_asker(asker: Asker) -> None:
    """Sets the asker of this task, and of those that it starts, from now on."""
    _asker.set(asker)


def set_call(verb: str, arguments: Mapping[str, object] = {}) -> None:
    """Sets the verb that this task calls, for questions and records; of secrets only the names are stored."""
    secrets = arguments.get("secrets")
    _call.set((verb, {**arguments, "secrets": list(secrets)} if isinstance(secrets, Mapping) else arguments))


@contextlib.contextmanager
def asked_by(asker: Asker) -> Iterator[None]:
    """Sets the asker for the block."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


def background_context() -> Context:
    """Returns a copy of the caller's context without its request, so that a background task does not act for the asker of that request."""
    context = copy_context()
    context.run(_asker.set, UNATTENDED)
    context.run(_call.set, _NO_CALL)
    return context


def with_current_asker(work: Coroutine[object, None, T]) -> Coroutine[object, None, T]:
    """Wraps work for a background task that is a part of the current request, so that it keeps the request's asker."""

    async def run(asker: Asker) -> T:
        _asker.set(asker)
        return await work

    return run(_asker.get())


def current_asker() -> Asker:
    """Returns the asker of the current request."""
    return _asker.get()


def asker_name() -> str:
    """Returns the asker's name for display; empty for the user."""
    return _asker.get().name


async def confirm_widening(what: str, shown: Mapping[str, object] = {}, /, **about: object) -> None:
    """Requests confirmation for a verb that widens permissions, before the verb does anything.

    Args:
        what, shown: see Wish.
        about: the names of the things concerned: server="files". Empty values are left out.

    Raises:
        Denied: the user has not confirmed it; the hint names a way to confirm.
        TooltrayError: it cannot be recorded.
    """
    await _asker.get().confirm(Wish(what, _texts(about), *_call.get(), shown=_texts(shown)))


async def confirm_answer(what: str, /, **about: object) -> None:
    """Confirms an approval of something that the window already asks about, like `confirm_widening`.

    Raises: as `confirm_widening`.
    """
    await _asker.get().confirm(Wish(what, _texts(about), *_call.get(), is_shown=True))


async def confirm_reading(what: str, /) -> None:
    """Checks that the user is asking, for a verb that shows something only the user may see.

    Raises:
        Denied: the caller is not the user.
    """
    await _asker.get().confirm(Wish(what, is_reading=True))


async def note_narrowing(what: str, /, **about: object) -> None:
    """Records that permissions were narrowed or something was refused, which every caller may do; never fails.

    Args:
        what, about: as of `confirm_widening`.
    """
    await _asker.get().note(Wish(what, _texts(about), *_call.get()))


def _texts(about: Mapping[str, object]) -> dict[str, str]:
    """Returns the values as texts, with the items of lists joined; leaves out empty values."""
    there = {name: value for name, value in about.items() if value not in (None, "", (), [], {})}
    return {name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for name, value in there.items()}


async def must_wait() -> bool:
    """Returns whether a new or changed server entry from this caller must wait for the user's approval."""
    asker = _asker.get()
    return asker.proposes and not await asker.has_confirmed()
