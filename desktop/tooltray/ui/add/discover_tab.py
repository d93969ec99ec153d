"""The tab Discover of Servers: well-known servers and updates, and the official registry, searched while the user types. A key stroke only
starts a timer. And its list of offers: model/view, so that thousands cost as much as the visible ones."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStackedWidget, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.discovery import RegistryHit, RegistrySearch, RegistryStatus, RegistryUpdate, StarterServer
from tooltray.ui.add.offer_sheets import RegistrySheet, StarterSheet, kind_word
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, shipped, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.destinations import AddServer, Destination, OpenServer, WellKnownServer
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.cell_delegate import RowHover
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.row_model import Column, Index, RowModel
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.widgets.toast import show_toast
from tooltray.ui.zoom import px

ROW, HEADING = 58, 38  # px
INSET, GAP, CHIP_GAP = 24, 16, 6
FOCUS_BAR = 2
ROOM_FOR_CHIPS = 560  # px; below that the words are worth more


class Offer(msgspec.Struct, frozen=True):
    """A line of the list.

    Attributes:
    key: identifies it; "" for a heading.
    title, text: the two lines.
    chips: words and tones, at the right.
    wish: what choosing it does, as a word.
    """

    key: str
    title: str
    text: str = ""
    chips: tuple[tuple[str, str], ...] = ()
    wish: str = ""

    @property
    def is_heading(self) -> bool:
        return not self.key

    @property
    def words(self) -> str:
        """The text for screen readers."""
        parts = (self.title, self.text, ", ".join(word for word, _ in self.chips), self.wish)
        return ". ".join(part.rstrip(".。") for part in parts if part)


class OfferModel(RowModel):
    """Offers, and headings that cannot be chosen."""

    def __init__(self) -> None:
        words = Column("", lambda offer: offer.words, tip=lambda offer: offer.text)
        super().__init__([words], lambda offer: offer.key or offer.title)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return None if role == Qt.ItemDataRole.AccessibleDescriptionRole else super().data(index, role)  # it is among the words

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.NoItemFlags if self.row(index.row()).is_heading else super().flags(index)


class OfferDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, view: "OfferList") -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(px(100), px(HEADING) if self._view.offers[index.row()].is_heading else px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        offer, theme, box = self._view.offers[index.row()], self._theme, QRectF(option.rect)
        painter.save()
        if offer.is_heading:
            self._text(painter, box.adjusted(px(INSET), px(12), -px(INSET), 0), offer.title, "caption_strong", "text.muted")
        else:
            self._fill(painter, option.state, box, is_hovered=self._view.hovered_row == index.row())
            painter.setPen(theme.color("chart.grid"))
            painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
            self._paint_offer(painter, box.adjusted(px(INSET), 0, -px(INSET), 0), offer)
        painter.restore()

    def _fill(self, painter: QPainter, state: QStyle.StateFlag, box: QRectF, *, is_hovered: bool) -> None:
        theme = self._theme
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("surface.selected"))
            if self._view.hasFocus():
                painter.fillRect(QRectF(box.left(), box.bottom() - FOCUS_BAR, box.width(), FOCUS_BAR), theme.color("accent"))
        elif is_hovered:
            painter.fillRect(box, theme.color("surface.hover"))

    def _paint_offer(self, painter: QPainter, box: QRectF, offer: Offer) -> None:
        right, middle = box.right(), box.center().y()
        if offer.wish:
            width = self._theme.metrics("caption_strong").horizontalAdvance(offer.wish)
            place = QRectF(right - width, box.top(), width + 1, box.height())
            self._text(painter, place, offer.wish, "caption_strong", "accent.text")
            right -= width + px(GAP)
        if box.width() >= px(ROOM_FOR_CHIPS):
            for word, tone in reversed(offer.chips):
                width = self._theme.metrics("caption_strong").horizontalAdvance(word) + px(16)
                paint_chip(painter, self._theme, right - width, middle, word, tone)
                right -= width + px(CHIP_GAP)
        lines = QRectF(box.left(), box.top() + px(9), right - px(GAP) - box.left(), px(20))
        self._text(painter, lines, offer.title, "strong", "text.primary")
        self._text(painter, lines.translated(0, px(20)), offer.text, "caption", "text.secondary")

    def _text(self, painter: QPainter, place: QRectF, text: str, style: str, color: str) -> None:
        painter.setFont(self._theme.font(style))
        painter.setPen(self._theme.color(color))
        shown = self._theme.metrics(style).elidedText(text, Qt.TextElideMode.ElideRight, int(place.width()) + 1)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)


class OfferList(RowHover, QListView):
    """A list of offers. `chosen` carries the key of the offer that a click or Enter chose."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._model = OfferModel()
        self.setModel(self._model)
        self.setItemDelegate(OfferDelegate(theme, self))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setTabKeyNavigation(False)
        self.clicked.connect(self._on_clicked)

    @property
    def offers(self) -> Sequence[Offer]:
        return self._model.rows

    def set_offers(self, offers: Sequence[Offer]) -> None:
        """Replaces the offers; the current one and the scroll position stay where possible."""
        current = self.currentIndex()
        key = self.offers[current.row()].key if current.isValid() else ""
        scrolled = self.verticalScrollBar().value()
        if not self._model.set_rows(offers) and (place := self._model.find(key)) >= 0:
            self.setCurrentIndex(self._model.index(place, 0))
            self.verticalScrollBar().setValue(scrolled)

    def go_in(self) -> None:
        """Moves the focus to the list, and makes its first offer current if none is."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid():
            first = next((index for index, offer in enumerate(self.offers) if not offer.is_heading), -1)
            if first >= 0:
                self.setCurrentIndex(self._model.index(first, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.currentIndex().isValid():
            self._choose(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())

    def _choose(self, place: int) -> None:
        if key := self.offers[place].key:
            self.chosen.emit(key)


SEARCH_AFTER_MS = 120  # without another key; a search takes some 30 ms, and nobody reads what stands there in between
AGAIN_AFTER_MS = 1_500  # between looks while the registry is being fetched, which takes a minute at most
WIDEST = 4_000  # px; the field takes the whole line
HIT, STARTER, UPDATE = "hit", "starter", "update"  # begin the keys of offers
OLD_S = 7 * 86_400  # seconds; new servers come every day, and a week's are missed


class DiscoverTab(Page):
    """A tab for finding servers."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
        self._starters: Sequence[StarterServer] = ()
        self._asked_starter = ""  # the id of one whose sheet is to be opened
        self._updates: Sequence[RegistryUpdate] = ()
        self._status: RegistryStatus | None = None
        self._found: tuple[str, RegistrySearch] | None = None  # of the last search, and its words
        self._wanted = ""  # the server of the registry whose sheet is to open
        self._search, self._read_again = self.reading(self._read_found), self.reading(self._read)
        self.look_requested.connect(self._read_all)
        self._wait, self._again = timer(self, SEARCH_AFTER_MS, self._search), timer(self, AGAIN_AFTER_MS, self._on_again)
        self.offers = OfferList(self._theme, tr("Servers to find"))
        self.offers.chosen.connect(self._on_chosen)
        self.field = SearchField(self._theme, tr("Search the registry, such as files, github or postgres"), width=WIDEST)
        self.field.textChanged.connect(self._on_text)
        self.setFocusProxy(self.field)
        self._add = Button(self._theme, tr("Add server"), "primary", "plus", on_click=self._on_paste_wanted)
        self.header_actions = (self._add,)
        self._count = Label(self._theme, "", "caption", "secondary", wrap=True)
        self._refresh = Button(self._theme, tr("Refresh"), "ghost", "refresh", small=True, on_click=self._on_refresh)
        head = fill(column(margins=(24, 16, 24, 10), spacing=8), self.field, fill(row(spacing=10), (self._count, 1), self._refresh))
        self._fault = FaultArea(self._theme)
        self._stack = QStackedWidget()
        fill(column(self), head, (NoticesAbove(self._fault, self._stack), 1))
        self._looking = EmptyState(self._theme, tr("One moment…"), tr("Well-known servers appear here."), [])
        paste = ("terminal", tr("Paste a command, a URL or a JSON block"), tr("From any README: npx, uvx, an address or a config"))
        self._nothing = EmptyState(self._theme, tr("Nothing is found"), "", [paste])
        self._nothing.way_chosen.connect(self._on_paste_wanted)
        for content in (self._looking, self._nothing, self.offers):
            self._stack.addWidget(content)
        self.enable(False)
        self._draw_status()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leads with Down from the field, which does not use that key, into the list."""
        if event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.offers.go_in()
        else:
            super().keyPressEvent(event)

    def _read_all(self) -> None:
        """Reads well-known servers, updates, and the age of the registry's copy."""
        self._read_again()
        self._search()

    async def _read(self) -> None:
        self._starters = await self.hub.discovery.get_starter_servers()
        self._draw_offers()
        self._show_asked()
        self._updates = await self.hub.discovery.get_registry_updates()
        self._draw_offers()

    async def _read_found(self) -> None:
        words = self._words
        try:
            found = await self.hub.discovery.search_registry(words)
        except TooltrayError:
            self.show_found(words, RegistrySearch((), 0, self._status or RegistryStatus()))
            raise
        self.show_status(found.status)
        self.show_found(words, found)

    def _on_refresh(self) -> None:
        """Downloads the registry again, unless that is going on."""
        status = self._status or RegistryStatus()
        if not status.is_updating:
            self.show_status(replace(status, is_updating=True))
            self.run(self._update_registry(), then=self._read_found)

    async def _update_registry(self) -> None:
        self.show_status(await self.hub.discovery.refresh_registry())
        self._read_again()

    def enable(self, is_usable: bool) -> None:
        self.field.setEnabled(is_usable)
        self._refresh.setEnabled(is_usable)
        self._stack.setEnabled(is_usable)
        self._add.setEnabled(is_usable)

    def open_destination(self, destination: Destination) -> None:
        """Opens the sheet of a well-known server as soon as these servers are read; ignores an unknown one."""
        if isinstance(destination, WellKnownServer):
            self._asked_starter = destination.id
            self._show_asked()

    def _show_asked(self) -> None:
        starter = next((each for each in self._starters if each.id == self._asked_starter), None)
        if starter is not None:
            self._asked_starter = ""
            self._open_starter(starter)

    def show_status(self, status: RegistryStatus) -> None:
        """Shows the age of the registry's copy, and its problem."""
        self._status = status
        self._draw_status()
        if status.is_updating:
            self._again.start()

    def show_found(self, words: str, found: RegistrySearch) -> None:
        """Shows what was found, after the well-known servers with these words, unless the words in the field have changed since."""
        if not words or words != self._words:
            return
        self._found = (words, found)
        self._draw_found(words, found)

    def _draw_found(self, words: str, found: RegistrySearch) -> None:
        known = matching_starters(self._starters, words)
        self.offers.set_offers(found_offers(known, found.hits))
        self._draw_status(found_text(len(known) + len(found.hits), len(known) + found.total))
        is_there = bool(found.status.servers)
        self._nothing.set_title(tr("Nothing is found") if is_there else tr("The registry cannot be searched yet"))
        another = tr("Search for another word, or add a server that you know.")
        self._nothing.set_text(another if is_there else tr("You can add a server that you know."))
        self._stack.setCurrentWidget(self.offers if self.offers.offers else self._nothing)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        self._fault.show_problem(problem)

    @property
    def _words(self) -> str:
        return self.field.text().strip()

    def _draw_offers(self) -> None:
        if not self._words:
            self.offers.set_offers([*update_offers(self._updates), *starter_offers(self._starters)])
            self._stack.setCurrentWidget(self.offers if self.offers.offers else self._looking)
        elif self._found is not None and self._found[0] == self._words:
            self._draw_found(*self._found)

    def _draw_status(self, found: str = "") -> None:
        text, tone = status_line(self._status, datetime.now(), found)
        self._count.setText(text)
        self._count.set_tone(tone)
        status = self._status or RegistryStatus()
        self._refresh.setText(tr("Refreshing…") if status.is_updating else tr("Retry") if status.problem is not None else tr("Refresh"))

    # the person

    def _on_text(self) -> None:
        if self._words:
            self._wait.start()
        else:
            self._wait.stop()
            self._draw_offers()
            self._draw_status()

    def _on_paste_wanted(self, _way: object) -> None:
        self.context.go(AddServer())

    def _on_again(self) -> None:
        """Searches again while the registry is being downloaded, to show progress and the servers found so far."""
        if self.is_usable and self.isVisible():
            self._search()

    def _on_chosen(self, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == UPDATE:
            self.run(self._update_server(name))
        elif kind == STARTER:
            self._open_starter(next(starter for starter in self._starters if starter.id == name))
        else:
            self._wanted = name
            self.run(self._open_server(name))

    async def _update_server(self, name: str) -> None:
        """Pins a server to the newest version of its registry."""
        await self.hub.discovery.update_registry_server(name)
        self.context.say(tr("{name} is updated", name=name))
        self._read_all()

    async def _open_server(self, name: str) -> None:
        """Opens the sheet of a server of the registry; an open sheet of any kind stays."""
        server = await self.hub.discovery.get_registry_server(name)
        if server.name == self._wanted:
            self.context.sheets.show(RegistrySheet(self.context, server, self._show_added))

    def _open_starter(self, starter: StarterServer) -> None:
        self.context.sheets.show(StarterSheet(self.context, starter, self._show_added))

    def _show_added(self, name: str) -> None:
        context = self.context
        toast = show_toast(context.theme, context.window, tr("{name} is added", name=name), tr("Show it"))
        toast.action_requested.connect(partial(context.go, OpenServer(name)))
        self._read_all()


def _here(name: str) -> tuple[tuple[str, str], ...]:
    return ((tr("Added as {name}", name=name), "success"),) if name else ()


def hit_offer(hit: RegistryHit) -> Offer:
    """Returns a hit of a search as an offer of the list."""
    chips = (*_here(hit.here), *((kind_word(kind), "neutral") for kind in hit.kinds))
    title = hit.title or hit.name
    name = f"{hit.name} · " if hit.title and hit.title != hit.name else ""
    return Offer(f"{HIT}:{hit.name}", title, f"{name}{' '.join(hit.description.split())}", chips, tr("Look"))


def starter_offers(starters: Sequence[StarterServer]) -> list[Offer]:
    """Returns the well-known servers, each category below its heading, in the order of the list."""
    offers: list[Offer] = []
    for category in dict.fromkeys(starter.category for starter in starters):
        offers.append(Offer("", shipped(category)))
        offers += [starter_offer(starter) for starter in starters if starter.category == category]
    return offers


def starter_offer(starter: StarterServer) -> Offer:
    """Returns a well-known server as an offer of the list."""
    needs = ((tr("Needs {what}", what=shipped(starter.needs)), "neutral"),) if starter.needs else ()
    return Offer(f"{STARTER}:{starter.id}", starter.title, shipped(starter.good_for), (*_here(starter.here), *needs), tr("Add"))


def matching_starters(starters: Sequence[StarterServer], text: str) -> list[StarterServer]:
    """Returns the well-known servers that have every word of a search in their names or descriptions, in English or the user's language."""
    searched = text.casefold().split()
    texts = ((each, f"{each.id} {each.title} {each.good_for} {shipped(each.good_for)}".casefold()) for each in starters)
    return [each for each, described in texts if all(word in described for word in searched)]


def found_offers(starters: Sequence[StarterServer], hits: Sequence[RegistryHit]) -> list[Offer]:
    """Returns what a search has found: well-known servers first; the registry's have a heading of their own then."""
    offers = [Offer("", tr("Well-known")), *(starter_offer(each) for each in starters)] if starters else []
    if starters and hits:
        offers.append(Offer("", tr("Official registry")))
    return [*offers, *(hit_offer(hit) for hit in hits)]


def update_offers(updates: Sequence[RegistryUpdate]) -> list[Offer]:
    """Returns the available updates, below a heading; empty without any."""
    offers = [Offer("", tr("Updates"))] if updates else []
    for update in updates:
        title = tr("{name}: {version} → {newest}", name=update.server, version=update.version, newest=update.newest)
        text = " · ".join(update.tools) or tr("What changes in its tools shows when it starts.")
        offers.append(Offer(f"{UPDATE}:{update.server}", title, text, (), tr("Update")))
    return offers


def status_line(status: RegistryStatus | None, now: datetime, found: str = "") -> tuple[str, str]:
    """Returns one line about the copy of the registry, and its tone: why it could not be refreshed, else how many servers of it can be
    searched, and how old it is.

    Args:
        found: how many servers a search has found.
    """
    text, tone = _copy_words(status, now) if status is not None else ("", "secondary")
    return " · ".join(filter(None, (found, text))), tone


def _copy_words(status: RegistryStatus, now: datetime) -> tuple[str, str]:
    if status.problem is not None and not status.is_updating:
        return whole(replace(status.problem, hint="")), "warning"  # what to do is the button beside it
    if not status.servers:
        return tr("Downloading the registry…") if status.is_updating else tr("Registry not downloaded yet"), "secondary"
    text = tr("{count} servers of the official registry, as of {when}.", count=f"{status.servers:,}", when=moment(status.updated_at, now))
    if status.is_updating or now.timestamp() - status.updated_at <= OLD_S:
        return text, "secondary"
    return in_a_row(text, tr("It is more than a week old; newer servers are missing.")), "warning"


def found_text(shown: int, total: int) -> str:
    """Returns how many were found, as a sentence."""
    if not total:
        return ""
    if total > shown:
        return tr("{shown} of {count} found. Another word narrows it down.", shown=shown, count=f"{total:,}")
    return many(total, "1 found", "{count} found")
