"""The sheets that add servers: what would be added, what is missing, what it may do, and the button that adds it. Nothing is run or stored
before the user presses it."""

from abc import abstractmethod
from collections.abc import Collection, Coroutine, Mapping, Sequence
from functools import partial
from typing import get_args

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.snapshots.entries import FieldValue, FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.add.server_review import ServerReview, candidate_of
from tooltray.ui.addresses import can_follow
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import KeyringWait, SecretsHelp
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.origins import secret_place
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.server_text import plain_tip
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, is_enter
from tooltray.ui.widgets.form import Form
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.zoom import px

Values = Mapping[str, FieldValue]

WIDTH = 680
PREVIEW_AFTER_MS = 250  # without another key; a preview asks the engine


class ReviewSheet(SheetView):
    """The base of the sheets that add servers: the user reviews each, and adds them.

    Args:
        word: on its button.

    Attributes:
        head: the layout above the reviews.
        reviews: of the servers that would be added.
    """

    def __init__(self, context: PageContext, name: str, word: str) -> None:
        super().__init__(context, name, WIDTH)
        self._word, self._is_busy = word, False
        self._failure: QWidget | None = None
        self.taken = {server.name for server in context.servers.servers}
        self.reviews: list[ServerReview] = []
        self.body.setSpacing(px(8))
        self.head, self._boxes, self._what = column(spacing=8), column(spacing=8), QWidget()
        self._what_words = Label(context.theme, tr("What will run"), "strong")
        fill(column(self._what, margins=(0, 8, 0, 0), spacing=8), self._what_words, self._boxes)
        fill(self.body, self.head, self._what)
        self.cancel = self.add_button(tr("Cancel"), self.leave)
        self._go = self.add_button(word, self._on_go, "primary")
        self._go.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_go)
        self.scroll_area.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        context.hub.on_any((SecretsChanged,), self._on_secrets_changed, self)

    @abstractmethod
    def add(self) -> Coroutine[object, object, None]:
        """Returns what adds the servers as they are now, closes the sheet, and shows what was done."""
        ...

    @abstractmethod
    def is_filled_in(self) -> bool:
        """Moves the focus to the first value that is missing; returns whether none is."""
        ...

    def add_review(self, taken: Collection[str], *, has_name: bool = True) -> ServerReview:
        """Adds the box of a server, whose name is not to be among those that are taken."""
        review = ServerReview(self._theme, taken, self._on_reviewed, secret_place(self.hub.secret_backend), has_name=has_name)
        self.reviews.append(review)
        self._boxes.addWidget(review)
        return review

    def show_added(self, review: ServerReview) -> None:
        """Replaces a review by a line that its server is added."""
        self.reviews.remove(review)
        review.hide()
        line, words = QWidget(), Label(self._theme, tr("{name} is added", name=review.name), "body", wrap=True)
        fill(row(line, spacing=8), Icon(self._theme, "check", 14, "success.text", "surface.raised"), (words, 1))
        self._boxes.insertWidget(self._boxes.indexOf(review), line)

    def clear_reviews(self) -> None:
        clear(self._boxes)
        self.reviews = []

    @property
    def can_go(self) -> bool:
        """Whether the button is enabled, unless the servers are being added."""
        return bool(self.reviews) and all(review.is_ready for review in self.reviews)

    @property
    def word(self) -> str:
        """The text of the button."""
        return self._word

    def draw(self) -> None:
        """Shows what the reviews have become."""
        shown = [review.candidate for review in self.reviews if review.candidate is not None]
        if shown:
            self._what_words.setText(tr("What will run") if any(not each.transport for each in shown) else tr("What will be connected"))
        self._go.setEnabled(self.can_go and not self._is_busy)
        self._go.setText(tr("Adding…") if self._is_busy else self.word)

    def set_busy(self, is_busy: bool) -> None:
        """Disables what the user can change while the servers are being added."""
        self._is_busy = is_busy
        self._what.setEnabled(not is_busy)
        self.draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why adding failed; the user's input stays."""
        if problem is not None:
            self.set_busy(False)
            self._put_below(Banner(self._theme, "error", title(problem), sentences(problem)))

    def show_secrets_help(self, problem: Problem) -> None:
        """Shows that adding failed since secrets cannot be stored, and the ways out; the user's input stays."""
        self.set_busy(False)
        help = SecretsHelp(self._theme, problem, self.hub.secret_backend)
        help.chosen.connect(self.context.notices.secrets_choice_requested)
        self._put_below(help)

    def on_secrets_tried(self, problem: Problem | None) -> None:
        """Continues adding where it waits for secrets that can be stored now, or shows why they still cannot be."""
        if not isinstance(self._failure, SecretsHelp):
            return
        if problem is not None:
            self._failure.set_problem(problem)
        else:
            self._on_go()

    async def store(self, work: Coroutine[object, object, object], *, has_secrets: bool) -> object:
        """Awaits what stores a server, and shows that the keyring may ask for its password meanwhile."""
        if has_secrets and self.is_there:
            wait = KeyringWait(self._theme, self.hub)
            self._put_below(wait)
            wait.start()
        try:
            return await work
        finally:
            if self.is_there:
                self.drop_failure()

    def drop_failure(self) -> None:
        if self._failure is not None:
            self.body.removeWidget(self._failure)
            self._failure.hide()
            self._failure.deleteLater()
            self._failure = None

    def _put_below(self, widget: QWidget) -> None:
        self.drop_failure()
        self._failure = widget
        self.body.addWidget(widget)

    def _on_secrets_changed(self) -> None:
        for review in self.reviews:
            review.show_place(secret_place(self.hub.secret_backend))

    def _on_range_changed(self, _first: int, last: int) -> None:
        if self._is_last_in_sight():
            self.scroll_area.verticalScrollBar().setValue(last)

    def _is_last_in_sight(self) -> bool:
        """Returns whether the last thing in the sheet is to be seen, which has just got its place."""
        return self._failure is not None

    def _on_reviewed(self) -> None:
        self.hold()
        self.draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Presses the button by Enter in a line of text; in the help with secrets Enter has its own meaning."""
        field = self.focusWidget()
        is_of_help = self._failure is not None and field is not None and self._failure.isAncestorOf(field)
        if is_enter(event) and isinstance(field, QLineEdit) and not is_of_help:
            self._on_go()
        else:
            super().keyPressEvent(event)

    def _on_go(self) -> None:
        self.draw()
        if self._go.isEnabled() and self.is_filled_in():
            self.drop_failure()
            self.set_busy(True)
            self.run(self._carry_out_add(self.add()))

    async def _carry_out_add(self, add: Coroutine[object, object, None]) -> None:
        try:
            await add
        except SecretsUnreachable as error:
            if not self.is_there:
                raise
            self.show_secrets_help(error.problem)


class OfferSheet(ReviewSheet):
    """The base of the sheets that add a server that is described elsewhere: it needs values, and a subclass previews and adds it.

    Args:
        has_name: it is added under a name that the user may change.
    """

    def __init__(self, context: PageContext, name: str, word: str, *, has_name: bool = True) -> None:
        super().__init__(context, name, word)
        self._number = 0
        self._is_blocked = False
        self.form = Form(context.theme, ())
        self._blocks, self._form_place = column(spacing=8), column(margins=(0, 4, 0, 0))
        self.body.insertLayout(1, self._blocks)
        self.body.insertLayout(2, self._form_place)
        self.review = self.add_review(self.taken, has_name=has_name)
        self._wait = timer(self, PREVIEW_AFTER_MS, self._ask)

    @abstractmethod
    async def preview(self, values: Values) -> NewServer:
        """Returns what adding the server with these values would add."""
        ...

    @abstractmethod
    async def add_offer(self, values: Values, name: str, access: AccessChoice | None) -> None:
        """Adds the server with these values, and shows what was done."""
        ...

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.form.focus():
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def can_go(self) -> bool:
        return not self._is_blocked and (super().can_go or not self.form.is_complete)  # pressing it shows what is missing

    def set_fields(self, fields: Sequence[FormField]) -> None:
        """Replaces the fields."""
        clear(self._form_place)
        self.form = Form(self._theme, fields)
        self.form.changed.connect(self._on_changed)
        self._form_place.addWidget(self.form)
        self._on_changed()

    def block(self, *problems: Problem) -> None:
        """Shows why the server cannot be added here; without problems it can be."""
        self._is_blocked = bool(problems)
        clear(self._blocks)
        for problem in problems:
            self._blocks.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._what.setVisible(not problems)
        self.draw()

    def show_preview(self, number: int, server: NewServer) -> None:
        """Shows what would be added with the values of this request."""
        if number == self._number:
            self.review.show_candidate(candidate_of(server))
            self.draw()

    def add_links(self, *addresses: tuple[str, str]) -> None:
        """Adds buttons that open pages of the web; anything else is left out.

        Args:
            addresses: the words and the address of each.
        """
        line = row(spacing=16)
        for words, address in addresses:
            if address and can_follow(QUrl(address)):
                button = Button(self._theme, words, "link", "external", small=True)
                button.setToolTip(plain_tip(address))
                button.clicked.connect(partial(QDesktopServices.openUrl, QUrl(address)))
                line.addWidget(button)
        if line.count():
            line.addStretch(1)
            self.head.addLayout(line)

    def set_busy(self, is_busy: bool) -> None:
        super().set_busy(is_busy)
        self.form.setEnabled(not is_busy)

    def is_filled_in(self) -> bool:
        return self.form.check() and self.review.is_ready

    def add(self) -> Coroutine[object, object, None]:
        has_secrets = any(each.field.is_secret and each.value is not None for each in self.form.rows)
        return self._add_offer(self.add_offer(self.form.values, self.review.name, self.review.access), has_secrets)

    async def _add_offer(self, add: Coroutine[object, object, None], has_secrets: bool) -> None:
        await self.store(add, has_secrets=has_secrets)
        if self.is_there:
            self.close_requested.emit()

    def _on_changed(self) -> None:
        self._number += 1
        self.drop_failure()
        if self.form.is_complete and not self._is_blocked:
            self.review.show_text(tr("One moment…"))
            self._wait.start()
        else:
            self._wait.stop()
            self.review.show_text(tr("Fill in what is required to see what would run."))
        self.draw()

    def _ask(self) -> None:
        """Requests a preview with the values so far."""
        self.run(self._read_preview(self._number, self.form.values))

    async def _read_preview(self, number: int, values: Values) -> None:
        try:
            server = await self.preview(values)
        except TooltrayError as error:
            if number == self._number:
                self.review.show_text(whole(error.problem), "error")
                self.draw()
        else:
            self.show_preview(number, server)


async def read_new_access(hub: QtMcpPresenter) -> tuple[AccessChoice | None, bool]:
    """Returns what the settings want new servers to do, and whether this computer can sandbox one."""
    chosen = (await hub.settings.get_settings()).settings.get("newServers")
    setting = next((each for each in get_args(AccessChoice) if each == chosen), None)
    return setting, (await hub.confinement.get_confinement_support()).files
