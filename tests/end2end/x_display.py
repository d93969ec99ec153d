"""A screen in memory for one test: Xvfb, and pictures of what it shows."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.end2end.processes import ROOT, wait_until

PICTURES = ROOT / "build" / "screenshots"  # git-ignored; for a person to look at


class Picture:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def colours(self) -> int:
        """How many different colours it has; a blank screen has one."""
        return int(subprocess.run(["identify", "-format", "%k", self.path], check=True, capture_output=True, text=True).stdout)

    def keep_as(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.path, PICTURES / f"{name}.png")


class XDisplay:
    """Starts Xvfb on a free display number and ends it."""

    def __init__(self, size: str = "1280x800x24") -> None:
        self._size = size

    def __enter__(self) -> "XDisplay":
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", self._size, "-nolisten", "tcp", "-noreset"]
        self._process = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = f":{number.readline().strip()}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def screenshot(self, path: Path) -> Picture:
        subprocess.run(["import", "-display", self.name, "-window", "root", str(path)], check=True, capture_output=True)
        return Picture(path)

    def window_names(self) -> set[str]:
        """Titles of the windows that are shown; waits until there is one."""

        def names() -> set[str]:
            tree = subprocess.run(["xwininfo", "-display", self.name, "-root", "-tree"], check=True, capture_output=True, text=True).stdout
            return {line.split('"')[1] for line in tree.splitlines() if '"' in line}

        found: set[str] = wait_until(lambda: names() & {"Tooltray"}, "the window")
        return found
