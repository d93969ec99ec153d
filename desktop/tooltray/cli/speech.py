"""What commands say, in the person's language: `tr()` for their own texts, `say()` for what comes from the engine.

Above it: every command, and what can be typed. Below it: languages. A process runs one command and speaks one language, that of `speak`;
until then, and with `--json`, English.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.languages import ENGLISH, Catalogue, chosen_language, names_in, spoken_language

if TYPE_CHECKING:
    from pathlib import Path

ENDS = (".", "!", "?", ":", "。", "？", "！", "：")
FIRST_WIDE = 0x2E80  # signs from here on are of scripts that have a full stop of their own, and no space behind it


class Speech:
    """The language that is spoken."""

    def __init__(self) -> None:
        self.catalogue = Catalogue(ENGLISH)

    def speak(self, language: str) -> None:
        if language != self.catalogue.code:
            self.catalogue = Catalogue(language)


_SPEECH = Speech()


def speak(language: str) -> None:
    """From now on everything is said in this language."""
    _SPEECH.speak(language)


def spoken() -> str:
    """Returns the language that is spoken."""
    return _SPEECH.catalogue.code


def language_of(settings: "Path", environ: Mapping[str, str] = os.environ) -> str:
    """Returns the language of a person, by the file of the settings or the terminal's variables. Blocks."""
    return spoken_language(chosen_language(settings), names_in(environ))


def tr(text: str, **values: object) -> str:
    """Returns a text in the person's language, with its `{name}` fields filled in."""
    return _SPEECH.catalogue.filled(text, values)


def say(text: str) -> str:
    """Returns what the engine, or a constant, says in the person's language, where it can be said there; any other text as it is.

    What a running hub says comes as plain text, and is recognised by its words.
    """
    catalogue = _SPEECH.catalogue
    template: str | None = getattr(text, "template", None)  # of a Phrase, whose module is not worth its import here
    if template is None:
        return catalogue.recognised(text)
    fields: Mapping[str, object] = getattr(text, "fields", {})
    return catalogue.filled(template, {name: say(value) if isinstance(value, str) else value for name, value in fields.items()})


def in_one_line(*parts: str) -> str:
    """Parts of what is said, one behind the other, as `errors.in_one_line` does it in English."""
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
