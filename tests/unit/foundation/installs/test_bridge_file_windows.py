"""The launcher that AI clients start on Windows, and the list beside it."""

from pathlib import Path

import pytest

from tooltray.foundation.installs import bridge_file_windows
from tooltray.foundation.installs.bridge_file_windows import NAME, can_write, write

ONE, TWO = ("C:\\one\\tooltray-bridge.exe",), ("C:\\a user\\python.exe", "-I", "C:\\a user\\bridge.py")


class Places:
    """A launcher among the resources, and the folder that it is copied into."""

    def __init__(self, folder: Path) -> None:
        self.resources, self.bin = folder / "resources", folder / "home" / "bin"
        (folder / "home").mkdir()
        self.resources.mkdir()

    @property
    def launcher(self) -> Path:
        return self.bin / NAME

    @property
    def list(self) -> str:
        return self.launcher.with_suffix(".txt").read_text()

    def bring(self, content: bytes) -> None:
        (self.resources / NAME).write_bytes(content)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    places = Places(tmp_path)
    monkeypatch.setattr(bridge_file_windows, "resource", lambda *_: places.resources / NAME)
    return places


def test_only_an_installation_that_brings_a_launcher_can_write_it(places: Places) -> None:
    assert not can_write()
    places.bring(b"launcher")
    assert can_write()


def test_the_launcher_is_copied_and_the_list_has_a_program_and_its_command_line_on_each_line(places: Places) -> None:
    places.bring(b"MZ one")

    assert write(places.launcher, [ONE, TWO])
    assert places.launcher.read_bytes() == b"MZ one"
    assert places.list == f'{ONE[0]}\t{ONE[0]}\n{TWO[0]}\t"{TWO[0]}" -I "{TWO[2]}"\n'


def test_what_is_as_it_should_be_is_left_alone(places: Places) -> None:
    places.bring(b"MZ one")
    write(places.launcher, [ONE])

    assert not write(places.launcher, [ONE])
    assert write(places.launcher, [TWO, ONE])


def test_a_new_launcher_takes_the_place_of_one_that_may_run(places: Places) -> None:
    places.bring(b"MZ one")
    write(places.launcher, [ONE])
    places.bring(b"MZ two")

    assert write(places.launcher, [ONE])
    assert places.launcher.read_bytes() == b"MZ two"
    (old,) = places.bin.glob("*.old")
    assert old.read_bytes() == b"MZ one"

    places.bring(b"MZ three")
    write(places.launcher, [ONE])
    (old,) = places.bin.glob("*.old")
    assert old.read_bytes() == b"MZ two"


def test_an_installation_without_a_launcher_writes_the_list_where_another_one_has_brought_it(places: Places) -> None:
    assert not write(places.launcher, [ONE])
    assert not places.bin.exists()

    places.bring(b"MZ one")
    write(places.launcher, [ONE])
    (places.resources / NAME).unlink()

    assert write(places.launcher, [ONE, TWO])
    assert places.launcher.read_bytes() == b"MZ one"
    assert len(places.list.splitlines()) == 2
