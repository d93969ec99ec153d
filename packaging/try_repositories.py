"""Tries the files of package repositories with the programs that read them: `python3 packaging/try_repositories.py FOLDER`.

FOLDER is what packaging/repositories.py has made; nothing in it is changed. apt downloads from it over loopback, below a folder of its
own and without root; a repository that is not signed yet is, by a key that is thrown away. Needs apt, gpg, makepkg with pacman, and ruby.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import apt_archive

KEY = "releases@tooltray.invalid"
WITHIN_S = 120
STANZAS = ("version", "sha256", "url", "name", "desc", "homepage", "depends_on", "app", "uninstall", "zap")
"""Those of Homebrew's casks that ours uses, in the order that Homebrew's own style check asks for."""
_READ_CASK = f"""
require "json"
$said = []
def cask(token) = ($said << ["token", token]; yield)
def version(*given) = given.empty? ? $version : ($said << ["version", *given]; $version = given[0])
{list(STANZAS[1:])}.each {{ |stanza| define_method(stanza) {{ |*given| $said << [stanza, *given] }} }}
load ARGV[0]
puts JSON.generate($said)
"""


class Failed(Exception):
    """What a program finds wrong with the files."""


class Key:
    """A key of a GnuPG home that goes when the block ends."""

    def __enter__(self) -> "Key":
        self._home = tempfile.TemporaryDirectory(prefix="gpg")
        self.environ = {**os.environ, "GNUPGHOME": self._home.name}
        make = ("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign")
        subprocess.run(make, env=self.environ, check=True, capture_output=True, timeout=WITHIN_S)
        return self

    def sign(self, archive: Path, address: str) -> None:
        """Signs a repository, as a maintainer does."""
        before = os.environ.get("GNUPGHOME")
        os.environ["GNUPGHOME"] = self._home.name
        try:
            apt_archive.sign(archive, KEY, address)
        finally:
            os.environ.pop("GNUPGHOME")
            if before:
                os.environ["GNUPGHOME"] = before

    def __exit__(self, *_: object) -> None:
        subprocess.run(("gpgconf", "--kill", "all"), env=self.environ, check=False, timeout=WITHIN_S)
        self._home.cleanup()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Writes nothing; apt says what failed."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder on loopback, and gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Apt:
    """An apt with a folder of its own in the place of `/`, which knows one repository.

    Args:
        architecture: of the packages that it looks for, such as `arm64`.
    """

    def __init__(self, root: Path, sources: str, architecture: str) -> None:
        for name in ("etc/apt/sources.list.d", "etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/trusted.gpg.d"):
            (root / name).mkdir(parents=True)
        for name in ("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg", "loaded"):
            (root / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        (root / "etc/apt/sources.list.d/tooltray.sources").write_text(sources)
        user = f'APT::Sandbox::User "root";\nDir "{root}/";\nDir::State::status "{root}/var/lib/dpkg/status";\n'
        (root / "apt.conf").write_text(f'{user}APT::Architecture "{architecture}";\nAPT::Architectures {{ "{architecture}"; }};\n')
        self.root = root
        self._environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "APT_CONFIG": str(root / "apt.conf"), "TMPDIR": str(root)}

    def run(self, program: str, *arguments: str) -> str:
        """Runs one of apt's programs and returns what it prints.

        Raises:
            Failed: it fails; with what it says.
        """
        command = (program, "--quiet", *arguments)
        done = subprocess.run(command, cwd=self.root / "loaded", env=self._environ, capture_output=True, text=True, timeout=WITHIN_S)
        if done.returncode:
            raise Failed(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def update(self) -> None:
        self.run("apt-get", "update", "--error-on=any")

    def versions(self) -> list[str]:
        """Returns the versions of Tooltray that can be installed, the newest first."""
        return [line.split("|")[1].strip() for line in self.run("apt-cache", "madison", "tooltray").splitlines()]

    def download(self, version: str) -> Path:
        """Downloads the package of a version."""
        self.run("apt-get", "download", f"tooltray={version}")
        [deb] = (self.root / "loaded").glob(f"tooltray_{version}_*.deb")
        return deb


def try_apt(archive: Path, place: Path) -> None:
    """Has apt download the newest package of each architecture from a copy of a repository, which is signed if it is not yet."""
    copy = place / "apt"
    shutil.copytree(archive, copy)
    with Key() as key, served(place) as address:
        if not (copy / "dists" / apt_archive.SUITE / apt_archive.SIGNED).exists():
            key.sign(copy, f"{address}/apt")
        sources = re.sub(r"(?m)^URIs: .*", f"URIs: {address}/apt", (copy / apt_archive.SOURCES).read_text())
        for index in sorted(copy.glob("dists/*/*/binary-*")):
            architecture = index.name.removeprefix("binary-")
            apt = Apt(place / architecture, sources, architecture)
            apt.update()
            deb = apt.download(apt.versions()[0])
            if _digest(deb) != _digest(archive / apt_archive.POOL / deb.name):
                raise Failed(f"apt has got another {deb.name}")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def try_cask(cask: Path) -> list[list[object]]:
    """Has Ruby read a cask, and returns its stanzas with their arguments.

    Raises:
        Failed: Ruby cannot read it, or a stanza is unknown or at another place than Homebrew's style asks for.
    """
    done = subprocess.run(("ruby", "-W", "-e", _READ_CASK, cask), capture_output=True, text=True, timeout=WITHIN_S)
    if done.returncode or done.stderr:
        raise Failed(done.stderr)
    stanzas: list[list[object]] = json.loads(done.stdout)
    order = [STANZAS.index(str(name)) for name, *_ in stanzas[1:]]
    if order != sorted(order):
        raise Failed(f"the stanzas of {cask.name} are in another order than {STANZAS}")
    return stanzas


def try_pkgbuild(folder: Path) -> None:
    """Has makepkg read a PKGBUILD and write .SRCINFO, which must be the one beside it.

    Raises:
        Failed: it cannot read it, or it writes another one.
    """
    for file in (folder / "PKGBUILD", folder / "tooltray-bin.install"):
        subprocess.run(("bash", "-n", file), check=True, timeout=WITHIN_S)
    with Makepkg(folder) as makepkg:
        written = makepkg.run("--printsrcinfo")
    if written.rstrip() != (folder / ".SRCINFO").read_text().rstrip():
        raise Failed(f"makepkg writes another .SRCINFO: {written}")


class Makepkg:
    """makepkg with a copy of a folder, as `nobody` where we are root, for whom it does not work.

    Attributes:
        folder: the copy, which goes when the block ends.
    """

    def __init__(self, source: Path) -> None:
        self._source = source

    def __enter__(self) -> "Makepkg":
        self._place = tempfile.TemporaryDirectory(prefix="tooltray-makepkg-", dir="/var/tmp")
        self.folder = Path(self._place.name, "work")
        shutil.copytree(self._source, self.folder)
        self._user = {"user": "nobody"} if os.geteuid() == 0 else {}
        for path in (self.folder.parent, self.folder, *self.folder.iterdir()) if self._user else ():
            shutil.chown(path, "nobody")
        return self

    def run(self, *arguments: str) -> str:
        """Runs it and returns what it prints.

        Raises:
            Failed: it fails; with what it says.
        """
        environ = {**os.environ, "HOME": str(self.folder), "PKGEXT": ".pkg.tar.gz"}
        command = ("makepkg", *arguments)
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, timeout=WITHIN_S, **self._user)
        if done.returncode:
            raise Failed(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def __exit__(self, *_: object) -> None:
        self._place.cleanup()


def main() -> int:
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="tooltray-repositories-", dir="/var/tmp") as place:
        try:
            try_apt(folder / "apt", Path(place))
            try_cask(folder / "homebrew" / "Casks" / "tooltray.rb")
            try_pkgbuild(folder / "aur")
        except Failed as failure:
            sys.stderr.write(f"FAILED: {failure}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
