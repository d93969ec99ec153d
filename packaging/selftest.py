"""Installs and uses the packages in `dist/`: `make package-test`, or `python packaging/selftest.py [PART ...]`.

The parts: `complete` looks for what the freezer has forgotten; `lintian` looks at the Debian package; `twice` makes the packages once more
in another folder and compares; `wheel` installs the wheel with uv and with pipx; `bookworm`, `trixie` install the others in a bare Debian
of that name, the Debian package from a signed repository. Without arguments: all of them.

Runs as root, with the Python of .venv. mmdebstrap makes the Debian, which has neither Python nor a compiler; packaging/linux/in_debian.sh
works in it. Programs started there have a process namespace and a folder of their own, which are removed afterwards.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "packaging"))

import apt_archive  # noqa: E402
import complete  # noqa: E402
from complete import Failed  # noqa: E402
from tests.fakes.status_notifier import Panel  # noqa: E402
from try_repositories import Key  # noqa: E402

DIST, LINUX = ROOT / "dist", ROOT / "packaging" / "linux"
INSTALLERS = ROOT / ".cache" / "installers" / "bin"
SUITES = ("bookworm", "trixie")
WITHIN_S = 900
LOOK_EVERY_S = 0.2
AT_ONCE = 2  # parts: they wait for the disk and for an index as much as they work


def run(*command: str | Path, **environ: str) -> None:
    """Runs a command in the checkout.

    Raises:
        Failed: it fails.
    """
    if code := subprocess.run(command, cwd=ROOT, env={**os.environ, **environ}, stdin=subprocess.DEVNULL, check=False).returncode:
        raise Failed(f"exit code {code}: {' '.join(map(str, command))}")


def check_with_lintian(_: Path) -> None:
    run("lintian", "--allow-root", "--fail-on", "error", "--display-level", "=error", "--tag-display-limit", "0", *DIST.glob("*.deb"))


def make_twice(place: Path) -> None:
    """Makes deb and archive of the same frozen programs, wheel and sdist as another user elsewhere, and compares them byte for byte.

    A commit in between changes them all: see `epoch` in build.py.
    """
    made = place / "dist"
    elsewhere = {"TOOLTRAY_BUILD": str(place / "build"), "TOOLTRAY_DIST": str(made), "TZ": "Asia/Taipei", "LC_ALL": "C.UTF-8"}
    build = f"umask 077 && exec {ROOT}/.cache/package/bin/python packaging/build.py --frozen {ROOT}/build/package/tooltray"
    run("sh", "-c", build, **elsewhere)
    for ours in (*DIST.glob("*.deb"), *DIST.glob("*.whl"), *DIST.glob("tooltray-*[0-9].tar.gz")):
        if digest(ours) != digest(made / ours.name):
            raise Failed(f"{ours.name} is another one when it is made twice")


def check_complete(_: Path) -> None:
    complete.check(ROOT / "build" / "package" / "tooltray")


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def install_wheel(place: Path) -> None:
    """By both tools, each below a folder of its own; what the wheel needs comes in the locked versions from a folder."""
    needed = place / "needed"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    download = (*pip, "download", "--no-deps", "--dest", needed, "--require-hashes")
    for lock in ("run", "installers"):
        run(*download, "--only-binary", ":all:", "-r", f"requirements/{lock}.txt")
    [wheel] = DIST.glob("*.whl")
    offline = ("--no-index", "--find-links", str(needed))
    uv = {
        "UV_TOOL_DIR": str(place / "uv"),
        "UV_TOOL_BIN_DIR": str(place / "bin"),
        "UV_CACHE_DIR": str(place / "cache"),
        "UV_NO_CONFIG": "1",
    }
    pipx = {"PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(place / "bin"), "PIPX_DEFAULT_BACKEND": "pip"}
    python = sys.executable
    try_wheel(
        (INSTALLERS / "uv", "tool", "install", "--quiet", "--python", python, *offline, wheel),
        (INSTALLERS / "uv", "tool", "uninstall", "--quiet", "tooltray"),
        place / "uv" / "tooltray",
        {**uv, "UV_NO_CONFIG": "1"},
    )
    try_wheel(
        (INSTALLERS / "pipx", "install", "--quiet", "--python", python, f"--pip-args={' '.join(offline)}", wheel),
        (INSTALLERS / "pipx", "uninstall", "tooltray"),
        place / "pipx" / "venvs" / "tooltray",
        {**pipx, "PIPX_DEFAULT_BACKEND": "pip"},
    )
    if left := [*(place / "bin").iterdir()]:
        raise Failed(f"left: {left}")


def try_wheel(install: tuple[str | Path, ...], uninstall: tuple[str | Path, ...], environment: Path, environ: Mapping[str, str]) -> None:
    run(*install, **environ)
    run(sys.executable, "packaging/hub_selftest.py", environment / "bin")
    run(*uninstall, **environ)
    if environment.exists():
        raise Failed(f"left: {environment}")


def newer(deb: Path, place: Path) -> None:
    """The same package with a higher version, as the next one would have it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--raw-extract", deb, f"{folder}/tree"], check=True)
        control = Path(folder, "tree", "DEBIAN", "control")
        control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+newer", control.read_text()))
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Znone", "--build", f"{folder}/tree", place], check=True, stdout=subprocess.DEVNULL
        )


def try_in(suite: str, place: Path) -> None:
    """Makes the Debian and works in it; a panel outside shows the tray's icons.

    Raises:
        Failed: something does not work there.
    """
    root = place / suite
    run("mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", suite, root)
    folder, session = root / "packages", root / "tmp" / "panel"
    folder.mkdir()
    session.mkdir()
    [deb], [archive] = DIST.glob("*.deb"), DIST.glob("*-linux-*.tar.gz")
    shutil.copy(deb, folder / "tooltray.deb")
    shutil.copy(archive, folder / "archive.tar.gz")
    shutil.copy(LINUX / "in_debian.sh", folder)
    newer(deb, folder / "newer.deb")
    apt_archive.publish(folder / "apt", [deb], now_s=time.time())
    with Key() as key:
        key.sign(folder / "apt", "file:/packages/apt")
    (folder / "modules").write_text("\n".join(complete.modules_to_import()))
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc"]
    work = f"mount --bind /dev {root}/dev && exec chroot {root} /packages/in_debian.sh /packages unix:path=/tmp/panel/bus"
    with Panel(session) as panel:
        working = subprocess.Popen([*apart, "sh", "-c", work], stdin=subprocess.DEVNULL)
        icons = Icons(panel, is_over=lambda: working.poll() is not None)
        icons.start()
        if code := working.wait(WITHIN_S):
            raise Failed(f"exit code {code} in {suite}")
        icons.join()
    complete.compare(json.loads((folder / "self-test.json").read_text()))
    if len(icons.menus) < 2:  # of the first desktop, and of the one that took over after the upgrade
        raise Failed(f"tray icons with a menu that ends in Quit: {icons.menus}")


class Icons(threading.Thread):
    """Opens the menu of each tray icon that appears.

    Attributes:
        menus: of each icon's menu the texts, where Quit is the last of them.
    """

    def __init__(self, panel: Panel, *, is_over: Callable[[], bool]) -> None:
        super().__init__(name="tray icons")
        self._panel, self._is_over = panel, is_over
        self.menus: dict[str, list[str]] = {}

    def run(self) -> None:
        while not self._is_over():
            time.sleep(LOOK_EVERY_S)
            try:
                self._look()
            except Exception:  # of a desktop that is just leaving; who sees no menu fails in the end
                continue

    def _look(self) -> None:
        if (icons := self._panel.items) and icons[-1] not in self.menus:
            texts = [entry.text for entry in self._panel.menu()]
            if self._panel.icon() and texts[-1:] == ["Quit"]:
                self.menus[icons[-1]] = texts


PARTS: Mapping[str, Callable[[Path], None]] = {
    "complete": check_complete,
    "lintian": check_with_lintian,
    "twice": make_twice,
    "wheel": install_wheel,
    **{suite: lambda place, suite=suite: try_in(suite, place) for suite in SUITES},
}


def do(part: str, place: Path) -> None:
    begun = time.monotonic()
    own = place / f"of-{part}"
    own.mkdir()
    PARTS[part](own)
    print(f"== {part}: {time.monotonic() - begun:.0f} s", flush=True)  # noqa: T201


def main() -> int:
    place = Path(tempfile.mkdtemp(prefix="tooltray-packages-", dir="/var/tmp"))
    place.chmod(0o755)  # apt reads packages as a user of its own
    failed = 0
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for part, done in [(part, pool.submit(do, part, place)) for part in sys.argv[1:] or PARTS]:
                try:
                    done.result()
                except Failed as failure:
                    failed = 1
                    print(f"FAILED: {part}: {failure}", file=sys.stderr)  # noqa: T201
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
