"""The sheet with what counts for every client without choices of its own: how tools are listed, and when calls ask."""

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.asking_section import AskingSection
from tooltray.ui.clients.client_words import MODES, mode_name, mode_text, reason
from tooltray.ui.i18n import tr
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import Label

WIDTH = 760


class DefaultsSheet(SheetView):
    """A sheet with the defaults; a choice applies at once."""

    def __init__(self, view: View) -> None:
        super().__init__(view.context, tr("Defaults for all clients"), WIDTH)
        theme = view.context.theme
        self.body.addWidget(Label(theme, tr("Tool listing"), "heading"))
        self._modes = OptionList(theme, [(mode, mode_name(mode)) for mode in MODES], name=tr("Tool listing"), may_be_empty=False)
        self._modes.changed.connect(self._on_mode)
        self.body.addWidget(self._modes)
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._text)
        self._asking = AskingSection(self)
        self.body.addWidget(self._asking)
        self.set_first_focus(self.add_button(tr("Close"), self.close_requested.emit))

    async def read(self) -> None:
        """Reads the defaults, and shows them."""
        for kind in await self.hub.views.get_client_modes():
            if not kind.client:
                self._show(kind)
        await self._asking.read()

    def _show(self, kind: ClientModeSnapshot) -> None:
        self._modes.set_chosen([kind.mode])
        self._text.setText(reason(kind) or mode_text(kind.mode))

    def _on_mode(self) -> None:
        self.run(self.hub.views.set_client_mode("", self._modes.chosen[0]), then=self.read)
