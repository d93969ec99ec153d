"""Carries out the user's actions on the Permissions page, and reports the outcome; a revocation can be undone. Knows no widget."""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.decisions_tab import SHOWN
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.kit.approval_line import disk_diff
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

MOST_ANSWERS = 8  # of the last ones to be seen at once; all are on the Activity page


class PermissionCommands(Commands):
    permissions_changed = Signal(object)  # list[ServerPermissions]
    clients_changed = Signal(object)  # list[ClientModeSnapshot]
    asking_changed = Signal(object)  # `approvals` of the settings
    folders_changed = Signal(object)  # list[str]
    trusted_changed = Signal(object)  # list[TrustedEntry]
    calls_changed = Signal(object)  # list[ApprovalSnapshot] that wait
    requests_changed = Signal(object)  # list[TrustRequest] that wait
    answers_known = Signal(str, str, object)  # a server, its own name for a tool, and list[ActivityRow]
    answers_unknown = Signal(str, str, object)  # the same two, and the Problem for which that could not be read
    decisions_changed = Signal(object)  # list[AuditEntry], the newest first
    decisions_checked = Signal(object)  # AuditCheck
    read_failed = Signal(object)  # Problem of the last read, or None
    changed = Signal(str, object)  # what was done, and what takes it back: Callable[[], None]
    answered = Signal(str)  # the id of a call
    rule_previewed = Signal(str, object)  # as whoever asked has called it, and RulePreview

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._read = CoalescedRead(self._look, tasks=tasks, name="refresh the permissions", show=self.read_failed.emit)
        self._read_waiting = CoalescedRead(self._look_waiting, tasks=tasks, name="refresh the pending approvals")

    def look(self) -> None:
        """Reads everything that the page shows."""
        self._read.ask()
        self._read_waiting.ask()

    def look_waiting(self) -> None:
        """Reads what waits for approval, which the navigation shows, too."""
        self._read_waiting.ask()

    @action()
    async def set_rules(self, server: str, rules: Sequence[str], before: Sequence[str]) -> None:
        """Sets what runs without asking for a server."""
        try:
            await self._hub.approvals.set_server_auto_approve(server, list(rules))
        finally:
            await self._look_permissions()  # the controls then stand where they truly are
        text = tr("What runs without asking of {server} is changed", server=server)
        self.changed.emit(text, partial(self.set_rules, server, before, rules))

    @action()
    async def set_tool(self, server: str, tool: str, choice: str, before: str) -> None:
        """Sets the choice for one tool: "always", "ask" or "default"."""
        try:
            await self._hub.approvals.set_tool_approval(server, tool, choice)
        finally:
            await self._look_permissions()
        words = {"always": tr("{tool} runs without asking", tool=tool), "ask": tr("{tool} asks first", tool=tool)}
        text = words.get(choice) or tr("{tool} is as its server", tool=tool)
        self.changed.emit(text, partial(self.set_tool, server, tool, before, choice))

    @action()
    async def set_client(self, client: str, title: str, rules: Sequence[str] | None, before: Sequence[str] | None) -> None:
        """Sets what runs without asking for one kind of AI client, instead of the servers' own rules; None: the servers' rules apply."""
        try:
            await self._hub.views.set_client_auto_approve(client, None if rules is None else list(rules))
        finally:
            await self._look_clients()
        text = tr("What runs without asking for {client} is changed", client=title)
        self.changed.emit(text, partial(self.set_client, client, title, before, rules))

    @action()
    async def set_guard(self, client: str, title: str, is_on: bool | None, before: bool | None) -> None:
        """Sets the flow guard of one kind of AI client; None: the default."""
        try:
            await self._hub.settings.change_settings({"publish": {"clients": {client: {"flowGuard": is_on}}}})
        finally:
            await self._look_clients()
        self.changed.emit(tr("The flow guard for {client} is changed", client=title), partial(self.set_guard, client, title, before, is_on))

    @action()
    async def set_asking(self, changes: Mapping[str, object], back: Mapping[str, object]) -> None:
        """Changes `approvals` of the settings: when calls ask."""
        try:
            await self._hub.settings.change_settings({"approvals": changes})
        finally:
            await self._look_asking()
        self.changed.emit(tr("When calls ask is changed"), partial(self.set_asking, back, changes))

    @action()
    async def allow_folder(self, path: str) -> None:
        """Allows servers to work in a folder, and in those below it."""
        allowed = await self._hub.projects.allow_folder(path)
        await self._look_folders()
        self.changed.emit(tr("{folder} is allowed", folder=allowed), partial(self.disallow_folder, allowed))

    @action()
    async def disallow_folder(self, path: str) -> None:
        try:
            await self._hub.projects.disallow_folder(path)
        finally:
            await self._look_folders()
        self.changed.emit(tr("{folder} is not allowed any more", folder=path), partial(self.allow_folder, path))

    @action()
    async def distrust(self, project: str, entry: str) -> None:
        try:
            await self._hub.files.distrust_entries(project, entry)
        finally:
            await self._look_trusted()
        self.changed.emit(tr("{name} is not trusted any more", name=entry), partial(self.trust_again, project, entry))

    @action()
    async def trust_again(self, project: str, entry: str) -> None:
        """Undoes the last `distrust`."""
        try:
            await self._hub.files.restore_trust(project, entry)
        finally:
            await self._look_trusted()

    @action()
    async def answer(self, id: str, answer: str) -> None:
        """Answers a call that waits: with one of its choices, the choice of a rule, or "refuse"."""
        try:
            await self._hub.approvals.answer_approval(id, answer)
        finally:
            await self._look_waiting()
        self.answered.emit(id)

    @action(clears=False)
    async def preview_rule(self, name: str, server: str, rule: Mapping[str, object]) -> None:
        """Reads what a rule on arguments would have covered; emits `rule_previewed` with `name`, which identifies the request."""
        self.rule_previewed.emit(name, await self._hub.approvals.preview_rule(server, dict(rule)))

    @action(clears=False)
    async def look_answers(self, server: str, tool: str) -> None:
        """Reads the last answers to calls of a tool; emits `answers_known` or `answers_unknown`."""
        wanted = ActivityFilter(kinds=("approval",), servers=(server,), tools=(tool,))
        try:
            answers = await self._hub.activity.get_activity(wanted, limit=MOST_ANSWERS)
        except TooltrayError as error:
            self.answers_unknown.emit(server, tool, error.problem)
        else:
            self.answers_known.emit(server, tool, answers)

    async def _look(self) -> None:
        await self._look_permissions()
        await self._look_clients()
        await self._look_asking()
        await self._look_folders()
        await self._look_trusted()
        await self._look_decisions()

    async def _look_decisions(self) -> None:
        self.decisions_changed.emit(await self._hub.audit.get_audit(limit=SHOWN))
        self.decisions_checked.emit(await self._hub.audit.verify_audit())

    async def _look_permissions(self) -> None:
        self.permissions_changed.emit(await self._hub.approvals.get_permissions())

    async def _look_asking(self) -> None:
        said = (await self._hub.settings.get_settings()).settings.get("approvals")
        self.asking_changed.emit(said if isinstance(said, Mapping) else {})

    async def _look_clients(self) -> None:
        self.clients_changed.emit(await self._hub.views.get_client_modes())

    async def _look_folders(self) -> None:
        self.folders_changed.emit(await self._hub.projects.get_allowed_folders())

    async def _look_trusted(self) -> None:
        self.trusted_changed.emit(await self._hub.files.get_trusted_entries())

    async def _look_waiting(self) -> None:
        calls = await self._hub.approvals.get_approvals()
        self.calls_changed.emit([replace(call, diff=await disk_diff(self._hub, call)) for call in calls])
        self.requests_changed.emit(await self._hub.files.get_trust_requests())
