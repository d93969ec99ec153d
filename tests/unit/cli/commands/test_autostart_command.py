"""`tooltray autostart`."""

import os
from pathlib import Path

from tests.unit.cli.conftest import Tooltray


def test_it_is_switched_on_and_off_and_says_what_the_system_says(tooltray: Tooltray, home: Path) -> None:
    entry = home / ".config" / "autostart" / "tooltray.desktop"
    assert tooltray("autostart", "status").out == "Tooltray does not start when you log in.\n"
    assert tooltray("autostart", "on").out == "Tooltray starts when you log in.\n"
    entry.write_text(entry.read_text() + "Hidden=true\n")
    assert tooltray("autostart", "status", "--json").json == {"on": False}
    assert tooltray("autostart", "on", "--json").json == {"on": True}
    assert tooltray("autostart", "off").code == 0
    assert not entry.exists()


def test_what_the_system_refuses_is_an_error_in_words(tooltray: Tooltray, home: Path) -> None:
    (home / ".config").write_text("no folder")
    refused = tooltray("autostart", "on")
    assert refused.code == 1
    assert "Start at login could not be changed" in refused.err
    assert os.fspath(home / ".config") in refused.err
