"""Makes a picture of every scene: `python tests/ui/make_screenshots.py OUT_DIR [SCENE ...]`. QT_SCALE_FACTOR=2 makes them twice as sharp.

The pictures are for looking at; no test compares them, since fonts differ from machine to machine.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "desktop"), str(ROOT)]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync  # noqa: E402
from PySide6.QtCore import QLocale  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402
from tests.ui.scenes.all_scenes import SCENES  # noqa: E402

from tooltray.ui.i18n import install_language  # noqa: E402
from tooltray.ui.shell.desktop import GarbageCollector  # noqa: E402
from tooltray.ui.theme import Theme  # noqa: E402


async def take_all(
    app: QApplication, folder: Path, names: Sequence[str], languages: Sequence[str], modes: Sequence[str], zoom: int
) -> None:
    theme = Theme(reduced_motion=True)
    theme.set_zoom(app, zoom)
    suffix = "@2x" if os.environ.get("QT_SCALE_FACTOR") == "2" else ""
    for language in languages:
        QLocale.setDefault(QLocale(language or "en_US"))
        install_language(app, language)
        for mode in modes:
            theme.apply(app, mode)
            for name in names:
                shot = await SCENES[name](theme)
                await shot.take(folder / f"{name}_{mode}_{language or 'en'}{suffix}.png")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("scenes", nargs="*", choices=[[], *SCENES], metavar="SCENE")
    options.add_argument("--zoom", type=int, default=100, help="in per cent")
    options.add_argument("--only", help="e.g. light_en: one mode and one language")
    args = options.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    mode, _, language = (args.only or "").partition("_")
    languages = ["" if language == "en" else language] if language else ["", "zh_TW"]
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    GarbageCollector(app)  # a widget that is collected in the thread of a scene's work takes Qt down
    with qasync.QEventLoop(app) as loop:
        loop.run_until_complete(
            take_all(app, args.folder, args.scenes or list(SCENES), languages, [mode] if mode else ["light", "dark"], args.zoom)
        )


if __name__ == "__main__":
    main()
