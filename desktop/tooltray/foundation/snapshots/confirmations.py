"""Requests that wait in the window for the user's confirmation, and the passphrase that confirms without a window."""

import msgspec


class ConfirmationSnapshot(msgspec.Struct, frozen=True):
    """A command's request to allow something. Every text in it is cleaned for display."""

    id: str
    what: str  # the beginning of a sentence: "Allowing tool calls"
    verb: str  # of the API
    facts: tuple[tuple[str, str], ...]  # what it is about: names and values, in the order in which they are to be read
    origin: tuple[str, ...]  # the processes that it comes from, the nearest first, e.g. "bash (4242)"
    ai_client: str  # the AI client among them, as people know it; empty: none that is known
    ends_at: float  # unix seconds; then it is refused
    count: int = 1  # so many have asked for the same


class PassphraseState(msgspec.Struct, frozen=True):
    """Whether a passphrase confirms the requests of commands where no window can."""

    is_set: bool
    tries_left: int  # before the next one has to wait
    waits_s: float = 0.0  # until another one is looked at
