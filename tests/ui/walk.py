"""Looks at every scene as test_every_scene.py does at one of each kind: `python -m tests.ui.walk`. Takes a minute; prints the faults."""

import asyncio
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "desktop"), str(ROOT)]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402
from tests.ui.scenes.all_scenes import SCENES  # noqa: E402
from tests.ui.test_every_scene import faults  # noqa: E402

from tooltray.ui.theme import Theme  # noqa: E402


async def walk(app: QApplication) -> int:
    theme, count = Theme(reduced_motion=True), 0
    theme.apply(app, "light")
    for name, scene in SCENES.items():
        shot = await scene(theme)
        for fault in sorted(set(faults(shot.window))):
            count += 1
            print(f"{name}: {fault}", flush=True)
        await shot.close()
        await asyncio.sleep(0)
    return count


def main() -> None:
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    with qasync.QEventLoop(app) as loop:
        sys.exit(1 if loop.run_until_complete(walk(app)) else 0)


if __name__ == "__main__":
    main()
