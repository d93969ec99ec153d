"""The forms in which AI clients get tables in results, as the user chooses them for servers, tools and clients. Pure."""

from collections.abc import Mapping

from tooltray.foundation.phrases import Phrase
from tooltray.ui.i18n import say

TABLE_FORMS: Mapping[str, bool | None] = {"": None, "true": True, "false": False}
"""The choices, and what the settings have for them; None: as chosen elsewhere."""
FORM_TITLES = (("true", Phrase("CSV, where it is smaller")), ("false", Phrase("JSON")))


def form_options(default: str) -> list[tuple[str, str]]:
    """Returns the choices with their titles.

    Args:
        default: the title of the choice that leaves it to other settings.
    """
    return [("", default), *((form, say(title)) for form, title in FORM_TITLES)]


def form_of(csv_tables: bool | None) -> str:
    """Returns the choice for a value of the settings."""
    return next(form for form, each in TABLE_FORMS.items() if each is csv_tables)
