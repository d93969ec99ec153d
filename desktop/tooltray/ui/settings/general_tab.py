"""The tab of general settings: language, theme and zoom, how Tooltray starts and closes, which notifications it sends, what the journal
keeps. A change applies at once; a failed one resets the control and is explained."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.languages import languages
from tooltray.foundation.preferences import ACTUAL_SIZE, KINDS, ZOOM_STEPS
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.confinement_words import choice_title
from tooltray.ui.figures import moment, number, zoom_words
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.setting_form import FOREVER, Setting, SettingForm, recorded_until, setting_choice
from tooltray.ui.problem_words import whole
from tooltray.ui.server_text import plain_tip
from tooltray.ui.settings.settings_tab import SettingsTab
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import clear, column

OFF, ALWAYS, UNTIL = "", "always", "until"
DAYS = (7, 30, 90, 365)
MEGABYTES = (50, 200, 1000, 5000)
DEFAULT_DAYS, DEFAULT_MEGABYTES = 30, 200  # as the engine has them where the settings say nothing
MEGABYTE = 1_000_000


class GeneralTab(SettingsTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("General"))
        self._form, self._lost = SettingForm(self, self._read), column()
        self._add_groups()
        self.body.insertLayout(self.body.count() - 1, self._lost)  # above the rows of the journal
        self.body.addStretch(1)
        self._look = self.reading(self._read)
        self.look_requested.connect(self._look)
        context.hub.on_any((ConfigChanged,), self.look_again, self)

    def _add_groups(self) -> None:
        """Adds the groups of rows, in the order in which users look for them."""
        row, system = self._form.row, tr("System")
        names = {"": system, **{each.code: each.name for each in languages()}}
        themes = {"": system, "light": tr("Light"), "dark": tr("Dark")}
        of_window, keys = tr("Of the window and of commands in a terminal."), tr("Size of text in all windows: Ctrl++, Ctrl+-, Ctrl+0.")
        self.add_group(
            tr("Appearance"),
            row(Setting("language", tr("Language"), of_window, "", tuple(names), names.__getitem__)),
            row(Setting("window.theme", tr("Theme"), tr("Of all windows, at once."), "", tuple(themes), themes.__getitem__)),
            row(Setting("window.size", tr("Zoom"), keys, ACTUAL_SIZE, ZOOM_STEPS, zoom_words)),
        )
        hidden, keeps = tr("The window stays away until you open it from the tray."), tr("Keep running when the window closes")
        self.add_group(
            tr("Start and end"),
            self._login_row(),
            row(Setting("window.startsHidden", tr("Start in the tray"), hidden)),
            row(Setting("window.keepsRunning", keeps, tr("Clients keep working; the tray icon stays."), True)),
        )
        choices = {"": tr("Automatic"), **{each: choice_title(each) for each in get_args(AccessChoice)}}
        text = tr(
            "Careful: sandboxed, changes ask. Trusted: changes ask. Free: never asks. "
            "Automatic: careful if from a link or the registry, trusted if you enter it."
        )
        access = Setting("newServers", tr("Access"), text, "", tuple(choices), choices.__getitem__)
        self.add_group(tr("New servers"), row(access))
        kinds = [Setting(f"notifications.{each.name}", say(each.title), say(each.text), each.is_on) for each in KINDS]
        elsewhere = tr("Sent while you look elsewhere. What is switched off still shows in the window.")
        self.add_group(tr("Notifications"), *map(row, kinds), text=elsewhere)
        line, oldest = tr("The path, the host or the first words of a command, without secrets."), tr("Beyond that the oldest entries go.")
        self.add_group(
            tr("Activity"),
            row(Setting("activity.line", tr("One line of each call"), line, True)),
            self._contents_row(),
            row(Setting("activity.days", tr("Keep entries for"), tr("Older ones go."), DEFAULT_DAYS, DAYS, _days)),
            row(Setting("activity.megabytes", tr("Use at most"), oldest, DEFAULT_MEGABYTES, MEGABYTES, _megabytes)),
            self._kept_row(),
            text=tr("What the journal on this computer keeps of calls, questions, starts and failures."),
        )

    async def _read(self) -> None:
        settings = (await self.hub.settings.get_settings()).settings
        self._form.show_settings(settings)
        self._show_contents(settings)
        self._login.set_on((await self.hub.program.get_program()).starts_at_login)
        self._show_journal(await self.hub.activity.get_journal_status())

    def _show_journal(self, status: JournalStatus) -> None:
        self._status.setText(status_words(status))
        self._status.setToolTip(plain_tip(status.path))
        self._clear.setEnabled(bool(status.entries))
        clear(self._lost)
        if status.problem or status.lost:
            self._lost.addWidget(Banner(self._theme, "warning", *lost_words(status)))

    def _login_row(self) -> QWidget:
        title = tr("Start when you log in")
        self._login = Switch(self._theme, title)
        self._login.clicked.connect(lambda is_on: self.run(self.hub.program.set_start_at_login(is_on), then=self._read))
        return setting_row(self._theme, title, tr("In the tray, without a window."), self._login)

    def _contents_row(self) -> QWidget:
        title = tr("Whole arguments and results")
        self._contents = setting_choice(self._theme, title)
        self._contents.chosen_changed.connect(self._on_contents)
        return setting_row(self._theme, title, tr("To see later what was sent and answered. Known secrets are masked."), self._contents)

    def _kept_row(self) -> QWidget:
        self._status = Label(self._theme, "", "caption", "muted", wrap=True)
        self._clear = Button(self._theme, tr("Clear"), "danger", small=True, on_click=self._on_clear)
        self._clear.setAccessibleName(tr("Clear the journal"))
        return setting_row(self._theme, tr("Kept now"), self._status, self._clear)

    def _show_contents(self, settings: Mapping[str, object]) -> None:
        until = recorded_until(settings)
        options = [(OFF, tr("Not kept"))]
        if 0 < until < FOREVER:
            options.append((UNTIL, tr("Until {time}", time=moment(until, datetime.now()))))
        lengths = (("3600", tr("For an hour")), ("86400", tr("For a day")), (ALWAYS, tr("Until I switch it off")))
        self._contents.set_options([*options, *lengths])
        self._contents.choose(OFF if not until else ALWAYS if until == FOREVER else UNTIL)

    def _on_contents(self, chosen: str) -> None:
        until = time.time() + float(chosen) if chosen not in (OFF, ALWAYS, UNTIL) else None
        if chosen != UNTIL:
            changes = {"activity": {"contents": chosen != OFF, "contentsUntil": until}}
            self.run(self.hub.settings.change_settings(changes), then=self._read)

    def _on_clear(self) -> None:
        activity = self.hub.activity
        self.run(activity.clear_activity(), then=self._read, toast=tr("The journal is empty"), undo=activity.undo_clear_activity)


def _days(count: int) -> str:
    return many(count, "1 day", "{count} days")


def _megabytes(count: int) -> str:
    return tr("{count} MB", count=number(count))


def status_words(status: JournalStatus) -> str:
    """Returns how much is in the journal, and since when."""
    if not status.entries:
        return tr("Nothing")
    since, megabytes = moment(status.oldest_at, datetime.now()), number(max(status.bytes / MEGABYTE, 0.1), 1)
    return tr("{entries} entries since {time}, {megabytes} MB", entries=number(status.entries), time=since, megabytes=megabytes)


def lost_words(status: JournalStatus) -> tuple[str, str]:
    """Returns what the journal could not record, and why."""
    title = tr("{count} entries could not be kept", count=status.lost) if status.lost else tr("The journal was damaged")
    return title, whole(Problem(status.problem)) if status.problem else ""
