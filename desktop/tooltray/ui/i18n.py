"""Translation in the window: `tr()` for every text the user sees, `say()` for the engine's. Knows nothing of widgets."""

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from tooltray.foundation.languages import ENGLISH, Catalogue, fitting_form
from tooltray.foundation.phrases import Phrase

CONTEXT = "ui"
QT_TEXTS = "texts of Qt"


class JsonTranslator(QTranslator):
    """Looks texts up in a language's catalogue."""

    def __init__(self, language: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._catalogue = Catalogue(language)

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return self._catalogue.get(text) if context == CONTEXT else None


def tr(text: str, **values: object) -> str:
    """Returns `text` in the user's language, with its `{name}` fields filled in."""
    return _filled(text, values) if values else QCoreApplication.translate(CONTEXT, text)


def many(count: int, one: str, other: str, **values: object) -> str:
    """Returns the text for a number of things: in English `one` for 1, else `other` with `{count}` filled in as the user writes numbers.

    Languages with more forms have them in their text for `other`, see foundation/languages.
    """
    return tr(one, **values) if count == 1 else tr(other, count=QLocale().toString(count), **values)


def say(text: str) -> str:
    """Returns a text of the engine in the user's language, if it can be translated; any other text unchanged."""
    if not isinstance(text, Phrase):
        return text
    return _filled(text.template, {name: say(value) if isinstance(value, str) else value for name, value in text.fields.items()})


def shipped(text: str) -> str:
    """Returns a text of Tooltray's own data, such as the description of a well-known server, in the user's language."""
    return QCoreApplication.translate(CONTEXT, text)


def install_language(app: QCoreApplication, language: str) -> None:
    """Changes the language of the application, Qt's own menus included; English, also "", has no catalogue."""
    for old in app.findChildren(QTranslator):
        if isinstance(old, JsonTranslator) or old.objectName() == QT_TEXTS:
            app.removeTranslator(old)
            old.deleteLater()
    if language in ("", ENGLISH):
        return
    own = JsonTranslator(language, app)
    qt = QTranslator(app)
    qt.setObjectName(QT_TEXTS)
    if qt.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qt)
    app.installTranslator(own)


def locale_of(language: str) -> QLocale:
    """Returns the locale for numbers and dates of a language: the system's own, if it has the same language."""
    system = system_locale()
    return system if QLocale(language).language() == system.language() else QLocale(language)


def system_locale() -> QLocale:
    """Returns the system's locale; for one without a language, whose numbers have no separators, that of American English."""
    system = QLocale.system()
    return QLocale("en_US") if system.language() is QLocale.Language.C else system


def _filled(text: str, values: Mapping[str, object]) -> str:
    try:
        translated = QCoreApplication.translate(CONTEXT, text)
        return fitting_form(QLocale().name(), translated, values.get("count")).format(**values)
    except (LookupError, ValueError):  # a catalogue's slip of the pen
        return text.format(**values)
