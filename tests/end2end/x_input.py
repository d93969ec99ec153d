"""A person's keyboard and mouse on an X server: real events by the XTEST extension, spoken by hand so that no library has to be there."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 3, 4, 5, 6
QUERY_EXTENSION, GET_INPUT_FOCUS, GET_KEYBOARD_MAPPING, FAKE_INPUT = 98, 43, 101, 2
KEYSYMS = {"Return": 0xFF0D, "Tab": 0xFF09, "Escape": 0xFF1B, "Control": 0xFFE3, "Shift": 0xFFE1, "End": 0xFF57, "BackSpace": 0xFF08}
LEFT_BUTTON = 1


class XInput:
    """`with XInput(display) as hands:` has a connection; it ends with the block."""

    def __init__(self, display: str) -> None:
        self._path = f"/tmp/.X11-unix/X{display.removeprefix(':')}"
        self._channel = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> "XInput":
        self._channel.connect(self._path)
        self._channel.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
        status, length = struct.unpack("<BxxxxxH", self._read(8))
        setup = self._read(length * 4)
        assert status == 1, setup
        vendor, formats = struct.unpack_from("<H", setup, 16)[0], setup[21]
        self._first_key, self._last_key = setup[26], setup[27]
        self._root = struct.unpack_from("<I", setup, 32 + (vendor + 3) // 4 * 4 + formats * 8)[0]
        name = b"XTEST"
        reply = self._ask(struct.pack("<BxHHxx", QUERY_EXTENSION, 2 + 2, len(name)) + name.ljust(8, b"\0"))
        assert reply[8], "this X server has no XTEST"
        self._opcode = reply[9]
        self._keys = self._key_codes()
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def focus(self) -> int:
        """The id of the window that has the keyboard."""
        return int(struct.unpack_from("<I", self._ask(struct.pack("<BxH", GET_INPUT_FOCUS, 1)), 8)[0])

    def click(self, x: int, y: int) -> None:
        """Presses the left button at a place on the screen."""
        self._fake(MOTION, 0, x, y)
        self._fake(BUTTON_PRESS, LEFT_BUTTON)
        self._fake(BUTTON_RELEASE, LEFT_BUTTON)

    def type(self, text: str) -> None:
        for sign in text:
            self._stroke(ord(sign))

    def press(self, key: str, *, control: bool = False) -> None:
        """Presses a key: one sign, or a name of KEYSYMS."""
        with self._held(KEYSYMS["Control"] if control else None):
            self._stroke(KEYSYMS.get(key) or ord(key))

    def _stroke(self, keysym: int) -> None:
        code, needs_shift = self._keys[keysym]
        with self._held(KEYSYMS["Shift"] if needs_shift else None):
            self._fake(KEY_PRESS, code)
            self._fake(KEY_RELEASE, code)

    @contextmanager
    def _held(self, keysym: int | None) -> Iterator[None]:
        if keysym is not None:
            self._fake(KEY_PRESS, self._keys[keysym][0])
        yield
        if keysym is not None:
            self._fake(KEY_RELEASE, self._keys[keysym][0])

    def _fake(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        body = struct.pack("<BBxxIIxxxxxxxxHHxxxxxxxB", kind, detail, 0, self._root if kind == MOTION else 0, x, y, 0)
        self._channel.sendall(struct.pack("<BBH", self._opcode, FAKE_INPUT, 9) + body)
        self.focus()  # its answer comes after the event has happened

    def _key_codes(self) -> dict[int, tuple[int, bool]]:
        """Key codes by keysym, and whether Shift is needed."""
        count = self._last_key - self._first_key + 1
        reply = self._ask(struct.pack("<BxHBBxx", GET_KEYBOARD_MAPPING, 2, self._first_key, count))
        each = reply[1]
        found: dict[int, tuple[int, bool]] = {}
        for index in range(count):
            for level in range(min(2, each)):
                keysym = struct.unpack_from("<I", reply, 32 + (index * each + level) * 4)[0]
                found.setdefault(keysym, (self._first_key + index, level == 1))
        return found

    def _ask(self, request: bytes) -> bytes:
        """Sends a request and returns its reply; events that others cause are not asked for, so none stands in between."""
        self._channel.sendall(request)
        head = self._read(32)
        while head[0] > 1:  # a keyboard mapping changed: every client is told
            head = self._read(32)
        assert head[0] == 1, f"the X server refused: {head!r}"
        return head + self._read(struct.unpack_from("<I", head, 4)[0] * 4)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._channel.recv(size - len(data))
            assert part, "the X server has ended"
            data += part
        return data
