"""Installs and uses what packaging/windows/build.py has made: `python packaging/windows/selftest.py [--quick]`, on Windows or under Wine.

`make package-windows-test` and the release workflow run tests/windows against the frozen programs, and against the installer.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import complete  # noqa: E402

ON_WINDOWS = sys.platform == "win32"
DIST = ROOT / "dist" if ON_WINDOWS else ROOT / "dist" / "windows"
PYTHON = [sys.executable] if ON_WINDOWS else [str(ROOT / "scripts" / "windows_python.sh")]
PYTEST = ("-m", "pytest", "-c", "tests/windows/pytest.ini", "--rootdir", ".", "--confcutdir", "tests/windows", "tests/windows")
QUICK = ("-k", "carries_calls or hub_is_killed or after_the_update or launcher_which or keeps_the_home")


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs and uses the packages for Windows.")
    parser.add_argument("--quick", action="store_true", help="the main flows alone")
    quick = QUICK if parser.parse_args().quick else ()
    (portable,), (setup,) = DIST.glob("*-portable.zip"), DIST.glob("*-setup.exe")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(portable) as archive:
            archive.extractall(folder)
        try:
            complete.check(Path(folder, "Tooltray"), "win32")
        except complete.Failed as failure:
            sys.stderr.write(f"FAILED: {failure}\n")
            return 1
        environ = {**os.environ, "TOOLTRAY_PROGRAMS": windows_path(Path(folder, "Tooltray")), "TOOLTRAY_SETUP": windows_path(setup)}
        done = subprocess.run([*PYTHON, *PYTEST, *quick], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout)
    return 0 if " passed" in done.stdout and not any(word in done.stdout for word in (" failed", " error")) else 1


def windows_path(path: Path) -> str:
    return str(path) if ON_WINDOWS else "Z:" + str(path).replace("/", "\\")


if __name__ == "__main__":
    sys.exit(main())
