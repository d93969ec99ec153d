"""The sheet of one tool in a server's list: whether it asks, the way to try it, and how AI clients see it: name, description, title, hints,
icon, and the size and form of results. Settings without a field here (several icons, their sizes) stay unless their field is changed."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.verbs import JsonMapping
from tooltray.ui.approval.permission_words import ToolRow, read_tools
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import TryTool
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.setting_form import TABLE_FORMS, form_of, form_options
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.theme import Theme
from tooltray.ui.tools.tool_rows import approval, rows_of, why_so
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.keyboard import add_accept_keys, take_digits
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

WIDTH = 560
LINES = 7  # of the field; more scroll
LONGEST_NAME = 40  # characters; the engine says more exactly what a name may be
LONGEST_TITLE, LONGEST_ADDRESS = 200, 2**16  # characters, as the settings take them
LEAST_TOKENS, MOST_TOKENS = 500, 10_000_000  # of a result, as the settings take them
SCHEME = "https://"  # how addresses begin; the same in every language
CHOICE_WIDTH = 200  # px; the longest word of a choice, in either language
WORDS = ("name", "description", "title", "annotations", "icons")
"""The members of an override that `set_tool_override` takes, in its order."""
_VALUES: Mapping[str, bool | None] = {"": None, "yes": True, "no": False}


class ToolWordsSheet(SheetView):
    """A sheet about one tool; it goes with its server.

    Args:
        list_tools: lists the tools of a server again.
    """

    def __init__(self, context: PageContext, tool: ToolSnapshot, list_tools: Callable[[str], object]) -> None:
        super().__init__(context, tr("{tool} of {server}", tool=tool.original_name, server=tool.server), WIDTH)
        theme, self._tool, self._list_tools = context.theme, tool, list_tools
        self._kept: Mapping[str, object] | None = None  # the override in the settings; None: not known yet
        self._first: Mapping[str, object] = {}  # what the fields had at first
        self._add_use()
        fill(self.body, Label(theme, tr("AI clients see it as"), "caption", "muted"), CodeLabel(theme, tool.name, "secondary"))
        self._name = text_line(theme, tr("Name for AI clients"), tool.original_name, style="mono")
        self._name.setMaxLength(LONGEST_NAME)
        self._description = CodeView(theme, tool.description, tr("Description for AI clients"), editable=True)
        self._description.wrap(px(WIDTH), LINES)
        self._description.set_lines(LINES)  # also for a longer text than there is
        for each in (self._name, self._description):
            fill(self.body, Label(theme, each.accessibleName(), "label"), each)
        self._hints = ToolHints(theme)
        self._hints.changed.connect(self._on_changed)
        text = tr("The server is called as before. Your earlier approvals stay valid.")
        fill(self.body, self._hints, Label(theme, text, "caption", "muted", wrap=True))
        self._reset = Button(theme, tr("Back to the server's own"), "ghost", "undo", on_click=lambda: self.run(self._store({}, None, None)))
        self._reset.setEnabled(False)
        fill(self.buttons, self._reset, 1)
        self.add_button(tr("Cancel"), self.leave)
        self._save = self.add_button(tr("Save"), self._on_save, "primary")
        self._save.setToolTip("Ctrl+Enter")
        self._save.setEnabled(False)  # until it is known what stands in the settings
        self.set_first_focus(self._name)
        add_accept_keys(self, self._on_save)
        context.servers.server_removed.connect(self._on_server_removed)
        self.reading(self._read)()

    def _add_use(self) -> None:
        """Adds whether its calls ask, and the button that tries it."""
        self._asks, self._why = Chip(self._theme), Label(self._theme, "", "caption", "secondary", wrap=True)
        self._show_approval({})
        attempt = Button(self._theme, tr("Try it"), icon="tools", small=True, on_click=self._on_try)
        attempt.setEnabled(self._tool.is_enabled)
        attempt.setToolTip("" if self._tool.is_enabled else tr("It is off."))
        self.body.addLayout(fill(row(spacing=10), self._asks, (self._why, 1), attempt))

    def _show_approval(self, approvals: Mapping[tuple[str, str], ToolRow]) -> None:
        (of,) = rows_of([self._tool], None, None, approvals)
        words, tone = approval(of)
        self._asks.set_word(words, tone or "success")
        self._why.setText(why_so(of))

    async def _read(self) -> None:
        self._show_approval(await read_tools(self.hub, self._tool.server))
        overrides = (await self.hub.servers.get_server_entry(self._tool.server)).counts.get("toolOverrides")
        if self._kept is not None:
            return  # a person may be writing
        kept = self._kept = _members(_members(overrides).get(self._tool.original_name))
        self._name.setText(_text(kept.get("name")))
        self._hints.set_override(kept)
        self._first = self._written()
        self._reset.setEnabled(bool(kept))
        self._on_changed()

    async def _store(self, override: JsonMapping, limit: int | None, csv_tables: bool | None) -> None:
        server, tool = self._tool.server, self._tool.original_name
        await self.hub.views.set_tool_override(server, tool, *[override.get(word) for word in WORDS])
        kept_limit, kept_csv_tables = self._hints.kept_results
        if limit != kept_limit:
            await self.hub.views.set_result_limit(tokens=limit, server=server, tool=tool)
        if csv_tables is not kept_csv_tables:
            await self.hub.views.set_csv_tables(enabled=csv_tables, server=server, tool=tool)
        self._list_tools(server)
        self.close_requested.emit()

    def _written(self) -> dict[str, object]:
        """Returns the fields as an override, without what is the server's own."""
        text, has_own = self._description.toPlainText().strip(), isinstance((self._kept or {}).get("description"), str)
        description = text if has_own or text != self._tool.description.strip() else ""
        words = {"name": self._name.text().strip(), "description": description}
        return {**{word: given for word, given in words.items() if given}, **self._hints.override()}

    def _on_changed(self) -> None:
        limit, _ = self._hints.results
        self._save.setEnabled(self._kept is not None and (limit is None or LEAST_TOKENS <= limit <= MOST_TOKENS))

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self.run(self._store(self._written(), *self._hints.results))

    def _on_try(self) -> None:
        if self._kept is not None and (self._written() != self._first or self._hints.results != self._hints.kept_results):
            self.context.say(tr("Save your changes first."), "warning")
            return
        self.close_requested.emit()
        self.context.go(TryTool(self._tool.name))

    def _on_server_removed(self, name: str) -> None:
        if name == self._tool.server:
            self.close_requested.emit()


class ToolHints(QWidget):
    """Fields for a tool's title, hints, icon and results; an empty field keeps the server's own value. `changed`: the limit was edited."""

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines = column(self, spacing=12)
        self._kept: Mapping[str, object] = {}
        self._title = self._field(tr("Title for AI clients"), LONGEST_TITLE)
        answers = [("", tr("Default (from the server)")), ("yes", tr("Yes")), ("no", tr("No"))]
        self._hints = {
            "readOnlyHint": self._choice(tr("Only reads"), answers),
            "destructiveHint": self._choice(tr("May destroy"), answers),
            "idempotentHint": self._choice(tr("Does nothing more when called again"), answers),
            "openWorldHint": self._choice(tr("Reaches beyond the server's own data"), answers),
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
        self._tables = self._choice(tr("Tables in results"), form_options(tr("As set for its server")))
        text = tr("CSV needs fewer tokens. Tools with an output schema keep JSON, and AI clients that are set to JSON get JSON.")
        self._lines.addWidget(Label(theme, text, "caption", "muted", wrap=True))

    def set_override(self, override: Mapping[str, object]) -> None:
        """Shows the values in the settings."""
        self._kept = override
        self._title.setText(_text(override.get("title")))
        given = _members(override.get("annotations"))
        for hint, choice in self._hints.items():
            value = given.get(hint)
            choice.choose(next((word for word, each in _VALUES.items() if each is value), ""))
        limit, csv_tables = self.kept_results
        self._limit.setText("" if limit is None else str(limit))
        self._tables.choose(form_of(csv_tables))
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
        if icon := self._icon.text().strip():
            chosen["icons"] = self._kept["icons"] if icon == self._kept_icon else [{"src": icon}]
        return chosen

    @property
    def results(self) -> tuple[int | None, bool | None]:
        """The largest result in tokens, and whether its tables are given as CSV; None: as set for the server."""
        return int(self._limit.text()) if self._limit.text() else None, TABLE_FORMS[self._tables.chosen]

    @property
    def kept_results(self) -> tuple[int | None, bool | None]:
        """The same in the settings."""
        limit, csv_tables = self._kept.get("resultLimit"), self._kept.get("csvTables")
        return limit if isinstance(limit, int) else None, csv_tables if isinstance(csv_tables, bool) else None

    @property
    def _kept_icon(self) -> str:
        icons = self._kept.get("icons")
        return _text(_members(icons[0]).get("src")) if isinstance(icons, list) and icons else ""

    def _field(self, title: str, longest: int) -> QLineEdit:
        line = text_line(self._theme, title)
        line.setMaxLength(longest)
        fill(self._lines, Label(self._theme, title, "label"), line)
        return line

    def _choice(self, title: str, options: Sequence[tuple[str, str]]) -> Choice:
        choice = Choice(self._theme, options, name=title)
        choice.setFixedWidth(px(CHOICE_WIDTH))
        self._lines.addLayout(fill(row(spacing=12), (Label(self._theme, title, "label", wrap=True), 1), choice))
        return choice


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _members(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
