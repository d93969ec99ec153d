"""The sections of the tab Confinement: a table with a line for each."""

from collections.abc import Callable

from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.choice_section import ChoiceSection
from tooltray.ui.server_pane.confinement_section import ConfinementSection
from tooltray.ui.server_pane.refused_section import RefusedSection
from tooltray.ui.server_pane.watch_section import WatchSection

SECTIONS: tuple[Callable[[PageContext, str], ConfinementSection], ...] = (RefusedSection, ChoiceSection, WatchSection)
"""Each makes its widget for the server of a name; in the order in which they stand."""
