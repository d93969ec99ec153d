"""Windows on an X server as a person meets them: which can be seen, and the button that closes one. There is no window manager."""

import ctypes
import ctypes.util
import re
import subprocess

CLIENT_MESSAGE = 33  # X.h
TITLE = "Tooltray"
LOOKS = 5


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent of Xlib.h, padded to the size of XEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("padding", ctypes.c_long * 24),
    )


def seen_windows(display: str, title: str = TITLE) -> list[int]:
    """The ids of the windows with this title that are on the screen now; Qt may put a dash and the program's name behind it."""
    tree = _tree(display)
    found = [int(id, 16) for id in re.findall(rf'(0x[0-9a-f]+) "{re.escape(title)}(?: \S+ {TITLE})?"', tree)]
    return [id for id in found if _is_seen(display, id)]


def _tree(display: str) -> str:
    """All windows, as xwininfo prints them; it fails where one goes while it looks, and is then asked again."""
    for _ in range(LOOKS):
        looked = subprocess.run(["xwininfo", "-display", display, "-root", "-tree"], check=False, capture_output=True, text=True)
        if looked.returncode == 0:
            return looked.stdout
    raise LookupError(f"no picture of the windows of {display}: {looked.stderr}")


def _is_seen(display: str, id: int) -> bool:
    stats = subprocess.run(["xwininfo", "-display", display, "-id", hex(id), "-stats"], check=False, capture_output=True, text=True).stdout
    return "IsViewable" in stats


def place_of(display: str, id: int) -> tuple[int, int, int, int]:
    """Where a window lies on the screen: left, top, width and height in pixels."""
    shown = subprocess.run(["xwininfo", "-display", display, "-id", hex(id), "-stats"], check=True, capture_output=True, text=True).stdout
    names = ("Absolute upper-left X", "Absolute upper-left Y", "Width", "Height")
    left, top, width, height = (int(re.search(rf"{name}:\s+(-?\d+)", shown)[1]) for name in names)  # type: ignore[index]
    return left, top, width, height


def close_window(display: str, title: str = TITLE) -> None:
    """Asks a window to close, as the button in its title bar does.

    Raises:
        LookupError: there is no such window on the screen.
    """
    windows = seen_windows(display, title)
    if not windows:
        raise LookupError(f"no window {title!r} on {display}")
    x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.restype = ctypes.c_ulong
    connection = ctypes.c_void_p(x11.XOpenDisplay(display.encode()))
    protocols, delete = (x11.XInternAtom(connection, name, False) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW"))
    event = ClientMessage(type=CLIENT_MESSAGE, window=windows[0], message_type=protocols, format=32)
    event.data[0] = delete
    x11.XSendEvent(connection, ctypes.c_ulong(windows[0]), False, ctypes.c_long(0), ctypes.byref(event))
    x11.XCloseDisplay(connection)
