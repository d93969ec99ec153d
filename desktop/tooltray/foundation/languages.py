"""The languages of Tooltray: a catalogue for each, `resources/i18n/CODE.json`, and the choice of the user's language.

Knows no Qt, and imports only the standard library, because commands must start quickly. A catalogue is one JSON object of texts, keyed by
the English ones; a missing text stays English. Its member with the empty name describes the catalogue, one fact a line: `language:` is its
own name for the language, and `for:` lists the system's names of languages that it serves, or their beginnings: `zh-Hant` for `zh-Hant-TW`.
The languages are found from the files. A text with a `{count}` may have a form for each kind of number, divided by "|", in the order of
Unicode's plural rules: one, few, many in Polish.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tooltray.foundation.lazy_loggers import lazy_logger
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.programs import resource
from tooltray.foundation.regular_file import open_regular

logger = lazy_logger(__name__)

ENGLISH = "en"
FOLDER = "i18n"
ABOUT = lazy_pattern(r'\A\ufeff?\s*\{\s*"":\s*("(?:[^"\\]|\\.)*")')  # a catalogue's member of the empty name, the first one
ABOUT_CHARACTERS = 2_000  # of a catalogue that are searched for that member; a whole catalogue is a hundred times as long
CODE = lazy_pattern(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
FIELD = lazy_pattern(r"\{(\w+)\}")
LARGEST_SETTINGS = 8 * 1024 * 1024  # characters in which a command looks for the language; more would be felt
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first one that is set decides


class Language(NamedTuple):
    """A language with a catalogue, or English.

    Attributes:
        code: the name of its catalogue; "en" has none.
        name: as its speakers call it.
        serves: beginnings of the system's names of languages.
    """

    code: str
    name: str
    serves: tuple[str, ...]


def languages() -> tuple[Language, ...]:
    """Returns all languages, English first, then by their names; reads the beginning of each catalogue."""
    found = [language for path in resource(FOLDER).glob("*.json") if (language := _language(path)) is not None]
    return (Language(ENGLISH, "English", (ENGLISH,)), *sorted(found, key=lambda each: each.name))


def language_for(names: Iterable[str]) -> str:
    """Returns the language for a user whose system names these languages, best first, such as "zh-Hant-TW"; English if none fits."""
    known: tuple[Language, ...] | None = None
    for name in (each.replace("_", "-") for each in names if CODE.fullmatch(each)):
        if _begins(name, ENGLISH):
            return ENGLISH
        known = known or languages()
        if fitting := next((each.code for each in known if any(_begins(name, prefix) for prefix in each.serves)), ""):
            return fitting
    return ENGLISH


def spoken_language(chosen: str, names: Iterable[str]) -> str:
    """Returns the language to use.

    Args:
        chosen: by the user, in the settings; empty: no choice. A code without a catalogue counts as no choice.
        names: the system's, best first.
    """
    if chosen == ENGLISH or (CODE.fullmatch(chosen) and resource(FOLDER, f"{chosen}.json").is_file()):
        return chosen
    if chosen:
        logger.warning("language '%s' not found", chosen[:20])
    return language_for(names)


def names_in(environ: Mapping[str, str]) -> list[str]:
    """Returns the languages that a terminal's variables name, best first, as gettext reads them."""
    first = next((value for name in VARIABLES if (value := environ.get(name))), "")
    name = re.split(r"[.@]", first)[0]
    if name in ("", "C", "POSIX"):
        return []
    return [*filter(None, environ.get("LANGUAGE", "").split(":")), name]


def chosen_language(settings: Path) -> str:
    """Returns the language that the file of the settings names; empty if it names none or cannot be read. Blocks."""
    try:
        with open(settings, encoding="utf-8-sig", opener=open_regular) as file:
            found = json.loads(text)["language"] if '"language"' in (text := file.read(LARGEST_SETTINGS)) else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


class Catalogue:
    """The texts of one language. A catalogue that cannot be read has none, which is logged."""

    def __init__(self, code: str) -> None:
        self.code = code
        self._texts = {} if code == ENGLISH else _read(code)
        self._patterns: list[tuple[str, str]] | None = None

    def get(self, text: str) -> str | None:
        """Returns a text in this language; None: it is not translated."""
        return self._texts.get(text) or None

    def filled(self, text: str, values: Mapping[str, object]) -> str:
        """Returns a text in this language with its `{name}` fields filled in; in English where its translation has other fields."""
        translated = self.get(text) or text
        if not values:
            return translated
        try:
            return fitting_form(self.code, translated, values.get("count")).format(**values)
        except (LookupError, ValueError):
            return text.format(**values)

    def recognised(self, text: str) -> str:
        """Translates an English text whose fields are already filled in; a text that is in no catalogue stays as it is."""
        if not self._texts or not text or text in self._texts:
            return self._texts.get(text) or text
        found = self._matching(text)
        if found is None:
            return text
        template, values = found
        return self.filled(template, {name: self.recognised(value) for name, value in values.items()})

    def _matching(self, text: str) -> tuple[str, dict[str, str]] | None:
        """Returns the template that the text was made from, the one with the most words of its own, and the values of its fields."""
        if self._patterns is None:
            templates = [each for each in self._texts if FIELD.search(each)]
            kept = [(max(FIELD.split(each)[::2], key=len), each) for each in templates if _is_telling(each)]
            self._patterns = sorted(kept, key=lambda each: -len(FIELD.sub("", each[1])))
        for piece, template in self._patterns:
            if piece in text and (match := _pattern(template).fullmatch(text)):
                return template, match.groupdict()
        return None


def _is_telling(template: str) -> bool:
    """Returns whether the template's own words are enough to recognise it: "{one}: {other}" would match every text."""
    return len(re.sub(r"\W", "", FIELD.sub("", template))) >= 6 and not re.search(r"\}\{", template)


@lru_cache(maxsize=256)
def _pattern(template: str) -> re.Pattern[str]:
    pieces, seen = [], set[str]()
    for index, piece in enumerate(FIELD.split(template)):
        if index % 2 == 0:
            pieces.append(re.escape(piece))
        elif piece in seen:
            pieces.append(f"(?P={piece})")
        else:
            seen.add(piece)
            pieces.append(f"(?P<{piece}>.*?)")
    return re.compile("".join(pieces), re.DOTALL)


def _language(path: Path) -> Language | None:
    code = path.stem
    try:
        with path.open(encoding="utf-8") as file:
            found = ABOUT.match(file.read(ABOUT_CHARACTERS))
    except (OSError, ValueError) as error:
        logger.warning("the catalogue %s cannot be read: %s", path, error)
        return None
    about = about_of(json.loads(found[1])) if found else {}
    serves = tuple(filter(None, re.split(r"[\s,]+", about.get("for", "")))) or (code.replace("_", "-"),)
    return Language(code, about.get("language") or code, serves)


def fitting_form(code: str, text: str, count: object) -> str:
    """Returns the form of a translation that fits a number, such as 5 or "1,234"; a text with a single form is returned unchanged."""
    if "|" not in text:
        return text
    forms = text.split("|")
    digits = re.sub(r"\D", "", str(count))
    return forms[min(plural_form(code, int(digits or 0)), len(forms) - 1)]


def plural_form(code: str, count: int) -> int:
    """Returns which of a language's forms fits a number of things, from 0.

    Unicode CLDR 47 has the rules, for whole numbers; languages that are not named here have the same as English. Where a text has fewer
    forms, its last one serves.
    """
    language, last, tens = re.split(r"[-_]", code)[0].lower(), count % 10, count % 100
    if language in ("fr", "pt", "hy"):
        return int(count > 1)
    if language in ("ru", "uk", "be", "sr", "hr", "bs"):
        is_few = 2 <= last <= 4 and not 12 <= tens <= 14
        return 0 if last == 1 and tens != 11 else 1 if is_few else 2
    if language == "pl":
        is_few = 2 <= last <= 4 and not 12 <= tens <= 14
        return 0 if count == 1 else 1 if is_few else 2
    if language in ("cs", "sk"):
        return 0 if count == 1 else 1 if 2 <= count <= 4 else 2
    if language == "ar":
        return count if count <= 2 else 3 if 3 <= tens <= 10 else 4 if tens >= 11 else 5
    return int(count != 1)


def about_of(text: str) -> dict[str, str]:
    """Reads a catalogue's description of itself."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, mark, value in pairs if mark}


def _begins(name: str, prefix: str) -> bool:
    return f"{name}-".lower().startswith(f"{prefix}-".lower())


def _read(code: str) -> dict[str, str]:
    path = resource(FOLDER, f"{code}.json")
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("the catalogue %s cannot be read; texts are in English: %s", path, error)
        return {}
    if not isinstance(found, dict):
        logger.warning("the catalogue %s is not a JSON object; texts are in English", path)
        return {}
    return {text: translated for text, translated in found.items() if text and isinstance(translated, str)}
