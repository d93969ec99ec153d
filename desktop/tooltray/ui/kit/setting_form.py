"""Settings that apply at once: a row for each, bound to its member of the settings. Its control shows what is true: a failed change goes
back."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.foundation.phrases import Phrase
from tooltray.ui.i18n import say
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.view import View
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.zoom import px

CHOICE_WIDTH = 200  # the longest name of a language, and "System"
Value = bool | int | str


class Setting(msgspec.Struct, frozen=True):
    """A setting with a switch, or with `options` a choice.

    Attributes:
        path: its member of the settings, with dots: "window.theme".
        default: the value without that member, or with one that cannot be used; the default "" is never written.
        options: the values to choose from; another number is offered while it is in the settings.
        words: returns the name of such a value.
        width: px of the choice.
    """

    path: str
    title: str
    text: str = ""
    default: Value = False
    options: Sequence[int | str] = ()
    words: Callable[[Any], str] = str
    width: int = CHOICE_WIDTH


class SettingForm:
    """The rows of a view.

    Args:
        view: begins the changes, and shows why one failed.
        read: reads the settings, and passes them to `show_settings`.
        done: shown after a change, with a button that undoes it; empty: nothing is shown.
    """

    def __init__(self, view: View, read: Work, *, done: str = "") -> None:
        self._view, self._read, self._done, self._theme = view, read, done, view.context.theme
        self._controls: list[tuple[Setting, QWidget]] = []
        self._settings: Mapping[str, object] = {}

    def row(self, setting: Setting, *before: QWidget) -> QWidget:
        """Makes the row of a setting; `before`: other controls, at the left of its own."""
        control = self._choice(setting) if setting.options else self._switch(setting)
        self._controls.append((setting, control))
        _show(control, setting, setting.default)
        return setting_row(self._theme, setting.title, setting.text, *before, control)

    def show_settings(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        for setting, control in self._controls:
            _show(control, setting, value_of(setting, settings))

    def _switch(self, setting: Setting) -> Switch:
        switch = Switch(self._theme, setting.title)
        switch.clicked.connect(lambda is_on: self._change(setting, is_on))
        return switch

    def _choice(self, setting: Setting) -> Choice:
        choice = setting_choice(self._theme, setting.title, setting.width)
        value = int if isinstance(setting.default, int) else str
        choice.chosen_changed.connect(lambda chosen: self._change(setting, value(chosen)))
        return choice

    def _change(self, setting: Setting, value: Value) -> None:
        change, before = self._view.hub.settings.change_settings, value_of(setting, self._settings)
        undo = partial(change, patch(setting.path, before)) if self._done else None
        self._view.run(change(patch(setting.path, None if value == "" else value)), then=self._read, toast=self._done, undo=undo)


def setting_choice(theme: Theme, name: str, width: int = CHOICE_WIDTH) -> Choice:
    """Makes a choice without options yet, for a row; `width`: in px."""
    choice = Choice(theme, [], name=name)
    choice.setFixedWidth(px(width))
    return choice


def value_at(settings: Mapping[str, object], path: str) -> object:
    """Returns a member of the settings, None if it is not there; the settings may contain anything."""
    found: object = settings
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


FOREVER = float("inf")


def recorded_until(settings: Mapping[str, object]) -> float:
    """Returns until when whole arguments and results of calls are recorded, in unix seconds; FOREVER: until the user switches it off;
    0: they are not recorded now.
    """
    until = value_at(settings, "activity.contentsUntil")
    until = float(until) if isinstance(until, int | float) and until else FOREVER
    return until if value_at(settings, "activity.contents") is True and until > time.time() else 0.0


def value_of(setting: Setting, settings: Mapping[str, object]) -> Value:
    """Returns the value of a setting; its default if the settings say nothing that can be used."""
    match value_at(settings, setting.path), setting.default:
        case bool(found), bool():
            return found
        case str(found), str() if found in setting.options:
            return found
        case int(found), int() if found > 0 and not isinstance(found, bool):
            return found
    return setting.default


def patch(path: str, value: object) -> dict[str, object]:
    """Returns the change (JSON Merge Patch) that sets one member."""
    first, _, rest = path.partition(".")
    return {first: patch(rest, value) if rest else value}


def _show(control: QWidget, setting: Setting, value: Value) -> None:
    if isinstance(control, Switch):
        control.set_on(value is True)
    elif isinstance(control, Choice):
        offered = setting.options if isinstance(value, str) else sorted({*setting.options, value})
        control.set_options([(str(each), setting.words(each)) for each in offered])
        control.choose(str(value))


TABLE_FORMS: Mapping[str, bool | None] = {"": None, "true": True, "false": False}
"""The forms in which AI clients get tables in results, and what the settings have for them; None: as chosen elsewhere."""
FORM_TITLES = (("true", Phrase("CSV, where it is smaller")), ("false", Phrase("JSON")))


def form_options(default: str) -> list[tuple[str, str]]:
    """Returns the choices with their titles.

    Args:
        default: the title of the choice that leaves it to other settings.
    """
    return [("", default), *((form, say(title)) for form, title in FORM_TITLES)]


def form_of(csv_tables: bool | None) -> str:
    """Returns the choice for a value of the settings."""
    return next(form for form, each in TABLE_FORMS.items() if each is csv_tables)
