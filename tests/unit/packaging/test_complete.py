"""complete.py: which modules a frozen program must have. The programs themselves are tried by `make package-test`."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("packaging_complete", ROOT / "packaging" / "complete.py")
assert spec
assert spec.loader
complete = importlib.util.module_from_spec(spec)
spec.loader.exec_module(complete)
SOURCE = """
import json, os.path
from collections import deque
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import never
if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
if sys.platform != "linux":
    import plistlib
if count > 1:
    import bisect
def late():
    from zlib import crc32
"""
EVERYWHERE = {"json", "os.path", "collections", "typing", "bisect", "zlib"}


@pytest.mark.parametrize(("platform", "more"), [("linux", {"fcntl"}), ("darwin", {"fcntl", "plistlib"}), ("win32", {"msvcrt", "plistlib"})])
def test_what_a_file_imports_counts_wherever_it_does_and_only_on_its_system(tmp_path: Path, platform: str, more: set[str]) -> None:
    file = tmp_path / "module.py"
    file.write_text(SOURCE)
    assert complete.imported_by(file, platform) == EVERYWHERE | more


@pytest.mark.parametrize(
    ("file", "systems"),
    [
        ("tooltray/ui/opening_windows.py", {"win32"}),
        ("tooltray/ui/feedback/feedback_windows.py", {"linux", "darwin", "win32"}),
        ("tooltray/foundation/home/user_posix.py", {"linux", "darwin"}),
        ("tooltray/foundation/platform/guardian_macos.py", {"darwin"}),
        ("tooltray/foundation/platform/win32/jobs.py", {"win32"}),
        ("tooltray/records/telemetry/otlp_sender.py", set[str]()),
    ],
)
def test_modules_of_other_systems_and_of_extras_are_not_looked_for(file: str, systems: set[str]) -> None:
    assert (complete.DESKTOP / file).is_file()
    assert {name for name in complete.OF_SYSTEMS if not complete.is_for_others(complete.DESKTOP / file, name)} == systems


def test_a_module_is_looked_for_in_both_tables_beside_the_program_and_in_the_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"..\x04here.." + b"mbooted\0")
    with zipfile.ZipFile(tmp_path / "base_library.zip", "w") as library:
        library.writestr("encodings/__init__.pyc", b"")
    (tmp_path / "_struct.cpython-311.so").touch()
    assert complete.missing_in(program, ["here", "booted", "encodings", "_struct", "sys", "her", "gone"]) == ["her", "gone"]


def test_what_the_self_test_has_found_is_compared_with_the_checkout() -> None:
    with pytest.raises(complete.Failed, match=r"verbs\.json"):
        complete.compare({"failed": {}, "resources": {}})
    with pytest.raises(complete.Failed, match=r"tooltray\.gone"):
        complete.compare({"failed": {"tooltray.gone": "ModuleNotFoundError"}, "resources": {}})
