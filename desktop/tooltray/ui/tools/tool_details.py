"""The details of one tool, at the right of the table: what it does and takes, whether it asks, how it was used. Draws frozen snapshots; all
words of the server are plain text."""

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.ui.activity.activity_words import milliseconds
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import CallsWhere
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.schema_form.value_shapes import kind_words, properties_of, required_of, resolved, shape_of
from tooltray.ui.server_text import plain_tip, seen
from tooltray.ui.tools import tool_rows as said
from tooltray.ui.tools.tool_rows import ToolRow
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import add_lines
from tooltray.ui.widgets.split_view import MARGIN, DetailsPane
from tooltray.ui.widgets.surface import Surface, clear, column, divider, fill, row
from tooltray.ui.zoom import px

LONGEST_DESCRIPTION = 4_000  # characters; a screen holds half of it
MOST_PARAMETERS = 30  # lines; the form of Try has all


class ToolDetails(DetailsPane, View):
    """The details of a tool.

    Args:
        try_tool: opens the sheet that calls a tool, by its name for AI clients.
        change: opens the sheet of a tool's approval.
    """

    def __init__(
        self, context: PageContext, row: ToolRow, *, try_tool: Callable[[str], object], change: Callable[[ToolRow], object]
    ) -> None:
        super().__init__(context.theme, row.name)
        self.context, self._try_tool, self._change = context, try_tool, change
        self.row = row
        self._definition: Mapping[str, object] | None = None
        self._is_read = False
        self._median_ms: float | None = None
        outer = self.layout()
        assert isinstance(outer, QVBoxLayout)
        fill(outer, divider(), self._foot())
        self._draw()

    def set_row(self, row: ToolRow) -> None:
        """Shows a newer row."""
        if row != self.row:
            self.row = row
            self._draw()

    async def read(self) -> None:
        """Shows how AI clients see the tool, and how long its calls took."""
        await asyncio.gather(self._read_definition(), *([self._read_median()] if self.row.use is not None else []))

    async def _read_definition(self) -> None:
        tool = self.row.tool
        definitions = await self.hub.tools.get_all_tool_definitions(tool.server)
        self._definition, self._is_read = next((each for each in definitions if each.get("name") == tool.name), None), True
        self._draw()

    async def _read_median(self) -> None:
        server, tool = self.row.key
        since = time.time() - said.USED_DAYS * 86_400
        filter = ActivityFilter(kinds=("call",), servers=(server,), tools=(tool,), since=since)
        try:
            figures = await self.hub.activity.get_activity_figures("tool", filter)
        except TooltrayError:
            figures = []
        self._median_ms = figures[0].p50_ms if figures else None
        self._draw()

    def _foot(self) -> QHBoxLayout:
        copy = Button(self._theme, tr("Copy name"), icon="copy", on_click=self._on_copy)
        self._try = Button(self._theme, tr("Try it"), "primary", "tools", on_click=lambda: self._try_tool(self.row.tool.name))
        return fill(row(margins=(MARGIN, 12, MARGIN, 14)), copy, 1, self._try)

    def _on_copy(self) -> None:
        self.context.copy(self.row.tool.name, tr("The name is copied"))

    def _draw(self) -> None:
        clear(self.body)
        tool, theme = self.row.tool, self._theme
        self._try.setEnabled(tool.is_enabled)
        self._try.setToolTip("" if tool.is_enabled else tr("It is off."))
        facts = [tr("from {server}", server=tool.server)]
        if self.row.tokens is not None:
            facts.append(tr("{count} tokens", count=f"{self.row.tokens:,}"))
        if tool.is_for_views or tool.has_view:
            facts.append(tr("only for its server's views") if tool.is_for_views else tr("shows a view"))
        self.body.addWidget(Label(theme, " · ".join(facts), "caption", "secondary", wrap=True))
        if tool.name != tool.original_name:
            self.body.addWidget(CodeLabel(theme, seen(tool.name), "muted"))
        self.body.addWidget(Label(theme, seen(tool.description[:LONGEST_DESCRIPTION]), "body", wrap=True))
        self._add_hints()
        rename, wishes = tr("Name and description for AI clients…"), self.context.wishes
        self.body.addWidget(Button(theme, rename, "link", small=True, on_click=lambda: wishes.tool_requested.emit(tool)))
        self.add_section(tr("Parameters"), self._parameters())
        words, tone = said.approval(self.row)
        why = Label(theme, said.why_so(self.row), "caption", "secondary", wrap=True)
        change = Button(theme, tr("Change…"), "link", small=True, on_click=lambda: self._change(self.row))
        self.add_section(tr("Approval"), self._word(words, tone), why, change)
        self._add_use()
        self.body.addStretch(1)

    def _add_hints(self) -> None:
        """Adds the server's own hints about the tool, which may be wrong."""
        hints = self._definition.get("annotations") if self._definition else None
        words = {"readOnlyHint": tr("Only reads"), "destructiveHint": tr("May destroy"), "idempotentHint": tr("Can be repeated")}
        said_so = [word for hint, word in words.items() if isinstance(hints, Mapping) and hints.get(hint) is True]
        if said_so:
            widget, risk = QWidget(), words["destructiveHint"]
            fill(row(widget, spacing=6), *(Chip(self._theme, word, "warning" if word == risk else "neutral") for word in said_so), 1)
            widget.setToolTip(tr("From the server"))
            self.body.addWidget(widget)

    def _parameters(self) -> QWidget:
        if not self._is_read:
            return Label(self._theme, tr("Reading…"), "caption", "muted")
        if self._definition is None:
            return Label(self._theme, tr("They can be seen while the tool is on."), "caption", "muted", wrap=True)
        schema = self._definition.get("inputSchema")
        root: Mapping[str, object] = schema if isinstance(schema, Mapping) else {}
        read = resolved(root, root)
        members, required = properties_of(read), required_of(read)
        if not members:
            return Label(self._theme, tr("It takes none."), "caption", "muted")
        box = Surface(self._theme, "surface", "border", "m")
        lines = column(box, margins=(12, 2, 12, 2))
        ordered = sorted(members, key=lambda name: name not in required)[:MOST_PARAMETERS]
        add_lines(lines, (self._parameter(root, name, members[name], is_required=name in required) for name in ordered))
        if len(members) > MOST_PARAMETERS:
            more = tr("… and {count} more", count=len(members) - MOST_PARAMETERS)
            lines.addWidget(Label(self._theme, more, "caption", "muted"))
        return box

    def _parameter(self, root: Mapping[str, object], name: str, schema: object, *, is_required: bool) -> QWidget:
        shape = shape_of(root, schema)
        widget = QWidget()
        widget.setFixedHeight(px(34))
        widget.setToolTip(plain_tip(shape.description))
        kind = ElidedLabel(self._theme, kind_words(shape) or tr("choice"), "caption", "secondary")
        need = Chip(self._theme, tr("required") if is_required else tr("optional"))
        fill(row(widget), (ElidedLabel(self._theme, seen(name), "mono"), 2), (kind, 1), need)
        return widget

    def _word(self, words: str, tone: str) -> QWidget:
        if not tone:
            return Label(self._theme, words, "strong")
        widget = QWidget()
        fill(row(widget), Chip(self._theme, words, tone), 1)
        return widget

    def _add_use(self) -> None:
        use, now = self.row.use, datetime.now()
        if not self.row.is_use_known:
            self.add_section(tr("Use in 30 days"), Label(self._theme, tr("The journal could not be read."), "caption", "muted", wrap=True))
            return
        facts = [(tr("Calls"), f"{use.calls:,}" if use else "0")]
        if use is not None:
            facts += [(tr("Median time"), milliseconds(self._median_ms))] if self._median_ms is not None else []
            facts += [(tr("Failed"), f"{use.failures:,}"), (tr("Last used"), said.last_used(self.row, now))]
            facts.append((tr("Used by"), said.used_by(self.row)))
        self.add_section(tr("Use in 30 days"), *(self._fact(*fact) for fact in facts))
        if use is not None:
            self.body.addWidget(Button(self._theme, tr("Show its calls"), "link", small=True, on_click=self._show_calls))

    def _fact(self, title: str, value: str) -> QWidget:
        widget = QWidget()
        widget.setFixedHeight(px(26))
        fill(row(widget), Label(self._theme, title, "body", "secondary"), 1, Label(self._theme, value, "label", tabular=True))
        return widget

    def _show_calls(self) -> None:
        tool = self.row.tool
        self.context.go(CallsWhere(ActivityFilter(servers=(tool.server,), tools=(tool.original_name,))))
