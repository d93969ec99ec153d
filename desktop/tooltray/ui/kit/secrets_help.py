"""The ways out when secrets cannot be saved or read: unlock them, try again, or save them elsewhere. Another place needs a confirmation."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import KeyringAwaited
from tooltray.foundation.snapshots.servers import AWAITS_KEYRING
from tooltray.ui.i18n import say, tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.server_words import answer_prompt
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

PASSPHRASE_WIDTH = 320  # px


class KeyringWait(QWidget):
    """A banner that an operation waits for the keyring, whose own prompt is likely to be open. Shown between `start` and `stop`, while the
    hub waits for it.
    """

    def __init__(self, theme: Theme, hub: QtMcpPresenter) -> None:
        super().__init__()
        self._hub, self._is_on = hub, False
        column(self).addWidget(Banner(theme, "info", say(AWAITS_KEYRING), answer_prompt()))
        hub.on_any((KeyringAwaited,), self._draw, self)
        self.hide()

    def start(self) -> None:
        self._is_on = True
        self._draw()

    def stop(self) -> None:
        self._is_on = False
        self._draw()

    def _draw(self) -> None:
        self.setVisible(self._is_on and self._hub.awaits_keyring)


async def open_secrets(hub: QtMcpPresenter, kind: str, passphrase: str) -> None:
    """Carries out what `SecretsHelp.chosen` carries.

    Raises:
        TooltrayError: the secrets cannot be used.
    """
    if kind:
        await hub.secrets.set_secret_backend(kind)
    if passphrase:
        await hub.secrets.unlock_secrets(passphrase)
    else:
        await hub.secrets.check_secrets()


class SecretsHelp(Surface):
    """The ways out when secrets cannot be stored. `chosen` carries another place ("keyring", "file", "memory"; empty: the place stays) and
    the passphrase of the file; see `open_secrets`.

    Args:
        backend: where secrets are kept now.
    """

    chosen = Signal(str, str)

    def __init__(self, theme: Theme, problem: Problem, backend: str) -> None:
        super().__init__(theme, "warning.subtle", None, "m")
        self._theme, self._is_file, self._wanted = theme, backend == "file", ""
        self._title = Label(theme, title(problem), "caption_strong", "warning", wrap=True)
        self._text = Label(theme, _facts(problem), "caption", "secondary", wrap=True)
        self._ways, self._question = QWidget(), QWidget()
        fill(column(self._ways, spacing=8), self._file_line(), self._others())
        self.setFocusProxy(self._passphrase)
        self._asked = Label(theme, "", "caption", "secondary", wrap=True)
        back = self._button(tr("Back"), partial(self._show_question, False))
        self._sure = self._button("", self._on_sure)
        fill(column(self._question, spacing=8), self._asked, fill(row(), back, self._sure, 1))
        self._question.hide()
        fill(column(self, margins=(14, 12, 14, 12), spacing=8), self._title, self._text, self._ways, self._question)

    def set_problem(self, problem: Problem) -> None:
        """Shows another problem; a typed passphrase stays."""
        self._title.setText(title(problem))
        self._text.setText(_facts(problem))

    def _file_line(self) -> QHBoxLayout:
        words = tr("Passphrase") if self._is_file else tr("Passphrase for the file")
        self._passphrase = text_line(self._theme, words, words, is_secret=True)
        self._passphrase.setFixedHeight(self._theme.size("control_small"))
        self._passphrase.setMaximumWidth(px(PASSPHRASE_WIDTH))
        use = self._button(tr("Unlock") if self._is_file else tr("Use an encrypted file"), self._on_file)
        use.setEnabled(False)
        self._passphrase.returnPressed.connect(self._on_file)
        self._passphrase.textChanged.connect(lambda text: use.setEnabled(bool(text)))
        return fill(row(), (self._passphrase, 1), use, 0)

    def _others(self) -> QHBoxLayout:
        memory = self._button(tr("Only in memory…"), partial(self._ask, "memory"), "ghost")
        if self._is_file:
            return fill(row(), self._button(tr("Use the keyring…"), partial(self._ask, "keyring"), "ghost"), memory, 1)
        return fill(row(), self._button(tr("Try again"), partial(self.chosen.emit, "", "")), memory, 1)

    def _button(self, text: str, slot: Callable[[], object], variant: str = "secondary") -> Button:
        return Button(self._theme, text, variant, small=True, on_click=slot)

    def _ask(self, kind: str) -> None:
        """Prompts before another place is used, since the secrets in the present one are then out of reach."""
        self._wanted = kind
        stay = tr("Secrets in the encrypted file stay there, out of reach.")
        if not self._is_file:
            stay = tr("Secrets in the keyring stay there, out of reach.")
        lost = tr("Those in memory are lost when Tooltray ends.") if kind == "memory" else ""
        self._asked.setText(f"{tr('Servers whose secrets are missing then do not start.')} {stay} {lost}".strip())
        self._sure.setText(tr("Only in memory") if kind == "memory" else tr("Use the keyring"))
        self._show_question(True)

    def _show_question(self, is_shown: bool) -> None:
        self._ways.setVisible(not is_shown)
        self._question.setVisible(is_shown)

    def _on_file(self) -> None:
        if self._passphrase.text():
            self.chosen.emit("" if self._is_file else "file", self._passphrase.text())

    def _on_sure(self) -> None:
        self._show_question(False)
        self.chosen.emit(self._wanted, "")


def _facts(problem: Problem) -> str:
    """Returns what happened, without what to do: the buttons below it do that."""
    return sentences(Problem("", problem.message))
