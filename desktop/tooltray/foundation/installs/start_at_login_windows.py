"""Start at login on Windows: a value below the key `Run` of the user's registry.

Task Manager and Settings do not touch that value when the user switches it off: they write a binary value below
`StartupApproved\\Run`, whose first byte is odd then. Microsoft documents `Run`, but not that value.
"""

import importlib
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol, cast

RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
NAME = "Tooltray"


class Key(AbstractContextManager["Key"], Protocol):
    """An open key of the registry."""


class Registry(Protocol):
    """The functions of winreg that are used, under its names: other platforms have no such module, and type checkers know it only on
    Windows.
    """

    HKEY_CURRENT_USER: int
    KEY_SET_VALUE: int
    REG_SZ: int

    def OpenKey(self, key: int, sub_key: str, reserved: int = 0, access: int = ...) -> Key: ...  # noqa: N802
    def CreateKey(self, key: int, sub_key: str) -> Key: ...  # noqa: N802
    def QueryValueEx(self, key: Key, name: str) -> tuple[object, int]: ...  # noqa: N802
    def SetValueEx(self, key: Key, value_name: str, reserved: int, type: int, value: str) -> None: ...  # noqa: N802
    def DeleteValue(self, key: Key, value: str) -> None: ...  # noqa: N802


def is_on() -> bool:
    """Returns whether the value exists, and Task Manager has not switched it off."""
    approved = _value(APPROVED)
    is_switched_off = isinstance(approved, bytes) and bool(approved) and approved[0] % 2 == 1
    return bool(_value(RUN)) and not is_switched_off


def turn_on(command: Sequence[str]) -> None:
    """Sets the value, and removes Task Manager's note that it is switched off."""
    registry = _registry()
    with registry.CreateKey(registry.HKEY_CURRENT_USER, RUN) as key:
        registry.SetValueEx(key, NAME, 0, registry.REG_SZ, subprocess.list2cmdline(command))
    _forget(APPROVED)


def turn_off() -> None:
    _forget(RUN)
    _forget(APPROVED)


def _value(place: str) -> object:
    registry = _registry()
    try:
        with registry.OpenKey(registry.HKEY_CURRENT_USER, place) as key:
            return registry.QueryValueEx(key, NAME)[0]
    except FileNotFoundError:
        return None


def _forget(place: str) -> None:
    registry = _registry()
    with suppress(FileNotFoundError), registry.OpenKey(registry.HKEY_CURRENT_USER, place, 0, registry.KEY_SET_VALUE) as key:
        registry.DeleteValue(key, NAME)


def _registry() -> Registry:
    return cast(Registry, importlib.import_module("winreg"))
