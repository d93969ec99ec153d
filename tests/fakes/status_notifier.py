"""A desktop panel's tray without a panel: a private D-Bus session, a StatusNotifierWatcher on it, and a hand that reads and clicks menus.

It speaks what panels speak (org.kde.StatusNotifierWatcher, org.kde.StatusNotifierItem, com.canonical.dbusmenu), by jeepney alone, and
answers as the desktop's portal does whether things should move.
"""

import contextlib
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PORTAL = "org.freedesktop.portal.Desktop"
PROPERTIES = "org.freedesktop.DBus.Properties"
ANSWER_S = 10.0  # a busy window on a busy machine answers in less
LOOK_EVERY_S = 0.1  # whether the watcher is to end
CONFIG = """<busconfig><type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""


@dataclass
class Entry:
    """One line of a menu; what lies below it is read with it."""

    id: int
    text: str
    is_enabled: bool
    children: list["Entry"] = field(default_factory=list)


class Panel:
    """`with Panel(folder) as panel:` is a desktop session with a tray; programs join it by `panel.address`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"unix:path={folder / 'bus'}"
        self.wants_less_motion = False
        self.questions: list[tuple[str, str]] = []  # that the portal was asked
        self._items: list[str] = []
        self._is_ending = threading.Event()

    def __enter__(self) -> "Panel":
        config = self._folder / "bus.conf"
        config.write_text(CONFIG.format(socket=self._folder / "bus"))
        command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--nosyslog", "--print-address"]
        self._daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._daemon.stdout
        self._daemon.stdout.readline()  # it listens
        self._hand = open_dbus_connection(self.address)
        watcher = open_dbus_connection(self.address)
        reply = watcher.send_and_get_reply(message_bus.RequestName(WATCHER), timeout=ANSWER_S)
        assert reply.body[0] == 1, "another watcher is there"
        watcher.send_and_get_reply(message_bus.RequestName(PORTAL), timeout=ANSWER_S)
        self._thread = threading.Thread(target=self._watch, args=[watcher], name="status notifier watcher")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        self._thread.join()
        self._hand.close()
        self._daemon.terminate()
        self._daemon.wait()
        assert self._daemon.stdout
        self._daemon.stdout.close()

    @property
    def items(self) -> list[str]:
        """The bus names and paths of the icons that are shown now."""
        return [item for item in self._items if self._is_there(item)]

    def tooltip(self) -> str:
        return str(self._property(ITEM, "ToolTip")[2])

    def icon(self) -> bytes:
        """The picture of the icon in its first size."""
        return bytes(self._property(ITEM, "IconPixmap")[0][2])

    def click(self) -> None:
        """Clicks the icon with the left button."""
        self._call(self._address(ITEM), "Activate", "ii", (0, 0))

    def menu(self) -> list[Entry]:
        """Opens the icon's menu and reads it, with what lies below each entry."""
        menu = self._address(MENU, str(self._property(ITEM, "Menu")))
        self._call(menu, "AboutToShow", "i", (0,))
        _, root = self._call(menu, "GetLayout", "iias", (0, -1, []))
        return _entries(root)

    def choose(self, *path: str) -> None:
        """Clicks an entry; `path` are the beginnings of its text and of those above it.

        Raises:
            LookupError: there is no such entry, or it cannot be clicked.
        """
        entries = self.menu()
        for text in path:
            found = [entry for entry in entries if entry.text.startswith(text)]
            if not found or not found[0].is_enabled:
                raise LookupError(f"{text!r} cannot be chosen among {[entry.text for entry in entries]}")
            entries = found[0].children
        menu = self._address(MENU, str(self._property(ITEM, "Menu")))
        self._call(menu, "Event", "isvu", (found[0].id, "clicked", ("i", 0), 0))

    def _address(self, interface: str, path: str = "") -> DBusAddress:
        bus, _, place = self.items[-1].partition("/")
        return DBusAddress(path or f"/{place or 'StatusNotifierItem'}", bus, interface)

    def _property(self, interface: str, name: str) -> Any:
        address = self._address(interface)
        return self._call(DBusAddress(address.object_path, address.bus_name, PROPERTIES), "Get", "ss", (interface, name))[0][1]

    def _is_there(self, item: str) -> bool:
        return bool(self._call(message_bus, "NameHasOwner", "s", (item.partition("/")[0],))[0])

    def _call(self, address: Any, method: str, signature: str, body: tuple[object, ...]) -> Any:
        reply = self._hand.send_and_get_reply(new_method_call(address, method, signature, body), timeout=ANSWER_S)
        if reply.header.message_type is MessageType.error:
            raise RuntimeError(f"{method}: {reply.header.fields.get(HeaderFields.error_name)} {reply.body}")
        return reply.body

    # the watcher, in its thread

    def _watch(self, connection: DBusConnection) -> None:
        here = DBusAddress("/StatusNotifierWatcher", interface=WATCHER)
        while not self._is_ending.is_set():
            with contextlib.suppress(TimeoutError):
                message = connection.receive(timeout=LOOK_EVERY_S)
                if message.header.message_type is MessageType.method_call:
                    for answer in self._answers(message, here):
                        connection.send(answer)
        connection.close()

    def _answers(self, message: Any, here: DBusAddress) -> list[Any]:
        fields = message.header.fields
        known: dict[str, tuple[str, Callable[[], object]]] = {
            "RegisteredStatusNotifierItems": ("as", lambda: self._items),
            "IsStatusNotifierHostRegistered": ("b", lambda: True),
            "ProtocolVersion": ("i", lambda: 0),
        }
        match fields.get(HeaderFields.member):
            case "RegisterStatusNotifierItem":
                name = message.body[0]
                item = fields[HeaderFields.sender] + name if name.startswith("/") else name
                self._items.append(item)
                return [new_method_return(message), new_signal(here, "StatusNotifierItemRegistered", "s", (item,))]
            case "ReadOne":
                self.questions.append(message.body)
                return [new_method_return(message, "v", (("b", not self.wants_less_motion),))]
            case "Get":
                signature, value = known[message.body[1]]
                return [new_method_return(message, "v", ((signature, value()),))]
            case "GetAll":
                return [new_method_return(message, "a{sv}", ({name: (kind, value()) for name, (kind, value) in known.items()},))]
        return [new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")]


def _entries(node: Any) -> list[Entry]:
    found = []
    for _, (id, properties, children) in node[2]:
        values = {name: value for name, (_, value) in properties.items()}
        if values.get("type") != "separator" and values.get("visible", True):
            text = str(values.get("label", "")).replace("_", "")
            found.append(Entry(id, text, bool(values.get("enabled", True)), _entries((id, properties, children))))
    return found
