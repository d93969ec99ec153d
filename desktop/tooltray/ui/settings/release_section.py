"""The section about newer versions of Tooltray: what is known, how it is installed here, whether it is looked for. Draws frozen news."""

from datetime import datetime

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.ui.figures import moment
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.problem_words import whole
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, setting_row
from tooltray.ui.widgets.surface import clear, column


class ReleaseSection(Section):
    """Hidden while the settings have no list of releases."""

    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._status = ElidedLabel(theme, "", "caption", "muted")
        self._check = Button(theme, tr("Check now"), icon="refresh", small=True)
        super().__init__(context, tr("New versions"), self._status, self._check)
        self._check.clicked.connect(lambda: self.run(self.hub.releases.check_for_release(), button=self._check))
        self._news, self._version = ReleaseNews(), ""
        self._found = column(spacing=10)
        self.body.addLayout(self._found)
        name = tr("Check once a day")
        self._switch = Switch(theme, name)
        self._switch.clicked.connect(self._on_switched)
        self.body.addWidget(
            group(theme, setting_row(theme, name, tr("Reads a public list, without your version or any ID."), self._switch))
        )
        self.hide()
        context.hub.snapshot_changed.connect(self._draw)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, and the switch as it is; None removes the failure."""
        super().show_problem(problem)
        if problem is not None:
            self._switch.set_on(self._news.check is True)

    def _draw(self) -> None:
        snapshot = self.hub.snapshot
        if snapshot is None or (snapshot.release, snapshot.version) == (self._news, self._version):
            return
        news, self._news, self._version = snapshot.release, snapshot.release, snapshot.version
        self.setVisible(bool(news.address))
        self._switch.set_on(news.check is True)
        self._status.set_text(_status_words(news))
        clear(self._found)
        if news.withdrawn:
            title = tr("Tooltray {version} was withdrawn. You are using it.", version=snapshot.version)
            self._found.addWidget(Banner(self._theme, "warning", title, news.withdrawn))
        if news.version:
            self._found.addWidget(self._newer(news))

    def _newer(self, news: ReleaseNews) -> Banner:
        buttons = []
        if news.download:
            download = Button(self._theme, tr("Download"), icon="external", small=True)
            download.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(news.download)))
            buttons.append(download)
        if news.command:
            copy = Button(self._theme, tr("Copy command"), icon="copy", small=True)
            copy.clicked.connect(lambda: self.context.copy(news.command, tr("The command is copied")))
            buttons.append(copy)
        text = "\n".join((*(f"• {change}" for change in news.changes), say(news.update)))
        return Banner(self._theme, "info", tr("Tooltray {version} is available", version=news.version), text, *buttons)

    def _on_switched(self, is_on: bool) -> None:
        self.run(choose_updates(self.context, is_on), button=self._switch)


async def choose_updates(context: PageContext, is_wanted: bool) -> None:
    """Switches the daily check for new versions on, and checks at once; or switches it off."""
    await context.hub.settings.change_settings({"updates": {"check": is_wanted}})
    if is_wanted:
        await context.hub.releases.check_for_release()


def _status_words(news: ReleaseNews) -> str:
    if news.problem is not None:
        return whole(news.problem)
    if not news.checked_at:
        return tr("Not checked yet")
    when = moment(news.checked_at, datetime.now())
    return tr("Checked {when}", when=when) if news.version else tr("No newer version. Checked {when}", when=when)
