"""QtToolManager: the engine's ToolManager for the GUI thread. It keeps no list: tools are read when they are shown."""

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.events import ToolListChanged
from tooltray.ui.link.link import EngineLink


class QtToolManager(QObject):
    tool_list_changed = Signal(str)  # the server whose tools changed

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        link.news_arrived.connect(self._on_news)

    def _on_news(self, news: tuple[object, ...]) -> None:
        for server in dict.fromkeys(item.server for item in news if isinstance(item, ToolListChanged)):
            self.tool_list_changed.emit(server)
