"""A presenter without an engine: McpPresenter's verbs over snapshots in memory, and its bus.

Tests set what it knows, look at `calls` to see what was asked of it, and let a verb fail with `failures`.
"""

from dataclasses import replace
from typing import Any

from tests.fakes.presenter_verbs.access_verbs import AccessVerbs
from tests.fakes.presenter_verbs.approval_verbs import ApprovalVerbs
from tests.fakes.presenter_verbs.feedback_verbs import FeedbackVerbs
from tests.fakes.presenter_verbs.file_verbs import FileVerbs
from tests.fakes.presenter_verbs.format_verbs import FormatVerbs
from tests.fakes.presenter_verbs.offer_verbs import OfferVerbs
from tests.fakes.presenter_verbs.project_verbs import ProjectVerbs
from tests.fakes.presenter_verbs.server_verbs import ServerVerbs
from tests.fakes.presenter_verbs.settings_verbs import SettingsVerbs
from tests.fakes.presenter_verbs.setup_verbs import SetupVerbs
from tests.fakes.presenter_verbs.sign_in_verbs import SignInVerbs
from tests.fakes.presenter_verbs.tool_verbs import ToolVerbs
from tests.fakes.presenter_verbs.view_verbs import ViewVerbs

from tooltray.snapshots.hub import HubSnapshot


class FakePresenter(
    ServerVerbs,
    OfferVerbs,
    ToolVerbs,
    AccessVerbs,
    SetupVerbs,
    SignInVerbs,
    FormatVerbs,
    ViewVerbs,
    ProjectVerbs,
    ApprovalVerbs,
    FeedbackVerbs,
    FileVerbs,
    SettingsVerbs,
):
    """Belongs to one event loop, as the real one does."""

    async def get_snapshot(self) -> HubSnapshot:
        return self.snapshot

    async def get_mcp_enabled(self) -> bool:
        return not self.snapshot.is_paused

    async def set_mcp_enabled(self, enabled: bool) -> None:
        self._note("set_mcp_enabled", enabled)
        self.snapshot = replace(self.snapshot, is_paused=not enabled)
        self._publish_config()

    async def diagnose(self, server: str | None = None, wait_s: float = 0.0) -> list[Any]:
        self._note("diagnose", server)
        return list(self.diagnoses)

    async def initialize(self) -> None:
        self._note("initialize")
