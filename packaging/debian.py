"""What Debian's policy wants of a package besides its files: control, copyright, changelog, and why lintian is overruled where it is.

`without_build_paths` needs readelf and chrpath. Sources of the formats:
https://www.debian.org/doc/debian-policy/, https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
"""

import os
import re
import subprocess
import textwrap
import time
from collections.abc import Mapping
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


def control(version: str, architecture: str, size_kb: int, *, libc: str, homepage: str = "") -> str:
    """Returns the control file.

    Args:
        libc: the version of the C library that the programs need.
        homepage: empty: none.
    """
    site = f"Homepage: {homepage}\n" if homepage else ""
    return f"""Package: tooltray
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer()}
Installed-Size: {size_kb}
Depends: libc6 (>= {libc}), {DEPENDS}
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
    files = [file for file in (frozen / "_internal").glob("lib*.so*") if not file.is_symlink()]
    names = sorted(file.name for file in files if not file.name.startswith("libpython"))  # of the Python that freezes, listed as such
    search = ["dpkg-query", "--search", *(f"/*/{name}" for name in names)]
    found = subprocess.run(search, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout  # some are of wheels
    packages = sorted({line.partition(": ")[0] for line in found.splitlines() if _SYSTEM_LIBRARY.search(line)})
    if not packages:
        return {}
    about = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n", *packages]
    lines = subprocess.run(about, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {name: version for name, _, version in (line.partition(" ") for line in lines)}


def without_build_paths(frozen: Path) -> None:
    """Takes folders of the machine that builds out of where libraries look for others; the frozen program says itself where they are."""
    for file in sorted(frozen.rglob("*")):
        if file.is_symlink() or not file.is_file() or not (".so" in file.name or os.access(file, os.X_OK)):
            continue
        dynamic = subprocess.run(["readelf", "--dynamic", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if re.search(r"\(R(?:UN)?PATH\).*\[/", dynamic.stdout):
            subprocess.run(["chrpath", "--delete", file], stdout=subprocess.DEVNULL, check=True)
