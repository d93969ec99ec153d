"""Variables or headers of a server, a line for each: a name, a value, and where a secret value is stored.

A secret that the entry has already is never shown, and typing replaces it; one that is typed here can be shown. A value for the store of
secrets is only marked here, and stored when the entry is saved."""

import re
from collections.abc import Callable, Collection, Mapping
from itertools import chain, count

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import plain_tip
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.keyboard import go_to, replace_text
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

KEPT = re.compile(r"((?:Bearer|Basic|Token|ApiKey)\s+)?\$\{secret:([^}]+)\}", re.IGNORECASE)
SCHEME = re.compile(r"^(?:Bearer|Basic|Token|ApiKey)\s+", re.IGNORECASE)
NAME_SHARE, VALUE_SHARE = 2, 3
NAME_CHROME = 28  # px of padding, border and cursor

LooksSecret = Callable[[str, str], bool]
"""Whether a value is one that is not to be read by who looks at the screen; its name, and it."""

SecretPlace = Callable[[], str]
"""Returns where secrets are stored now, as a part of a sentence."""


class PairRow(QWidget):
    """A line with a name and a value.

    Args:
        pairs: the lines to which it belongs.
    """

    def __init__(self, theme: Theme, pairs: "SecretPairs", name: str, value: str, looks_secret: LooksSecret) -> None:
        super().__init__()
        self._theme, self._pairs, self._looks_secret = theme, pairs, looks_secret
        self._given = value  # as it stands in the entry
        self._is_typed = False  # a person typed the value here
        self._is_replacing = False  # the line has a value that is stored with the next save
        self._stored: bool | None = None  # whether it is stored; None: not known
        self._is_moved = False  # the value looks like a secret that was typed, and is stored as one by default
        self._is_plain = False  # the user chose to save it in plain text
        self.name_field = self._field(name)
        self.name_field.setPlaceholderText(tr("NAME"))
        self.name_field.textChanged.connect(self._on_edited)
        self._value = self._field(value)
        self._value.textEdited.connect(self._on_typed)
        self._value.installEventFilter(self)
        self._show = Button(theme, tr("Show"), "ghost", small=True, on_click=self._on_show)
        self._keep = IconButton(theme, "key", "", small=True, on_click=lambda: self._pairs.move_to_secrets(self))
        policy = self._keep.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # all lines have their fields below each other
        self._keep.setSizePolicy(policy)
        self._remove = IconButton(theme, "x", "", small=True, on_click=lambda: self._pairs.remove(self))
        self._note = Label(theme, "", "caption", "muted", wrap=True)
        self._choice = Button(theme, "", "link", small=True, on_click=self._on_choice)
        line = fill(row(spacing=6), (self.name_field, NAME_SHARE), (self._value, VALUE_SHARE), self._show, self._keep, self._remove)
        fill(column(self, spacing=2), line, fill(row(spacing=8), (self._note, 1), self._choice))
        self._draw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begins a replacement when the user types into a stored secret, or pastes another value over it."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress and self._value.isReadOnly() and _is_typing(event):
            self._replace()
        return super().eventFilter(watched, event)

    @property
    def name(self) -> str:
        return self.name_field.text().strip()

    @property
    def value(self) -> str:
        """The value for the entry."""
        return self._given if self.is_kept else self._value.text()

    @property
    def is_kept(self) -> bool:
        """Whether the value is stored as a secret, or will be."""
        return KEPT.fullmatch(self._given) is not None

    @property
    def secret(self) -> tuple[str, str] | None:
        """The name and the value of the secret to store when the entry is saved."""
        found = KEPT.fullmatch(self._given)
        return (found[2], self._value.text()) if found and self._is_replacing and self._value.text() else None

    @property
    def plain(self) -> str:
        """The value that the user chose to save in plain text; empty: none."""
        return _held(self._value.text()) if self._is_plain and not self.is_kept else ""

    @property
    def is_blank(self) -> bool:
        """Whether its name looks like a secret's and it has no value."""
        text = self._value.text()
        is_empty = not self.is_kept and not _held(f"{text.strip()} ").strip()
        return is_empty and bool(self.name) and self._looks_secret(self.name, "x")

    def ask(self) -> None:
        """Requests the value; the scheme of an Authorization header stays in front of it."""
        self.show_fault(tr("Enter its value, or remove it."))
        go_to(self._value)
        if self._value.text().isspace():
            self._value.selectAll()
        else:
            self._value.end(False)

    def show_moved(self, values: Collection[str]) -> None:
        """Shows whether the value is stored as a secret when the entry is saved."""
        is_moved = not self.is_kept and _held(self._value.text()) in values
        if is_moved != self._is_moved:
            self._is_moved = is_moved
            self._draw()

    def set_value(self, value: str) -> None:
        """Shows the entry's current value, without `changed`."""
        if value != self.value:
            self._given = value
            self._is_typed = self._is_replacing = self._is_moved = self._is_plain = False
            replace_text(self._value, value)
            self._draw()

    def set_stored(self, names: Collection[str] | None) -> None:
        """Shows whether the secret is stored; `names`: of all stored secrets, None: they are not known."""
        found = KEPT.fullmatch(self._given)
        self._stored = None if names is None or found is None else found[2] in names
        if self._stored is False and not self._is_replacing:
            self._is_replacing = True
            self._value.clear()
        self._draw()

    def keep_as(self, secret: str) -> None:
        """Replaces the value by a reference to a secret of this name, which is stored with the entry."""
        text = self._value.text()
        held = _held(text)
        self._given = f"{text.removesuffix(held)}${{secret:{secret}}}"
        self._stored, self._is_moved, self._is_plain, self._is_replacing = None, False, False, True
        self._value.setText(held)
        self._on_edited()

    def show_fault(self, fault: str) -> None:
        """Shows below the line what is wrong; empty: nothing."""
        self._note.set_tone("error" if fault else "muted")
        self._note.setText(fault or self._words())
        self._note.setVisible(bool(self._note.text()))

    @property
    def name_width(self) -> int:
        """The width in px at which the name is not cut."""
        return self.name_field.fontMetrics().horizontalAdvance(self.name_field.text()) + px(NAME_CHROME)

    def set_name_width(self, width: int) -> None:
        self.name_field.setMinimumWidth(width)
        self.name_field.setToolTip(plain_tip(self.name) if width < self.name_width else "")

    def focus_secret(self) -> None:
        """Moves the focus to the value of the secret."""
        if self.is_kept and not self._is_replacing:
            self._replace()
        self._value.setFocus(Qt.FocusReason.OtherFocusReason)

    def _field(self, text: str) -> QLineEdit:
        field = text_line(self._theme, "", style="mono")
        field.setText(text)
        field.setCursorPosition(0)
        return field

    def _draw(self) -> None:
        name, place = self.name or tr("this variable"), self._pairs.place()
        is_plain = not self.is_kept and (self._is_moved or self._is_plain or self._looks_secret(self.name, self._value.text()))
        is_secret, is_covered = self.is_kept or is_plain, self.is_kept and not self._is_replacing
        is_shown = self._is_typed and self._show.text() == tr("Hide")
        self.name_field.setAccessibleName(tr("Name of {name}", name=name))
        self._value.setAccessibleName(tr("Value of {name}", name=name))
        self._value.setReadOnly(is_covered)
        self._value.setEchoMode(QLineEdit.EchoMode.Password if is_secret and not is_shown else QLineEdit.EchoMode.Normal)
        self._value.setPlaceholderText(tr("Paste its value") if self._is_replacing else "")
        self._show.setVisible(is_secret and self._is_typed and not is_covered)
        self._show.setAccessibleName(tr("Show {name}", name=name))
        move = tr("Move {name} to {place}", name=name, place=place)
        self._keep.setVisible(not is_secret and bool(self._value.text()))
        self._keep.set_name(move)
        self._choice.setVisible(is_plain or is_covered)
        if is_covered:
            self._choice.setText(tr("Replace…"))
            self._choice.setAccessibleName(tr("Replace {name}", name=name))
        else:
            self._choice.setText(tr("Save in plain text") if self._is_moved else tr("Move to {place}", place=place))
            self._choice.setAccessibleName(tr("Save {name} in plain text", name=name) if self._is_moved else move)
        self._remove.set_name(tr("Remove {name}", name=name))
        self.show_fault("")

    def _words(self) -> str:
        place = self._pairs.place()
        if not self.is_kept and not self._is_moved:
            is_secret = self._is_plain or self._looks_secret(self.name, self._value.text())
            return tr("Saved in plain text in its file.") if is_secret else ""
        if self._is_moved or (self._is_replacing and self._value.text()):
            return tr("Goes to {place} when you save.", place=place)
        if self._stored is False:
            return tr("It has no value yet.")
        return tr("In {place}.", place=place) if self._stored else tr("Kept among your secrets.")

    def _on_edited(self) -> None:
        self._draw()
        self._pairs.on_changed()

    def _on_typed(self) -> None:
        self._is_typed = True
        if not self.is_kept:
            self._given = self._value.text()
        self._on_edited()

    def _on_show(self) -> None:
        self._show.setText(tr("Hide") if self._show.text() == tr("Show") else tr("Show"))
        self._draw()

    def _replace(self) -> None:
        """Clears the value of a stored secret for another one; while none is typed, the stored one stays."""
        self._is_replacing = self._is_typed = True
        self._value.clear()
        self._draw()
        self._value.setFocus(Qt.FocusReason.OtherFocusReason)
        self._pairs.on_changed()

    def _on_choice(self) -> None:
        if self.is_kept:
            self._replace()
        elif self._is_moved or self._is_plain:
            self._is_plain, self._is_moved = self._is_moved, False
            self._on_edited()
        else:
            self._pairs.move_to_secrets(self)


class SecretPairs(QWidget):
    """Lines with names and values. `changed`: the user edited one of them.

    Args:
        name: of all lines, for screen readers.
        server: the name of the server, after which its secrets are named.
        place: returns where secrets are stored, as a part of a sentence.
    """

    changed = Signal()

    def __init__(self, theme: Theme, name: str, server: str, looks_secret: LooksSecret, place: SecretPlace) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._theme, self._server, self._looks_secret, self.place = theme, server, looks_secret, place
        self._stored: Collection[str] | None = None
        self.rows: list[PairRow] = []
        self._lines = column(spacing=6)
        self._add = Button(theme, tr("Add one"), "link", "plus", small=True, on_click=self._on_add)
        self._add.setAccessibleName(tr("Add to {name}", name=name))
        fill(column(self, spacing=6), self._lines, self._add)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    @property
    def pairs(self) -> dict[str, str]:
        """Returns the values for the entry by their names; lines without a name are left out."""
        return {each.name: each.value for each in self.rows if each.name}

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets to store when the entry is saved, by their names."""
        return dict(found for each in self.rows if (found := each.secret))

    @property
    def plain(self) -> set[str]:
        """The values that the user chose to save in plain text."""
        return {each.plain for each in self.rows if each.plain}

    def show_moved(self, values: Collection[str]) -> None:
        """Shows which values are stored as secrets when the entry is saved."""
        for each in self.rows:
            each.show_moved(values)

    @property
    def is_ambiguous(self) -> bool:
        """Whether two lines have the same name."""
        return bool(self._twice)

    @property
    def _twice(self) -> list[PairRow]:
        """The lines whose name another one has, too."""
        names = [each.name for each in self.rows]
        return [each for each in self.rows if each.name and names.count(each.name) > 1]

    @property
    def target(self) -> QWidget:
        """The widget for the keyboard: the name that is there twice, else the first one, or the button that adds one."""
        line = next(chain(self._twice, self.rows), None)
        return line.name_field if line is not None else self._add

    def missing(self, before: Mapping[str, str]) -> PairRow | None:
        """Returns the first secret that was left empty.

        Args:
            before: the saved values; a secret that is empty there may stay so.
        """
        return next((each for each in self.rows if each.is_blank and before.get(each.name) != each.value), None)

    def set_pairs(self, pairs: Mapping[str, str]) -> None:
        """Shows the values of an entry, without `changed`; lines that have no name yet stay."""
        if pairs == self.pairs:
            return
        if list(pairs) == [each.name for each in self.rows]:
            for each in self.rows:
                each.set_value(pairs[each.name])
            return
        for each in list(self.rows):
            self._drop(each)
        for name, value in pairs.items():
            self._append(name, value)

    def set_stored(self, names: Collection[str] | None) -> None:
        """Passes on the names of stored secrets; None: they are not known."""
        self._stored = names
        for each in self.rows:
            each.set_stored(names)

    def on_changed(self) -> None:
        """Shows which names are there twice; called after the user edited a line."""
        twice = self._twice
        for each in self.rows:
            each.show_fault(tr("This name is there twice.") if each in twice else "")
        self._fit_names()
        self.changed.emit()

    def remove(self, line: PairRow) -> None:
        """Removes a line on the user's request."""
        self._drop(line)
        self.on_changed()

    def move_to_secrets(self, line: PairRow) -> None:
        """Marks a line's value as a secret, under a free name."""
        taken = {*(self._stored or ()), *self.secrets}
        plain = f"{self._server}/{re.sub('[^A-Za-z0-9_.-]+', '_', line.name) or 'SECRET'}"
        line.keep_as(next(name for name in chain((plain,), (f"{plain}_{number}" for number in count(2))) if name not in taken))

    def _fit_names(self) -> None:
        """Makes all names as wide as the longest one, if the values keep half of the width."""
        widest = max((each.name_width for each in self.rows), default=0)
        for each in self.rows:
            each.set_name_width(min(widest, self.width() // 2))

    def _append(self, name: str, value: str) -> PairRow:
        line = PairRow(self._theme, self, name, value, self._looks_secret)
        self.rows.append(line)
        self._lines.addWidget(line)
        line.set_stored(self._stored)
        self._fit_names()
        return line

    def _drop(self, line: PairRow) -> None:
        self.rows.remove(line)
        self._lines.removeWidget(line)
        line.hide()
        line.deleteLater()

    def _on_add(self) -> None:
        self._append("", "").name_field.setFocus(Qt.FocusReason.OtherFocusReason)


def _is_typing(event: QKeyEvent) -> bool:
    """Returns whether a key enters text, or pastes it."""
    return bool(event.text().strip() and event.text().isprintable()) or event.matches(QKeySequence.StandardKey.Paste)


def _held(text: str) -> str:
    """Returns a value without the scheme of an Authorization header."""
    return SCHEME.sub("", text)
