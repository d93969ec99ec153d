"""The tab of general settings: language and theme, how Tooltray starts and closes, which notifications it sends. A change applies at once;
a failed one resets the control and is explained."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.languages import languages
from tooltray.foundation.preferences import KINDS, THEMES, Preferences, is_wanted
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.activity_section import ActivitySection
from tooltray.ui.settings.preference_commands import PreferenceCommands
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import column

CHOICE_WIDTH = 200  # the longest name of a language, and "System"
SECTION_GAP = 20


class GeneralTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
        self._area = ReadingScroll(tr("General"))
        self._fault = FaultArea(context.theme)
        column(self).addWidget(NoticesAbove(self._fault, self._area))
        self.commands = PreferenceCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self._notifications: dict[str, Switch] = {}
        self._add_looks()
        self._add_start()
        self._add_notifications()
        self._begin(tr("Activity"), tr("What the journal on this computer keeps of calls, questions, starts and failures."))
        self.activity = ActivitySection(context)
        self._area.body.addWidget(self.activity)
        self._area.body.addStretch(1)
        self.enable(False)
        self.look_requested.connect(self.commands.look)
        self.look_requested.connect(self.activity.commands.look)
        self.activity.commands.failed.connect(self._fault.show_problem)
        self.commands.preferences_changed.connect(self.show_preferences)
        self.commands.login_changed.connect(self._login.set_on)
        self.commands.failed.connect(self._fault.show_problem)
        context.hub.config_changed.connect(self.look_again)

    def enable(self, is_usable: bool) -> None:
        self._area.content.setEnabled(is_usable)

    def show_preferences(self, chosen: Preferences) -> None:
        self._language.choose(chosen.language if chosen.language in self._codes else "")
        self._mode.choose(chosen.theme)
        self._hidden.set_on(chosen.starts_hidden)
        self._keeps.set_on(chosen.keeps_running)
        for kind, switch in self._notifications.items():
            switch.set_on(is_wanted(kind, chosen.notifications))

    def _add_looks(self) -> None:
        theme = self._theme
        known = languages()
        self._codes = {each.code for each in known}
        self._language = self._choice(tr("Language"), [("", tr("System")), *((each.code, each.name) for each in known)])
        self._language.chosen_changed.connect(self._on_language)
        names = {"light": tr("Light"), "dark": tr("Dark")}
        self._mode = self._choice(tr("Theme"), [("", tr("System")), *((mode, names[mode]) for mode in THEMES)])
        self._mode.chosen_changed.connect(self._on_mode)
        rows = (
            setting_row(theme, tr("Language"), tr("Of the window and of commands in a terminal."), self._language),
            setting_row(theme, tr("Theme"), tr("Of all windows, at once."), self._mode),
        )
        self._area.body.addLayout(heading(theme, tr("Appearance")))
        self._area.body.addWidget(group(theme, *rows))

    def _add_start(self) -> None:
        theme = self._theme
        self._login, self._hidden, self._keeps = (
            Switch(theme, name)
            for name in (tr("Start when you log in"), tr("Start in the tray"), tr("Keep running when the window closes"))
        )
        self._login.clicked.connect(self._on_login)
        self._hidden.clicked.connect(self._on_hidden)
        self._keeps.clicked.connect(self._on_keeps)
        rows = (
            setting_row(theme, tr("Start when you log in"), tr("In the tray, without a window."), self._login),
            setting_row(theme, tr("Start in the tray"), tr("The window stays away until you open it from the tray."), self._hidden),
            setting_row(theme, tr("Keep running when the window closes"), tr("Clients keep working; the tray icon stays."), self._keeps),
        )
        self._begin(tr("Start and end"))
        self._area.body.addWidget(group(theme, *rows))

    def _add_notifications(self) -> None:
        theme = self._theme
        rows: list[QWidget] = []
        for kind in KINDS:
            title = say(kind.title)
            switch = self._notifications[kind.name] = Switch(theme, title, on=kind.is_on)
            switch.setProperty("kind", kind.name)
            switch.clicked.connect(self._on_notification)
            rows.append(setting_row(theme, title, say(kind.text), switch))
        self._begin(tr("Notifications"), tr("Sent while you look elsewhere. What is switched off still shows in the window."))
        self._area.body.addWidget(group(theme, *rows))

    def _begin(self, title: str, text: str = "") -> None:
        self._area.body.addSpacing(SECTION_GAP)
        words = ElidedLabel(self._theme, text, "caption", "muted") if text else None
        self._area.body.addLayout(heading(self._theme, title, words))

    def _choice(self, name: str, options: list[tuple[str, str]]) -> Choice:
        choice = Choice(self._theme, options, name=name)
        choice.setFixedWidth(CHOICE_WIDTH)
        return choice

    def _on_language(self, code: str) -> None:
        self.commands.change({"language": code or None})

    def _on_mode(self, mode: str) -> None:
        self._set_window("theme", mode or None)

    def _set_window(self, member: str, value: object) -> None:
        self.commands.change({"window": {member: value}})

    def _on_login(self, is_on: bool) -> None:
        self.commands.set_start_at_login(is_on)

    def _on_hidden(self, is_on: bool) -> None:
        self._set_window("startsHidden", is_on)

    def _on_keeps(self, is_on: bool) -> None:
        self._set_window("keepsRunning", is_on)

    def _on_notification(self, is_on: bool) -> None:
        self.commands.change({"notifications": {str(self.sender().property("kind")): is_on}})
