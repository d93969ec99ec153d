"""The sheet that shows what allowing a folder allows, before it is allowed: which of the user's servers may start for it, and the servers
in its own file, each of which runs only if it is switched on here or later."""

from collections.abc import Sequence
from functools import partial

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.projects.trust_sheet import TrustSheet
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import GUARD_MS


class FolderSheet(TrustSheet):
    """A sheet that asks whether a folder may be a project.

    Args:
        folder: its path, as chosen.
        requests: of its file; empty: nothing there waits.
        trusted: the servers of its file that are allowed already.
        read: reads what the page shows.
        problem: why its file cannot be read; None: it can, or has none.
    """

    def __init__(
        self,
        context: PageContext,
        folder: str,
        requests: Sequence[TrustRequest],
        read: Work,
        *,
        trusted: Sequence[TrustedEntry] = (),
        problem: Problem | None = None,
        guard_ms: int = GUARD_MS,
    ) -> None:
        self._folder, self._trusted, self._is_readable = folder, trusted, problem is None
        self._deferred = [server.name for server in context.servers.servers if server.is_deferred]
        super().__init__(context, requests, read, guard_ms=guard_ms, title=tr("Allow the folder {folder}?", folder=folder_name(folder)))
        self.body.insertWidget(0, CodeLabel(context.theme, visible_path(folder)))
        self.body.insertWidget(2, Label(context.theme, self._file_words(requests), "body", "secondary", wrap=True))
        if problem is not None:
            self.show_problem(problem)

    def set_requests(self, requests: Sequence[TrustRequest]) -> None:
        """Shows what waits now; the folder's own requests are among them only once it is in use."""
        own = [request for request in requests if request.project == self._project]
        if self._project and own:
            super().set_requests(own)

    def _is_on_at_first(self, requests: Sequence[TrustRequest]) -> bool:
        """Returns False: allowing the folder is the question, and its servers come besides."""
        return False

    def _head(self, requests: Sequence[TrustRequest]) -> str:
        about = tr("AI clients may work in it and in all folders below it, and servers that wait for a project may start for it.")
        if not self._deferred:
            return about + " " + tr("None of your servers waits for a project.")
        return about + " " + tr("Your servers that wait for one: {names}.", names=", ".join(self._deferred))

    def _file_words(self, requests: Sequence[TrustRequest]) -> str:
        allowed = tr("Allowed there already: {names}.", names=", ".join(each.entry for each in self._trusted)) if self._trusted else ""
        if requests:
            text = many(len(requests), "Its file .mcp.json has 1 server that waits.", "Its file .mcp.json has {count} servers that wait.")
            return " ".join(filter(None, (text, tr("What you switch on runs, the rest waits."), allowed)))
        if self._is_readable and not allowed:
            return tr("The folder has no servers of its own.")
        return allowed

    def _draw(self) -> None:
        count = len(self._wanted)
        self._go.setEnabled(not self._is_busy and not self._guard.isActive())
        self._go.setText(many(count, "Allow folder and 1 server", "Allow folder and {count} servers") if count else tr("Allow folder"))

    async def _trust(self, wanted: dict[str, str]) -> None:
        """Allows the servers before the folder: if one has changed meanwhile, nothing is allowed."""
        if wanted:
            await self.hub.files.trust_entries(self._project, wanted)
        allowed = await self.hub.projects.allow_folder(self._folder)
        toast = tr("{folder} is allowed", folder=allowed)
        self.context.offer_undo(toast, partial(self._revoke, allowed, tuple(wanted)))
        self.close_requested.emit()

    async def _revoke(self, folder: str, entries: Sequence[str]) -> None:
        for entry in entries:
            await self.hub.files.distrust_entries(self._project, entry)
        await self.hub.projects.disallow_folder(folder)
        await self._read()
