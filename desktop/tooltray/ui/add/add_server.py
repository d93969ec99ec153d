"""The sheet that adds a server: the user pastes anything, sees what will run, and secrets are stored safely. One scroll, no wizard.
Until something is pasted it has the other ways: a bundle, the registry, AI clients' own servers, and servers inside Tooltray."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import ClassVar

import msgspec
from msgspec.structs import replace
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.snapshots.servers import AccessChoice, InMemoryServer, usual_access
from tooltray.ui.add.offer_sheets import ENDINGS, InMemorySheet, ReadingBundleSheet
from tooltray.ui.add.review_sheet import ReviewSheet, read_new_access
from tooltray.ui.add.server_review import Candidate, ServerReview, free_name
from tooltray.ui.confinement_words import is_entry_sandboxed
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.destinations import Destination, ImportServers, Servers
from tooltray.ui.kit.local_work import Pasted
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.origins import file_name
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.server_pane.entry_fields import with_values
from tooltray.ui.server_pane.test_panel import TestPanel
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CoveredCode, FindSpans, covered
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import add_gap, column, fill, row

FEWEST_LINES, MOST_LINES = 3, 12
NOTHING = "nothing"  # see Pasted.own_rules
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class ServerToAdd(HidesFields, frozen=True):
    """A server to be added, with its entry for the settings; `secrets` are values by the names that the entry refers to; `access` is None
    where the entry itself says what it may do.
    """

    hidden: ClassVar = ("secrets",)

    name: str
    entry: Mapping[str, object]
    is_default: bool
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict)
    project: str = ""  # a folder, into whose own file it goes; empty: into the settings
    access: AccessChoice | None = None


def pasted_candidate(pasted: Pasted, name: str, find_secrets: FindSpans, same: str = "") -> Candidate:
    """Describes a pasted server; what it may do is not known yet.

    Args:
        name: proposed.
        same: the name of a server that runs the same command, or has the same address, already; empty without one.
    """
    config = pasted.config
    values = config.get("env")
    names = pasted.headers if pasted.is_remote else list(values) if isinstance(values, Mapping) else []
    known = tr("You have this server already: {name}. Add it again only for another account or other arguments.", name=same)
    warnings = [tr("It comes from {origin}. Add it only if you know the server.", origin=say(pasted.origin))] if pasted.origin else []
    warnings += [tr("Warning: {warning}.", warning=say(warning)) for warning in pasted.warnings]
    is_local = pasted.host.rpartition(":")[0] in LOOPBACK or pasted.host in LOOPBACK
    if pasted.is_remote and str(config.get("url", "")).startswith("http://") and not is_local:
        warnings.append(tr("The connection is not encrypted: others can read along."))
    for option in pasted.secret_arguments:
        warnings.append(tr("{option} looks like a secret. Other programs on this computer can read arguments.", option=option))
    own = [*map(say, pasted.own_rules), *([tr("its own sandbox")] if config.get("confinement") else [])]
    return Candidate(
        name=name,
        entry=config,
        target=covered(pasted.target, find_secrets(pasted.target)),
        host=pasted.host,
        transport=pasted.transport if pasted.is_remote else "",
        plain=[str(each) for each in names if each not in pasted.secrets],
        asked=pasted.secrets,
        has_start=True,
        own_access=", ".join(own),
        notes=[*([(known, "info")] if same else []), *((warning, "warning") for warning in warnings)],
    )


def with_access(candidate: Candidate, pasted: Pasted, setting: AccessChoice | None, *, can_sandbox: bool) -> Candidate:
    """Returns the candidate with what it may do, which is never more than its text says.

    Args:
        setting: `newServers` of the settings.
        can_sandbox: this computer can keep a server to its own files.
    """
    offered: tuple[AccessChoice, ...] = ("trusted", "free")
    if can_sandbox and pasted.works_in_sandbox:
        offered = ("careful", *offered)
    wanted = "careful" if is_entry_sandboxed(pasted.config) else usual_access(setting, is_found=bool(pasted.origin))
    is_stricter = pasted.own_rules == (NOTHING,) or (not pasted.own_rules and wanted == "trusted" and pasted.config.get("confinement"))
    is_lacking = wanted not in offered and not is_stricter
    access = None if is_stricter else "trusted" if is_lacking else wanted
    return replace(candidate, offered=offered, access=access, is_lacking=is_lacking)


class OtherWays(QWidget, View):
    """Other ways of adding a server.

    Args:
        close: closes the sheet that they are in.
    """

    def __init__(self, context: PageContext, close: Callable[[], object]) -> None:
        super().__init__()
        self.context, self._close, self._theme = context, close, context.theme
        find, take = partial(self._go, Servers("discover")), partial(self._go, ImportServers())
        ways = (
            self._way("search", tr("Find one among the well-known ones and in the registry"), tr("Find one"), find),
            self._way("download", tr("Import from your AI clients"), tr("Import servers…"), take),
            self._way("folder", tr("Install a bundle: a file that ends in .mcpb or .dxt"), tr("From a file…"), self._choose_bundle),
        )
        self._inside = QWidget()
        self._inside_lines = column(self._inside, margins=(0, 8, 0, 0), spacing=8)
        self._inside.hide()
        box = lines_box(self._theme, ways, "surface.raised")
        fill(column(self, margins=(0, 8, 0, 0), spacing=8), Label(self._theme, tr("Or"), "strong"), box, self._inside)
        self.reading(self._read_inmemory)()

    def _way(self, icon: str, words: str, button: str, go: Callable[[], None]) -> QHBoxLayout:
        sign, text = Icon(self._theme, icon, 16, "text.secondary", "surface.raised"), ElidedLabel(self._theme, words, "body", "secondary")
        return fill(row(margins=(0, 8, 0, 8), spacing=10), sign, (text, 1), Button(self._theme, button, small=True, on_click=go))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows nothing: what could not be read is not offered."""

    async def _read_inmemory(self) -> None:
        """Reads and shows which servers installed packages contain."""
        theme, servers = self._theme, await self.hub.servers.get_inmemory_servers()
        self._inside.setVisible(bool(servers))
        if servers:
            text = tr("Each of them runs inside Tooltray and can read every secret.")
            words = Label(theme, tr("Of installed packages"), "strong"), Label(theme, text, "caption", "warning", wrap=True)
            fill(self._inside_lines, *words, lines_box(theme, map(self._server, servers), "surface.raised"))

    def _server(self, server: InMemoryServer) -> QHBoxLayout:
        theme = self._theme
        package = " ".join(part for part in (server.package, server.version) if part)
        text = whole(server.problem) if server.problem is not None else " · ".join(part for part in (package, say(server.summary)) if part)
        details = ElidedLabel(theme, text, "caption", "error" if server.problem is not None else "secondary")
        add = Button(theme, tr("Add…"), small=True, on_click=partial(self._open_inmemory, server))
        add.setAccessibleName(tr("Add {name}", name=server.name))
        add.setEnabled(server.problem is None)
        return fill(row(margins=(0, 8, 0, 8), spacing=10), (fill(column(), ElidedLabel(theme, server.name, "strong"), details), 1), add)

    def _go(self, destination: Destination) -> None:
        self._close()
        self.context.go(destination)

    def _open_inmemory(self, server: InMemoryServer) -> None:
        """Shows a server that would run inside Tooltray, for approval."""
        self.context.sheets.replace(InMemorySheet(self.context, server))

    def _choose_bundle(self) -> None:
        """Prompts for a bundle's file, which is read without being started, and shows what it is."""
        context, kind = self.context, tr("Bundles ({patterns})", patterns=" ".join(f"*{ending}" for ending in ENDINGS))
        context.choose_file(tr("Install a bundle"), lambda path: context.sheets.replace(ReadingBundleSheet(context, path)), kind=kind)


class AddServerSheet(ReviewSheet):
    """A sheet that adds what the user pastes.

    Args:
        text: the text at the start.
        projects: folders into whose own files a server can be added, instead of the settings.
    """

    def __init__(self, context: PageContext, text: str = "", projects: Sequence[str] = ()) -> None:
        super().__init__(context, tr("Add server"), tr("Add server"))
        theme, self._local = context.theme, context.local
        self._has_projects = bool(projects)
        self._found: list[tuple[Pasted, ServerReview]] = []
        self._can_sandbox = False
        self._new_access: AccessChoice | None = None  # as the settings have it
        self._field = CoveredCode(theme, tr("Command, URL or config"), self._local.find_secrets, lines=FEWEST_LINES)
        self._field.setPlaceholderText("npx -y @modelcontextprotocol/server-everything")
        self._field.setPlainText(text)
        self._field.textChanged.connect(self._on_text_changed)
        self._complaint = Label(theme, "", "caption", "error", wrap=True)
        self.other_ways = OtherWays(context, self.close_requested.emit)
        fill(self.head, self._source(), self._field, self._complaint, self.other_ways)
        places = [(project, file_name(f"{project}/.mcp.json", project)) for project in projects]
        self._where = Choice(theme, [("", tr("Your settings, for all clients")), *places], name=tr("Where it is written"))
        self._target = QWidget()
        fill(row(self._target, margins=(0, 8, 0, 0), spacing=12), Label(theme, tr("Where it is written"), "strong"), 1, self._where)
        self._test_panel = TestPanel(context)
        fill(self.body, self._target, self._test_panel)
        self._test = Button(theme, tr("Test"), icon="plug", on_click=self._on_test)
        self._test.setToolTip(tr("Connects once, and adds nothing"))
        self.buttons.insertWidget(0, self._test)
        self.set_first_focus(self._field)
        self._on_text_changed()
        is_typed = bool(text) and not any(pasted.origin for pasted, _ in self._found)  # not by who made a link
        self._field.document().setModified(is_typed)
        self.reading(self._read_access)()

    async def _read_access(self) -> None:
        self._new_access, self._can_sandbox = await read_new_access(self.hub)
        for pasted, review in self._found:
            if review.candidate is not None:
                review.show_access(self._with_access(review.candidate, pasted))

    def _with_access(self, candidate: Candidate, pasted: Pasted) -> Candidate:
        return with_access(candidate, pasted, self._new_access, can_sandbox=self._can_sandbox)

    @property
    def word(self) -> str:
        count = sum(review.is_ready for review in self.reviews)
        return super().word if count < 2 else tr("Add {count} servers", count=count)

    def new_servers(self) -> list[ServerToAdd]:
        """Returns the servers to add, with what the user has changed. Values in their arguments and addresses that look like secrets are
        stored with the other secrets.
        """
        return [replace(self._new_server(*found), project=self._where.chosen) for found in self._found]

    def _new_server(self, pasted: Pasted, review: ServerReview) -> ServerToAdd:
        name, rows = review.name, [secret for secret in review.secrets if not secret.is_left_out]
        entry, secrets = pasted.stored_as(name, {each.key: each.value for each in rows if each.is_kept and each.value})
        plain: dict[str, str | None] = {each.key: each.value for each in rows if not (each.is_kept and each.value)}
        entry = pasted.filled_in(plain | {each.key: None for each in review.secrets if each.is_left_out}, entry)
        entry, others = self._local.move_secrets(name, entry, {}, plain=[each.value for each in rows if not each.is_kept])
        return ServerToAdd(name, entry, review.is_default, {**secrets, **others}, access=review.access)

    def _source(self) -> QHBoxLayout:
        line = row()
        self._cover = Button(self._theme, "", "link", small=True, on_click=self._on_cover)
        fill(line, Label(self._theme, tr("Paste a command, a URL or a config"), "strong"), 1, self._cover)
        add_gap(line, 8)
        self._check = Icon(self._theme, "check", 14, "success.text", "surface.raised")
        self._verdict = Label(self._theme, "", "caption", "success")
        fill(line, self._check, self._verdict)
        return line

    def _on_text_changed(self) -> None:
        text = self._field.toPlainText()
        self._test_panel.end()
        self._field.set_lines(max(FEWEST_LINES, min(MOST_LINES, text.count("\n") + 1)))
        self.drop_failure()
        self._draw_cover()
        found: Sequence[Pasted] = ()
        complaint = ""
        if text.strip():
            try:
                found = self._local.read_pasted(text)
            except TooltrayError as error:
                complaint = f"{title(error.problem)}. {sentences(error.problem)}"
        self.other_ways.setVisible(not text.strip())
        self._complaint.setText(complaint)
        self._complaint.setVisible(bool(complaint))
        self._check.setVisible(bool(found))
        self._verdict.setVisible(bool(found))
        self._verdict.setText(many(len(found), "1 server", "{count} servers"))
        self._show_found(found)

    def _on_cover(self) -> None:
        self._field.set_covered(not self._field.is_covered)
        self._draw_cover()

    def _draw_cover(self) -> None:
        self._cover.setVisible(self._field.has_secrets)
        self._cover.set_face(tr("Show secrets") if self._field.is_covered else tr("Hide secrets"), "")

    def _show_found(self, found: Sequence[Pasted]) -> None:
        self.clear_reviews()
        self._found = []
        self._what.setVisible(bool(found))
        self._target.setVisible(bool(found) and self._has_projects)
        names = set(self.taken)
        for pasted in found:
            same = next((server.name for server in self.context.servers.servers if server.target == pasted.target), "")
            review = self.add_review(frozenset(names))
            candidate = pasted_candidate(pasted, free_name(pasted.name, names), self._local.find_secrets, same)
            review.show_candidate(self._with_access(candidate, pasted))
            names.add(review.name)
            self._found.append((pasted, review))
        self.draw()

    def draw(self) -> None:
        super().draw()
        self._test.setVisible(len(self.reviews) == 1)
        self._test.setEnabled(self.can_go and not self._is_busy)

    def is_filled_in(self) -> bool:
        missing = next((secret for review in self.reviews if (secret := review.missing) is not None), None)
        if missing is not None:
            missing.ask()
            self.scroll_area.ensureWidgetVisible(missing)
        return missing is None

    def set_busy(self, is_busy: bool) -> None:
        self._field.setReadOnly(is_busy)
        self._target.setEnabled(not is_busy)
        super().set_busy(is_busy)

    def _on_test(self) -> None:
        """Tests the new server with the values of its secrets, without storing them."""
        if not self.is_filled_in():
            return
        [new] = self.new_servers()
        entry = with_values(new.entry, new.secrets)
        if isinstance(entry, Mapping):
            if new.access == "careful" and not is_entry_sandboxed(entry):
                entry = {**entry, "confinement": "own"}
            self._test_panel.test(new.name, entry)
            self.scroll_area.ensureWidgetVisible(self._test_panel)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._test_panel.cancel()

    def add(self) -> Coroutine[object, object, None]:
        self._test_panel.end()  # what it holds, such as a port, is to be free
        return self._add_servers(self.new_servers())

    async def _add_servers(self, new: Sequence[ServerToAdd]) -> None:
        """Adds servers, each with its secrets; those that are added stay so if the next one fails, or if the sheet is closed."""
        for server in new:
            args = (server.name, server.entry, server.is_default, server.project, server.secrets, server.access)
            await self.store(self.hub.servers.add_mcp_server(*args), has_secrets=bool(server.secrets))
            if self.is_there:
                self._drop(server.name)
        if self.is_there:
            self.close_requested.emit()
        names = ", ".join(server.name for server in new)
        self.context.say(tr("{name} is added", name=names) if len(new) == 1 else tr("{names} are added", names=names))

    def _drop(self, name: str) -> None:
        """Replaces the review of a server that is added, so that adding again after a failure adds only the rest."""
        self.taken.add(name)
        for found in [each for each in self._found if each[1].name == name]:
            self._found.remove(found)
            self.show_added(found[1])

    def _is_last_in_sight(self) -> bool:
        return super()._is_last_in_sight() or not self._test_panel.isHidden()
