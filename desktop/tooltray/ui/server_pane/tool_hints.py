"""How AI clients see a tool besides its name and description: title, hints, icon, and the largest result, as fields of the sheet that
renames it. Settings without a field here (several icons, their sizes) stay unless their field is changed."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.verbs import JsonMapping
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.keyboard import take_digits
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

LONGEST_TITLE, LONGEST_ADDRESS = 200, 2**16  # characters, as the settings take them
LEAST_TOKENS, MOST_TOKENS = 500, 10_000_000  # of a result, as the settings take them
SCHEME = "https://"  # how addresses begin; the same in every language
CHOICE_WIDTH = 200  # px; the longest word of a choice, in either language
_VALUES: Mapping[str, bool | None] = {"": None, "yes": True, "no": False}


class ToolHints(QWidget):
    """Fields for a tool's title, hints, icon and result; an empty field keeps the server's own value."""

    changed = Signal()  # whether it can be saved may be another

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines = column(self, spacing=12)
        self._kept: JsonMapping = {}
        self._title = self._field(tr("Title for AI clients"), LONGEST_TITLE)
        self._hints = {
            "readOnlyHint": self._choice(tr("Only reads")),
            "destructiveHint": self._choice(tr("May destroy")),
            "idempotentHint": self._choice(tr("Does nothing more when called again")),
            "openWorldHint": self._choice(tr("Reaches beyond the server's own data")),
        }
        note = tr("Hints are for AI clients. Here, a stricter hint makes the tool ask; no hint makes it run without asking.")
        self._lines.addWidget(Label(theme, note, "caption", "muted", wrap=True))
        self._icon = self._field(tr("Address of its icon"), LONGEST_ADDRESS)
        self._icon.setPlaceholderText(SCHEME)
        self._limit = self._field(tr("Longest result, in tokens"), len(str(MOST_TOKENS)))
        self._limit.setPlaceholderText(tr("As set for its server"))
        take_digits(self._limit, MOST_TOKENS)
        self._limit.textChanged.connect(self.changed)
        text = tr("In tokens, at least 500. The client reads the rest page by page, with read_result.")
        self._lines.addWidget(Label(theme, text, "caption", "muted", wrap=True))

    def set_override(self, override: Mapping[str, object]) -> None:
        """Shows the values in the settings."""
        self._kept = override
        self._title.setText(_text(override.get("title")))
        given = _members(override.get("annotations"))
        for hint, choice in self._hints.items():
            value = given.get(hint)
            choice.choose(next((word for word, each in _VALUES.items() if each is value), ""))
        self._limit.setText("" if self.kept_limit is None else str(self.kept_limit))
        self._icon.setText(self._kept_icon)
        self._icon.setCursorPosition(0)  # an address is told by its beginning

    def override(self) -> dict[str, object]:
        """Returns the choices in the form of the settings, without the server's own values."""
        chosen: dict[str, object] = {}
        if title := self._title.text().strip():
            chosen["title"] = title
        others = {name: value for name, value in _members(self._kept.get("annotations")).items() if name not in self._hints}
        hints = {hint: value for hint, choice in self._hints.items() if (value := _VALUES[choice.chosen]) is not None}
        if others or hints:
            chosen["annotations"] = {**others, **hints}
        icon = self._icon.text().strip()
        if icon:
            chosen["icons"] = self._kept["icons"] if icon == self._kept_icon else [{"src": icon}]
        return chosen

    @property
    def limit(self) -> int | None:
        """The largest result in tokens; None: the server's own."""
        return int(self._limit.text()) if self._limit.text() else None

    @property
    def kept_limit(self) -> int | None:
        """The largest result in the settings."""
        kept = self._kept.get("resultLimit")
        return kept if isinstance(kept, int) else None

    @property
    def can_be_saved(self) -> bool:
        """Whether the settings accept the values."""
        return self.limit is None or LEAST_TOKENS <= self.limit <= MOST_TOKENS

    @property
    def _kept_icon(self) -> str:
        icons = self._kept.get("icons")
        return _text(_members(icons[0]).get("src")) if isinstance(icons, list) and icons else ""

    def _field(self, title: str, longest: int) -> QLineEdit:
        self._lines.addWidget(Label(self._theme, title, "label"))
        field = QLineEdit()
        field.setMaxLength(longest)
        field.setFixedHeight(self._theme.size("control"))
        field.setAccessibleName(title)
        self._lines.addWidget(field)
        return field

    def _choice(self, title: str) -> Choice:
        choice = Choice(self._theme, [("", tr("Default (from the server)")), ("yes", tr("Yes")), ("no", tr("No"))], name=title)
        choice.setFixedWidth(CHOICE_WIDTH)
        line = row(spacing=12)
        line.addWidget(Label(self._theme, title, "label", wrap=True), 1)
        line.addWidget(choice)
        self._lines.addLayout(line)
        return choice


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _members(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
