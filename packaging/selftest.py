"""Installs and uses the packages in `dist/` in a bare Debian: `make package-test`, or `python packaging/selftest.py [SUITE ...]`.

Above it: the Makefile, as root. Below it: mmdebstrap, which makes the Debian, and packaging/linux/in_debian.sh, which works in it: there is
no Python and no compiler. Everything runs in a process namespace and below a folder of its own, which go with it.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST, LINUX = ROOT / "dist", ROOT / "packaging" / "linux"
SUITES = ("bookworm", "trixie")
WITHIN_S = 600


def newer(deb: Path, place: Path) -> None:
    """The same package with a higher version, as the next one would have it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--raw-extract", deb, f"{folder}/tree"], check=True)
        control = Path(folder, "tree", "DEBIAN", "control")
        control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+newer", control.read_text()))
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Znone", "--build", f"{folder}/tree", place], check=True, stdout=subprocess.DEVNULL
        )


def try_in(suite: str, place: Path) -> int:
    """Makes the Debian and works in it; returns the exit code."""
    root = place / suite
    made = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", suite, str(root)]
    if code := subprocess.run(made, check=False).returncode:
        return code
    folder = root / "packages"
    folder.mkdir()
    [deb], [archive] = DIST.glob("*.deb"), DIST.glob("*-linux-*.tar.gz")
    shutil.copy(deb, folder / "tooltray.deb")
    shutil.copy(archive, folder / "archive.tar.gz")
    shutil.copy(LINUX / "in_debian.sh", folder)
    newer(deb, folder / "newer.deb")
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc"]
    work = f"mount --bind /dev {root}/dev && exec chroot {root} /packages/in_debian.sh /packages"
    return subprocess.run([*apart, "sh", "-c", work], check=False, timeout=WITHIN_S, stdin=subprocess.DEVNULL).returncode


def main() -> int:
    place = Path(tempfile.mkdtemp(prefix="tooltray-debian-", dir="/var/tmp"))
    place.chmod(0o755)  # apt reads packages as a user of its own
    try:
        for suite in sys.argv[1:] or SUITES:
            print(f"== {suite}", flush=True)  # noqa: T201
            if code := try_in(suite, place):
                return code
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
