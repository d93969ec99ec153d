"""What one session sees of everything that is offered: lazy servers as one tool each until they are activated, the servers and tools of its
profile, and the tools that find and call others.

Above it: the router, which lists through it, and ToolCalls. Below it: the managers of tools, prompts and resources, Modes, SessionStates.
"""

from typing import Protocol

from tooltray.presenter.caller import Caller
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.session_state import SessionState
from tooltray.presenter.tool_manager import Route
from tooltray.wire.envelope import Envelope
from tooltray.wire.eras import Head


class MetaTool(Protocol):
    """A tool of the hub about other tools."""

    async def __call__(self, request: Envelope, head: Head, caller: Caller, held: HeldCalls, *, client: str) -> Envelope: ...


class Views:
    """Belongs to the engine's loop."""

    def meta_tool(self, name: str, state: SessionState) -> MetaTool | None:
        """The tool about other tools that a session calls by this name; None if it is none."""
        return None

    def offers(self, state: SessionState, route: Route) -> bool:
        """Whether a session may call a tool, whether it is shown to it by now or not."""
        return True

    def called(self, state: SessionState, route: Route) -> None:
        """A session calls a tool: the server of a tool that was not shown yet counts as activated from now on."""
