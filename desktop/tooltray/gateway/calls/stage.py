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
        is_alone: the session has only this server, under the server's own names.
        is_plain: the settings hide no tool from the session.
        shows_views: the client shows the views of tools.
        may_be_task: the client accepts a task as an answer.
        is_free: the rules allow the call; False once the user has been asked.
    """

    route: Route
    era: Era
    is_alone: bool
    is_plain: bool
    shows_views: bool
    may_be_task: bool
    is_free: bool = True


Rest = Callable[[Terms], Work]
"""Composes the stages after a stage; the terms may have changed meanwhile."""


class Stage(Protocol):
    """One feature on the path of a call. The last stage answers the call."""

    def bind(self, terms: Terms, rest: Rest) -> Work:
        """Returns a function that does this stage's work for such calls and then calls the rest; `rest(terms)` itself if the stage has
        nothing to do.
        """
        ...
