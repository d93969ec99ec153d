"""The sections of the tab Confinement: a table with a line for each."""

from collections.abc import Callable

from tooltray.ui.confinement.choice_section import ChoiceSection
from tooltray.ui.confinement.confinement_section import ConfinementSection
from tooltray.ui.confinement.refused_section import RefusedSection
from tooltray.ui.confinement.watch_section import WatchSection
from tooltray.ui.pages.page_context import PageContext

SECTIONS: tuple[Callable[[PageContext, str], ConfinementSection], ...] = (RefusedSection, ChoiceSection, WatchSection)
"""Each makes its widget for the server of a name; in the order in which they stand."""
