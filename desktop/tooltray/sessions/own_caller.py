"""Who calls where no AI client does: the command line and the desktop.

Above it: McpPresenter. There is nobody to ask, and progress is not shown. It works on a project only where the person names one; without
one it has the servers of all projects.
"""

from msgspec import Raw
from msgspec.structs import replace

from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, failure
from tooltray.sessions.session_state import SessionState
from tooltray.snapshots.clients import SessionProject


class OwnCaller:
    """Satisfies Session; one serves all calls."""

    name, identity, folder, is_lasting, introduction = "tooltray", "tooltray", "", False, NOTHING
    capabilities = Raw(b"{}")

    def __init__(self, state: SessionState | None = None) -> None:
        self.state = state or SessionState("tooltray", client="tooltray", is_persons=True)

    def in_project(self, project: SessionProject) -> "OwnCaller":
        """The same person, who works on a project."""
        return OwnCaller(replace(self.state, projects={"person": project}))

    @property
    def session(self) -> "OwnCaller":
        return self

    def can_answer(self, method: str) -> bool:
        return False

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        return failure(METHOD_NOT_FOUND, f"nobody can answer {method} here")

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Nobody listens."""
