"""Who asks the engine for something, and whether a person confirms what widens what may happen.

A verb that widens (trust, an approval, a grant, an allowed folder, wider rules, a trusted token, an address for others) calls
`confirm_widening` before it does anything. What carries verbs to the engine says with `asked_by` who asks: the window, a command, a program
over REST. An asker confirms in its own way, and records what was decided (room audit) before the verb goes on. A new way to confirm is
another `Asker`; no verb changes for it. Nobody asks unless a carrier says so, and then nothing is widened.
"""

import contextlib
from collections.abc import Coroutine, Iterator, Mapping
from contextvars import ContextVar
from typing import Protocol, TypeVar

import msgspec

from tooltray.foundation.errors import Conflict, Denied
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.request_scope import request_scoped

T = TypeVar("T")


class Wish(msgspec.Struct, frozen=True):
    """What somebody asks for that widens, or takes back, what may happen.

    Attributes:
        what: the beginning of a sentence: "Allowing tool calls".
        about: what it is about, by the names of things (server, tool, folder); it is recorded, so no secret is in it.
        verb: of the API.
        arguments: of the verb, as they came over the control socket; for the person's eyes alone, never recorded.
        shown: what else the person is to see, and is not recorded: a command line may have a key in it.
        is_shown: the window asks about the same thing already, e.g. about a call that waits.
        is_reading: it allows nothing and shows what only a person is to see; that is not recorded.
    """

    what: str
    about: Mapping[str, str] = {}
    verb: str = ""
    arguments: Mapping[str, object] = {}
    shown: Mapping[str, str] = {}
    is_shown: bool = False
    is_reading: bool = False


class Asker(Protocol):
    """Whoever calls a verb of the engine.

    Attributes:
        name: by which a person knows who asked; empty where that is the person.
        proposes: without a confirmation, an entry of a server that comes from here is kept and waits for a person's yes.
        is_window: what the person does in the window itself, and no program can do for them.
    """

    @property
    def name(self) -> str: ...
    @property
    def proposes(self) -> bool: ...
    @property
    def is_window(self) -> bool: ...

    def on_asked(self, seconds: float) -> None:
        """Hears that a person is asked, in seconds how long; who waits for this request waits longer then."""
        ...

    async def has_confirmed(self) -> bool:
        """Whether what comes from here counts without a further question. Asks nobody."""
        ...

    async def confirm(self, wish: Wish) -> None:
        """Has a person confirm what widens, and records it.

        Raises:
            Denied: nobody has confirmed it; says how somebody can.
            TooltrayError: it cannot be recorded; then it is not to happen.
        """
        ...

    async def note(self, wish: Wish) -> None:
        """Records what needs no confirmation, since it takes something back."""
        ...


class Person:
    """The person at the window, or at a terminal, where nothing records what they decide (a hub's askers do, see room consent)."""

    name, proposes, is_window = "", False, False

    def on_asked(self, seconds: float) -> None:
        pass

    async def has_confirmed(self) -> bool:
        return True

    async def confirm(self, wish: Wish) -> None:
        pass

    async def note(self, wish: Wish) -> None:
        pass


class NeedsPassphrase(Denied):
    """The passphrase that a person set confirms it; it can be given with `confirm_with_passphrase`, and the verb called again."""


class Unattended(Person):
    """A command, or a program at the control socket, without a terminal where somebody could have read what it is about."""

    async def has_confirmed(self) -> bool:
        return False

    async def confirm(self, wish: Wish) -> None:
        raise needs_terminal(wish.what)


PERSON, UNATTENDED = Person(), Unattended()
YES_TO_CALLS = Phrase("Allowing tool calls")  # what widens approval
OTHER_WORDS = Phrase("Showing a tool in other words")  # a model may take it for another one
_asker: ContextVar[Asker] = request_scoped("asker", UNATTENDED)
_call: ContextVar[tuple[str, Mapping[str, object]]] = request_scoped("call", ("", {}))


def needs_terminal(what: str) -> Denied:
    """Why something is not done from a script, or by an AI client that can start commands."""
    reason = Phrase("standard input and standard output must be one")
    return Denied(Phrase("{what} needs a person at a terminal", what=what), reason, Phrase("Type the command yourself, in a terminal"))


def check_unchanged(before: object, now: object) -> None:
    """Behind a confirmation, which may have waited for minutes: what it was about is what it was when the person was asked.

    Raises:
        Conflict: it is another thing, and the person has not seen that.
    """
    if before != now:
        reason = Phrase("it is not what you were asked about any more, so nothing was allowed")
        raise Conflict(Phrase("This has changed meanwhile"), reason, Phrase("Look at it as it is now, and try again"))


def set_asker(asker: Asker) -> None:
    """Whoever asks in this task, and in those that it starts, from now on."""
    _asker.set(asker)


def set_call(verb: str, arguments: Mapping[str, object] = {}) -> None:
    """Which verb is called in this task, for who asks a person about it, or records it; of secrets only their names."""
    secrets = arguments.get("secrets")
    _call.set((verb, {**arguments, "secrets": list(secrets)} if isinstance(secrets, Mapping) else arguments))


@contextlib.contextmanager
def asked_by(asker: Asker) -> Iterator[None]:
    """Whoever asks for what is done inside."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


def with_current_asker(work: Coroutine[object, None, T]) -> Coroutine[object, None, T]:
    """Wraps work for a background task that is a part of the current request, so that it keeps the request's asker."""

    async def run(asker: Asker) -> T:
        _asker.set(asker)
        return await work

    return run(_asker.get())


def current_asker() -> Asker:
    """Who asks now."""
    return _asker.get()


def asker_name() -> str:
    """Who asks now, for a person to read; empty for a person."""
    return _asker.get().name


async def confirm_widening(what: str, shown: Mapping[str, object] = {}, /, **about: object) -> None:
    """Lets a verb go on that widens what may happen.

    Args:
        what, shown: see Wish.
        about: the names of things that it is about: server="files". What is empty is left out.

    Raises:
        Denied: nobody has confirmed it; says how somebody can.
        TooltrayError: it cannot be recorded.
    """
    await _asker.get().confirm(Wish(what, _texts(about), *_call.get(), shown=_texts(shown)))


async def confirm_answer(what: str, /, **about: object) -> None:
    """The same for a yes to something that the window asks about itself.

    Raises: as `confirm_widening`.
    """
    await _asker.get().confirm(Wish(what, _texts(about), *_call.get(), is_shown=True))


async def confirm_reading(what: str, /) -> None:
    """Lets a verb go on that shows what only a person is to see.

    Raises:
        Denied: no person asks.
    """
    await _asker.get().confirm(Wish(what, is_reading=True))


async def note_narrowing(what: str, /, **about: object) -> None:
    """Records that something was taken back or refused, which everybody may do; never fails.

    Args:
        what, about: as of `confirm_widening`.
    """
    await _asker.get().note(Wish(what, _texts(about), *_call.get()))


def _texts(about: Mapping[str, object]) -> dict[str, str]:
    """Names joined where there are several; what is empty says nothing."""
    there = {name: value for name, value in about.items() if value not in (None, "", (), [], {})}
    return {name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for name, value in there.items()}


async def must_wait() -> bool:
    """Whether a server's new or changed entry is to wait for a person's yes before it counts."""
    asker = _asker.get()
    return asker.proposes and not await asker.has_confirmed()
