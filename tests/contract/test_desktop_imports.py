"""What the desktop's start imports before its tray icon and before the first frame of its window: each module costs a millisecond there.

Counts, since times depend on the machine. Whoever needs a few modules more raises a number; what is opened later, such as a sheet, a pane
or another window, is imported where it is opened.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DESKTOP = """
import json, os, sys
from pathlib import Path
from tooltray.app import desktop
from tooltray.foundation.home.home import Home

build = desktop._build_windows

async def build_and_count(*parts):
    at_tray = list(sys.modules)
    windows = await build(*parts)

    async def report():
        print(json.dumps([at_tray, list(sys.modules)]), flush=True)
        os._exit(0)

    windows.main.build_pages = report  # which follows the first frame
    return windows

desktop._build_windows = build_and_count
desktop.run_here(Home(Path(sys.argv[1])), desktop.Opening())
"""
MOST_FOR_TRAY, MOST_FOR_WINDOW = 78, 151  # of ours
NOT_FOR_WINDOW = ("pydantic", "tooltray.catalogue", "tooltray.config", "tooltray.protocol", "tooltray.servers", "tooltray.sources")


@pytest.mark.posix
def test_the_tray_and_the_window_have_imported_no_more_than_they_need(home: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, "-I", "-c", DESKTOP, str(home / ".tooltray")]
    done = subprocess.run(
        command, env={**environ, "QT_QPA_PLATFORM": "offscreen"}, stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    at_tray, at_window = json.loads(done.stdout.splitlines()[-1])
    assert len([each for each in at_tray if each.startswith("tooltray")]) <= MOST_FOR_TRAY
    assert len([each for each in at_window if each.startswith("tooltray")]) <= MOST_FOR_WINDOW
    assert not [each for each in at_window if each.startswith(NOT_FOR_WINDOW)]
