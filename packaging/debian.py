"""What Debian's policy wants of a package besides its files: control, copyright, changelog, and why lintian is overruled where it is.

What looks into programs needs readelf, `without_build_paths` also chrpath. Sources of the formats:
https://www.debian.org/doc/debian-policy/, https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
"""

import os
import re
import subprocess
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

DEPENDS = "libegl1, libgl1, fontconfig-config, xkb-data, sensible-utils"  # what PyInstaller leaves to the system, besides the C library
OVERRIDES = """\
# Python, Qt and what they need come along: one package for several releases of Debian and Ubuntu, as a frozen app
tooltray: embedded-library *
# modules of Python that use nothing of the C library
tooltray: library-not-linked-against-libc *
"""
OURS = "2026 The developers of Tooltray"
_SYSTEM_LIBRARY = re.compile(r": (/usr)?/lib/[^/]+-linux-gnu[^/]*/lib[^/]+$")  # of dpkg-query's lines, "package:architecture: path"
_OF_LIBC = re.compile(rb"\0GLIBC_2\.(\d+)(?=\0)")  # of an ELF file's names of versions
_COMMON = {  # texts that each Debian has in /usr/share/common-licenses, by SPDX expression
    "Apache-2.0": "Apache-2.0",
    "LGPL-3.0-only": "LGPL-3",
    "LGPL-3.0-or-later": "LGPL-3",
    "GPL-3.0-only": "GPL-3",
    "MPL-2.0": "MPL-2.0",
}


def maintainer(environ: Mapping[str, str] = os.environ) -> str:
    """Who builds the package, by the variables of Debian's own tools; `.invalid` is a domain that nobody has (RFC 2606)."""
    name = environ.get("DEBFULLNAME", "The developers of Tooltray")
    return f"{name} <{environ.get('DEBEMAIL', 'tooltray@tooltray.invalid')}>"


def needed_libc(programs: Path) -> str:
    """Returns the version of the C library that a folder of programs needs: the newest that one of them names."""
    files = (file for file in programs.rglob("*") if file.is_file() and not file.is_symlink())
    return f"2.{max((int(minor) for file in files for minor in _OF_LIBC.findall(file.read_bytes())), default=0)}"


def control(version: str, architecture: str, size_kb: int, needed: Iterable[str] = (), *, libc: str, homepage: str = "") -> str:
    """Returns the package's metadata.

    Args:
        version: that of the app.
        architecture: as Debian names it.
        size_kb: of the files, installed.
        needed: packages of Debian besides `DEPENDS`: see `leave_to_system`.
        libc: the version of the C library that the programs need.
        homepage: empty: none.
    """
    site = f"Homepage: {homepage}\n" if homepage else ""
    return f"""Package: tooltray
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer()}
Installed-Size: {size_kb}
Depends: {", ".join((f"libc6 (>= {libc})", DEPENDS, *needed))}
Recommends: bubblewrap, gnome-keyring | kwalletmanager
Section: devel
Priority: optional
{site}Description: one home for your MCP servers
 Tooltray runs your MCP servers once, keeps their secrets in the keyring, and
 gives their tools to every AI client through one small program, the bridge.
 A tray icon shows how the servers are.
"""


def copyright_file(licence: str, parts: Mapping[str, str]) -> str:
    """The machine-readable form: our own licence, and which part is under which; all texts are in LICENCES.txt beside the programs.

    Args:
        licence: the text of our own.
        parts: the SPDX expression of each part that comes along, by name.
    """
    own = textwrap.indent("\n".join(line or "." for line in licence.strip().splitlines()), " ")
    listed = "\n".join(f"  {name}: {expression}" for name, expression in sorted(parts.items()))
    common = sorted({_COMMON[each] for expression in parts.values() for each in re.split(r" (?:AND|OR) ", expression) if each in _COMMON})
    places = "\n".join(f"  /usr/share/common-licenses/{each}" for each in common)
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tooltray
Comment: The programs carry these parts, each under its own licence:
{listed}
 .
 The texts of all of them are in /usr/lib/tooltray/current/LICENCES.txt, and these
 in Debian's own place, too:
{places}

Files: *
Copyright: {OURS}
License: MIT
{own}
"""


def changelog(text: str, version: str, epoch_s: int) -> str:
    """CHANGELOG.md's part of this version in Debian's form."""
    found = re.search(rf"(?ms)^## {re.escape(version)}\b.*?$(.*?)(?=^## |\Z)", text)
    changes = re.findall(r"(?ms)^- (.*?)(?=^- |^\n|\Z)", found[1] if found else "") or ["A new version."]
    lines = [textwrap.fill(" ".join(each.split()), 78, initial_indent="  * ", subsequent_indent="    ") for each in changes]
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch_s))
    return f"tooltray ({version}) unstable; urgency=medium\n\n" + "\n".join(lines) + f"\n\n -- {maintainer()}  {when}\n"


def system_libraries(frozen: Path) -> dict[str, str]:
    """Returns Debian's packages of which the freezer has taken libraries, with their versions, by name."""
    packages = sorted(set(package_of_library(frozen).values()))
    if not packages:
        return {}
    about = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n", *packages]
    lines = subprocess.run(about, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {name: version for name, _, version in (line.partition(" ") for line in lines)}


def package_of_library(frozen: Path) -> dict[Path, str]:
    """Returns which package of Debian each library is from that the freezer has taken from the system."""
    files = [file for file in (frozen / "_internal").glob("lib*.so*") if not file.is_symlink()]
    by_name = {file.name: file for file in files if not file.name.startswith("libpython")}  # of the Python that freezes, listed as such
    search = ["dpkg-query", "--search", *(f"/*/{name}" for name in sorted(by_name))]
    found = subprocess.run(search, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout  # some are of wheels
    owners = (line.partition(": ") for line in found.splitlines() if _SYSTEM_LIBRARY.search(line))
    return {by_name[path.rpartition("/")[2]]: package for package, _, path in owners}


def leave_to_system(frozen: Path) -> list[str]:
    """Deletes the libraries that Debian has itself, all at once: an old one beside the system's newer ones would be used by these, too.

    Returns:
        The packages that the rest links against, by their names in the release that builds. Later ones provide the same names.
    """
    packages = package_of_library(frozen)
    for file in packages:
        file.unlink()
    needed = set[str]().union(*map(needed_by, binaries(frozen)))
    return sorted({package.partition(":")[0] for file, package in packages.items() if file.name in needed})


def binaries(frozen: Path) -> list[Path]:
    """Returns the programs and libraries in a folder."""
    files = [file for file in sorted(frozen.rglob("*")) if file.is_file() and not file.is_symlink()]
    return [file for file in files if ".so" in file.name or os.access(file, os.X_OK)]


def needed_by(file: Path) -> set[str]:
    """Returns the names of the libraries that a program or library links against."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic_section(file)))


def dynamic_section(file: Path) -> str:
    command = ["readelf", "--dynamic", file]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def without_build_paths(frozen: Path) -> None:
    """Takes folders of the machine that builds out of where libraries look for others; the frozen program says itself where they are."""
    for file in binaries(frozen):
        if re.search(r"\(R(?:UN)?PATH\).*\[/", dynamic_section(file)):
            subprocess.run(["chrpath", "--delete", file], stdout=subprocess.DEVNULL, check=True)
