"""The base of the window's pages, and pages of tabs. A page owns its commands, its sheets and its refresh; the window shows it and knows
nothing of them."""

from collections.abc import Callable, Sequence

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.ui.kit.destinations import Destination, PageName
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import column, fill


class Page(QWidget, View):
    """A page of the window, or a tab of a page. It is refreshed whenever it is shown; a hidden page requests nothing from the hub.

    Attributes:
        header_actions: of a tab: the widget in the header of its page while the tab is shown.
    """

    need_person = Signal(int)  # so many things on it that a person should see to
    look_requested = Signal()  # it is shown, and wants to know how things are

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context = context
        self.setObjectName("Page")
        self.is_usable = False
        self.header_actions: Sequence[QWidget] = ()

    def set_phase(self, phase: HubPhase) -> None:
        """Sets the phase of the hub."""
        self.set_usable(phase is HubPhase.RUNNING)

    def set_usable(self, is_usable: bool) -> None:
        """Sets whether a hub can be used."""
        self.is_usable = is_usable
        self.enable(is_usable)
        self.look_again()

    def enable(self, is_usable: bool) -> None:
        """Enables or disables the controls that need a hub; without any it does nothing."""

    def open_destination(self, destination: Destination) -> None:
        """Opens one of the places in the page, which is shown already."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Refreshes now if visible; a hidden page is refreshed when it is shown."""
        if self.is_usable and self.isVisible():
            self.look_requested.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look_again()


class PageEntry(msgspec.Struct, frozen=True):
    """A page of the window.

    Args:
        place: the page as a destination.
        icon: in the navigation, as its title, which is made when the language is known.
        make: builds the page.
    """

    place: Destination
    icon: str
    title: Callable[[], str]
    make: Callable[[PageContext], Page]

    @property
    def name(self) -> PageName:
        return self.place.page


class TabEntry(msgspec.Struct, frozen=True):
    """A tab of a page.

    Args:
        name: in code, links and tests.
        title: made when the language is known.
        make: builds the tab.
        is_early: the tab is built before it is shown, since it counts what needs the user even while it is hidden.
        has_count: its title has that count; not where it would be read as the number of something else.
    """

    name: str
    title: Callable[[], str]
    make: Callable[[PageContext], Page]
    is_early: bool = False
    has_count: bool = True


class TabbedPage(Page):
    """A page with tabs; the first tab is shown at first.

    Args:
        title: of the page.
    """

    def __init__(self, context: PageContext, title: str, entries: Sequence[TabEntry]) -> None:
        super().__init__(context)
        self._entries = tuple(entries)
        self._phase = HubPhase.STARTING
        self._made: dict[str, Page] = {}
        self._needing: dict[str, int] = {}  # how many things on a tab need a person
        self._tabs = FilterTabs(context.theme, [entry.title() for entry in entries], name=title, have_counts=False)
        self._tabs.chosen.connect(self._on_chosen)
        self._header, self._stack = Header(context.theme, title, tabs=self._tabs), QStackedWidget()
        fill(column(self), self._header, (self._stack, 1))
        self.show_tab(entries[0].name)

    @property
    def current(self) -> str:
        """The name of the current tab."""
        return self._entries[self._tabs.current].name

    def build_early(self) -> None:
        """Builds the tabs that count what needs the user; later than the page, since the window is first to be painted."""
        for entry in self._entries:
            if entry.is_early:
                self.tab(entry.name)

    def tab(self, name: str) -> Page:
        """Returns a tab; builds it at the first call."""
        if name not in self._made:
            tab = self._made[name] = self._entries[self._index(name)].make(self.context)
            self._stack.addWidget(tab)
            tab.need_person.connect(lambda count: self._on_need_person(name, count))
            tab.set_phase(self._phase)
        return self._made[name]

    def show_tab(self, name: str) -> None:
        """Shows one of the tabs."""
        tab = self.tab(name)
        self._tabs.choose(self._index(name))
        self._stack.setCurrentWidget(tab)
        self._header.set_actions(tab.header_actions)

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        super().set_phase(phase)
        for tab in self._made.values():
            tab.set_phase(phase)

    def _index(self, name: str) -> int:
        return [entry.name for entry in self._entries].index(name)

    def _on_chosen(self, index: int) -> None:
        """Shows the tab that the user chose."""
        self.show_tab(self._entries[index].name)

    def _on_need_person(self, name: str, count: int) -> None:
        self._needing[name] = count
        entry = self._entries[self._index(name)]
        if entry.has_count:
            self._tabs.set_text(self._index(name), f"{entry.title()} · {count}" if count else entry.title())
        self.need_person.emit(sum(self._needing.values()))
