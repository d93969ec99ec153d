"""Makes an apt repository of Debian packages, below a folder that is published as it is: `pool/` and `dists/stable/`.

Called by packaging/repositories.py. Packages of earlier releases stay in the pool and in the index, for going back to them. Formats:
https://wiki.debian.org/DebianRepository/Format, https://manpages.debian.org/bookworm/apt/sources.list.5.en.html
"""

import gzip
import hashlib
import io
import lzma
import re
import shutil
import subprocess
import tarfile
import textwrap
import time
from collections.abc import Collection, Iterator
from pathlib import Path

SUITE, COMPONENT, POOL = "stable", "main", Path("pool", "main", "t", "tooltray")
ENTRIES, SIGNED, SIGNATURE, SOURCES = "Release", "InRelease", "Release.gpg", "tooltray.sources"
VALID_S = 400 * 24 * 3600
"""How long apt accepts a Release, and an attacker can offer an old one. Without a new version it has to be signed anew once a year."""
_INDEXES = ("Packages", "Packages.gz", "Packages.xz")
_LISTED = re.compile(r"(?m)^ ([0-9a-f]{64}) +\d+ (\S+)$")


def publish(archive: Path, debs: Collection[Path], *, withdrawn: Collection[str] = (), now_s: float) -> list[str]:
    """Adds Debian packages to a repository, which it makes if there is none, and writes its indexes anew, unsigned.

    Args:
        archive: the repository's folder; for rollback it holds what was published before.
        debs: packages of one release, whose sums were checked.
        withdrawn: versions that are not offered any more.
        now_s: the time of the index, in seconds since 1970.

    Returns:
        The architectures in the index.

    Raises:
        ValueError: a package in the pool is not the one that was published.
    """
    before = _published(archive)
    pool = archive / POOL
    pool.mkdir(parents=True, exist_ok=True)
    for deb in (*debs, *pool.glob("*.deb")):
        if before.get(deb.name, digest := _digest(deb.read_bytes())) != digest:
            raise ValueError(f"{deb} is not the package that was published under this name")
    for deb in debs:
        shutil.copyfile(deb, pool / deb.name)
    stanzas: dict[str, list[str]] = {}
    for deb in sorted(pool.glob("*.deb")):
        control = _control(deb)
        if _field(control, "Version") not in withdrawn:
            stanzas.setdefault(_field(control, "Architecture"), []).append(_stanza(control, deb))
    _write_indexes(archive / "dists" / SUITE, stanzas, now_s)
    return sorted(stanzas)


def _published(archive: Path) -> dict[str, str]:
    """Returns the SHA-256 of each package in the index that is there, by its file's name."""
    texts = [index.read_text() for index in archive.glob(f"dists/{SUITE}/{COMPONENT}/binary-*/Packages")]
    stanzas = [stanza for text in texts for stanza in text.split("\n\n") if stanza.strip()]
    return {Path(_field(stanza, "Filename")).name: _field(stanza, "SHA256") for stanza in stanzas}


def _field(stanza: str, name: str) -> str:
    found = re.search(rf"(?m)^{name}: (.+)$", stanza)
    if not found:
        raise ValueError(f"a package without {name}")
    return found[1]


def _stanza(control: str, deb: Path) -> str:
    place = f"Filename: {POOL.as_posix()}/{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {_digest(deb.read_bytes())}\n"
    return control.replace("\nDescription:", f"\n{place}Description:", 1)


def _control(deb: Path) -> str:
    """Returns the control file of a Debian package, as dpkg-deb would, which other systems do not have.

    Raises:
        ValueError: it is no such package.
    """
    for name, content in _members(deb.read_bytes()):
        if name.startswith("control.tar"):
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                file = tar.extractfile("./control")
                return file.read().decode().strip() + "\n" if file else ""
    raise ValueError(f"{deb.name} is not a Debian package")


def _members(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Iterates over names and contents of an `ar` archive: headers of 60 bytes, contents at even places."""
    place = 8
    while content.startswith(b"!<arch>\n") and place < len(content):
        header = content[place : place + 60]
        size = int(header[48:58])
        yield header[:16].decode().strip().rstrip("/"), content[place + 60 : place + 60 + size]
        place += 60 + size + size % 2


def _write_indexes(suite: Path, stanzas: dict[str, list[str]], now_s: float) -> None:
    """Writes the indexes, each also under its sum: who has read the old Release still gets the old indexes until the next release."""
    kept = {digest for digest, _ in _LISTED.findall((suite / ENTRIES).read_text())} if (suite / ENTRIES).exists() else set()
    listed = []
    for architecture, parts in sorted(stanzas.items()):
        folder = suite / COMPONENT / f"binary-{architecture}"
        plain = "\n".join(parts).encode()
        contents = (plain, gzip.compress(plain, mtime=0), lzma.compress(plain))
        by_hash = folder / "by-hash" / "SHA256"
        by_hash.mkdir(parents=True, exist_ok=True)
        for name, content in zip(_INDEXES, contents, strict=True):
            (folder / name).write_bytes(content)
            (by_hash / _digest(content)).write_bytes(content)
            listed.append((_digest(content), len(content), (folder / name).relative_to(suite).as_posix()))
        for old in by_hash.iterdir():
            if old.name not in kept | {digest for digest, *_ in listed}:
                old.unlink()
    for old in (SIGNED, SIGNATURE):
        (suite / old).unlink(missing_ok=True)
    (suite / ENTRIES).write_text(_release(sorted(stanzas), listed, now_s))


def _release(architectures: list[str], listed: list[tuple[str, int, str]], now_s: float) -> str:
    sums = "\n".join(f" {digest} {size:>10} {name}" for digest, size, name in listed)
    return f"""Origin: Tooltray
Label: Tooltray
Suite: {SUITE}
Codename: {SUITE}
Date: {_time(now_s)}
Valid-Until: {_time(now_s + VALID_S)}
Acquire-By-Hash: yes
Changelogs: no
Architectures: {" ".join(architectures)}
Components: {COMPONENT}
Description: Packages of Tooltray
SHA256:
{sums}
"""


def _time(epoch_s: float) -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime(epoch_s))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sign(archive: Path, key: str, address: str) -> None:
    """Signs the repository with a key of the user's GnuPG, and writes the file that users add, with the public key in it.

    Args:
        key: the fingerprint or mail address of the key.
        address: where the repository is published.

    Raises:
        subprocess.CalledProcessError: gpg cannot sign; it has said why.
    """
    suite = archive / "dists" / SUITE
    gpg = ("gpg", "--batch", "--yes", "--armor", "--local-user", key, "--digest-algo", "SHA512")
    subprocess.run([*gpg, "--output", suite / SIGNED, "--clear-sign", suite / ENTRIES], check=True)
    subprocess.run([*gpg, "--output", suite / SIGNATURE, "--detach-sign", suite / ENTRIES], check=True)
    export = ("gpg", "--batch", "--armor", "--export-options", "export-minimal", "--export", key)
    public = subprocess.run(export, stdout=subprocess.PIPE, text=True, check=True).stdout
    (archive / SOURCES).write_text(sources(address, public))


def sources(address: str, public_key: str) -> str:
    """Returns the entry for /etc/apt/sources.list.d, in the form deb822, with the key in it, which apt 2.4 and newer read."""
    inside = textwrap.indent("\n".join(line or "." for line in public_key.strip().splitlines()), " ")
    return f"Types: deb\nURIs: {address}\nSuites: {SUITE}\nComponents: {COMPONENT}\nSigned-By:\n{inside}\n"
