"""Translation: `tr()` for every text a person sees, `say()` for the engine's, from JSON catalogues that a person can edit.

Above it: every view. Below it: resources and phrases. Knows nothing of widgets. One catalogue per language, keyed by the English text; what
is missing stays English.
"""

import json
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from tooltray.phrases import Phrase
from tooltray.resources import resource

CONTEXT = "ui"
LANGUAGES = {"zh_TW": ("zh-TW", "zh-HK", "zh-MO", "zh-Hant")}
"""Our catalogues, and the system's names of languages for which each serves best."""


class JsonTranslator(QTranslator):
    """Looks texts up in `i18n/<language>.json`."""

    def __init__(self, language: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._texts: dict[str, str] = json.loads(resource("i18n", f"{language}.json").read_text("utf-8"))

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return self._texts.get(text) if context == CONTEXT else None


def tr(text: str, **values: object) -> str:
    """Returns `text` in the person's language, with its `{name}` fields filled in."""
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated.format(**values) if values else translated


def say(text: str) -> str:
    """Returns what the engine says in the person's language, where it can be said there; any other text as it is."""
    if not isinstance(text, Phrase):
        return text
    values = {name: say(value) if isinstance(value, str) else value for name, value in text.fields.items()}
    return QCoreApplication.translate(CONTEXT, text.template).format(**values)


def shipped(text: str) -> str:
    """Returns a text of the data that comes with Tooltray, such as what a well-known server is good for, in the person's language."""
    return QCoreApplication.translate(CONTEXT, text)


def wanted_language(names: Sequence[str]) -> str:
    """Returns the catalogue for a person who reads the languages `names` (e.g. "zh-Hant-TW"), best first; "" is English."""
    for name in names:
        for language, prefixes in LANGUAGES.items():
            if name.startswith(prefixes):
                return language
        if name.startswith("en"):
            return ""
    return ""


def install_language(app: QCoreApplication, language: str) -> None:
    """Makes the application speak a language, Qt's own menus included; "" is English."""
    if not language:
        return
    own = JsonTranslator(language, app)
    qt = QTranslator(app)
    if qt.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qt)
    app.installTranslator(own)
