"""The texts of commands in the user's language: `tr()` for their own texts, `say()` for the engine's.

A process runs one command and uses one language, that of `speak`; until then, and with `--json`, English.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.languages import ENGLISH, Catalogue, chosen_language, names_in, spoken_language

if TYPE_CHECKING:
    from pathlib import Path

ENDS = (".", "!", "?", ":", "。", "？", "！", "：")
FIRST_WIDE = 0x2E80  # characters from here on belong to scripts with their own full stop, and no space after it


class Speech:
    """The current language."""

    def __init__(self) -> None:
        self.catalogue = Catalogue(ENGLISH)

    def speak(self, language: str) -> None:
        if language != self.catalogue.code:
            self.catalogue = Catalogue(language)


_SPEECH = Speech()


def speak(language: str) -> None:
    """Uses this language for all texts from now on."""
    _SPEECH.speak(language)


def spoken() -> str:
    """Returns the current language."""
    return _SPEECH.catalogue.code


def language_of(settings: "Path", environ: Mapping[str, str] = os.environ) -> str:
    """Returns the user's language, from the file of the settings or the terminal's variables. Blocks."""
    return spoken_language(chosen_language(settings), names_in(environ))


def tr(text: str, **values: object) -> str:
    """Returns a text in the user's language, with its `{name}` fields filled in."""
    return _SPEECH.catalogue.filled(text, values)


def say(text: str) -> str:
    """Returns a text of the engine, or a constant, in the user's language where it has a translation; any other text unchanged.

    The texts of a running hub are plain text, and are recognised by their words.
    """
    catalogue = _SPEECH.catalogue
    template: str | None = getattr(text, "template", None)  # of a Phrase, whose module is not imported here, as it takes time
    if template is None:
        return catalogue.recognised(text)
    fields: Mapping[str, object] = getattr(text, "fields", {})
    return catalogue.filled(template, {name: say(value) if isinstance(value, str) else value for name, value in fields.items()})


def in_one_line(*parts: str) -> str:
    """Joins the parts of a message, as `errors.in_one_line` does in English."""
    said: Sequence[str] = [say(part) for part in parts if part]
    line = ""
    for part in said:
        line += _gap(line, part) + part.rstrip(".。")
    return line


def _gap(line: str, part: str) -> str:
    if not line:
        return ""
    if ord(line[-1]) >= FIRST_WIDE:
        return "" if line.endswith(ENDS) else "。"
    return ": " if part[:1].islower() else ". "
