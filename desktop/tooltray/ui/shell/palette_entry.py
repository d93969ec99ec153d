"""The entries of the palette, their sources, and the data that sources use."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.page_context import PageContext

Run = Callable[[], object]


class PaletteEntry(msgspec.Struct, frozen=True):
    """One line.

    Attributes:
        key: the same for the same thing, so that what was done last comes first.
        title: what is shown or done.
        run: does it, once the palette is closed.
        icon: its file.
        kind: what it is, in a word, at the right.
        detail: what distinguishes it from others of its name.
        also: other words by which it is found; in English, too, whatever language is spoken.
        rank: of two that fit alike the higher one comes first.
        is_now: it needs the user now, and is listed before anything is typed.
    """

    key: str
    title: str
    run: Run
    icon: str
    kind: str
    detail: str = ""
    also: str = ""
    rank: int = 0
    is_now: bool = False


class PageLine(msgspec.Struct, frozen=True):
    """A page of the window."""

    place: Destination
    icon: str
    title: str


class PaletteContext(msgspec.Struct, frozen=True):
    """The data that entries are made of.

    Attributes:
        tools, clients: as they were last read.
        pasted: names of the servers in the clipboard; `pasted_text` is the text of the clipboard.
    """

    page: PageContext
    pages: Sequence[PageLine]
    tools: Sequence[ToolSnapshot] = ()
    clients: Sequence[ClientModeSnapshot] = ()
    pasted: Sequence[str] = ()
    pasted_text: str = ""

    def link(self, destination: Destination) -> Run:
        """Returns a function that shows a place in the window."""
        return lambda: self.page.go(destination)


class PaletteSource(msgspec.Struct, frozen=True):
    """A source of entries.

    Args:
        name: in code and tests.
        entries: made each time that the palette opens.
        is_long: there may be thousands; they are made a few at a time, and kept while the tools are the same.
    """

    name: str
    entries: Callable[[PaletteContext], Iterable[PaletteEntry]]
    is_long: bool = False
