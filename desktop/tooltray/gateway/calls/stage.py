"""The base of the stages of a tool call. `tool_call.STAGES` lists the stages in the order in which a call passes them."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from tooltray.catalogue.tool_routes import Route
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Work

OK, ERROR, REFUSED, CANCELLED = "ok", "error", "refused", "cancelled"  # how a call ends, for the record


class Terms(msgspec.Struct, frozen=True):
    """The terms that decide which stages a call passes, equal for all calls of one tool from sessions of one kind.

    Attributes:
        era: of the client.
        is_alone: the session has this server only, under the server's own names.
        is_plain: the settings hide no tool from the session.
        shows_views: the client shows the views of tools.
        may_be_task: the client accepts a task as an answer.
        is_free: the rules let the call through; False once the user has been asked.
    """

    route: Route
    era: Era
    is_alone: bool
    is_plain: bool
    shows_views: bool
    may_be_task: bool
    is_free: bool = True


Rest = Callable[[Terms], Work]
"""Composes the stages behind one, perhaps with terms that have changed meanwhile."""


class Stage(Protocol):
    """One feature on the way of a call. The last stage has no rest, and answers."""

    def bind(self, terms: Terms, rest: Rest) -> Work:
        """Returns a function that does this stage's part of such calls, then the rest; `rest(terms)` itself if the stage has no part."""
        ...
