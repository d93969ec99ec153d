"""Makes the files for package repositories of a release: apt, winget, Homebrew and the AUR.

    python3 packaging/repositories.py OUT FOLDER --base-url SITE --files-url ADDRESS [--sign KEY]

OUT is the folder that packaging/release.py has made. FOLDER is what was published before, or a new folder. All sums come from SHA256SUMS
in OUT, and a file that has another sum is refused. The rules of the formats are named in packaging/apt_archive.py and at each function.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent))

import apt_archive
import debian
import release

SCRIPTS = release.ROOT / "packaging" / "linux" / "debian"
SUMMARY = "One home for your MCP servers"
ABOUT = (
    "Tooltray runs your MCP servers once, keeps their secrets in the keyring, and gives their tools to every AI client through "
    "one small program. A tray icon shows how the servers are; its "
    "window starts, stops, adds and mends them, and asks before a tool changes anything."
)
TAGS = ("ai", "llm", "mcp", "mcp-server", "model-context-protocol", "tray")
WINGET_ID, WINGET_SCHEMA = "Tooltray.Tooltray", "1.10.0"  # nothing here needs a newer schema, which an older winget would refuse
PUBLISHER = "The developers of Tooltray"  # as packaging/windows/tooltray.nsi writes it into the registry
BUNDLE_ID = "dev.tooltray.Tooltray"


@dataclass(frozen=True)
class Release:
    """A release whose files have the sums that its SHA256SUMS says.

    Attributes:
        date: as `2026-12-01`.
        changes: plain lines.
        withdrawn: the versions that should not be used any more.
        sums: the SHA-256 of each file, by name.
        homepage: the site, without a slash at the end.
        files_url: where the files of this release are found, without a slash at the end.
    """

    folder: Path
    version: str
    date: str
    changes: tuple[str, ...]
    withdrawn: tuple[str, ...]
    sums: Mapping[str, str]
    homepage: str
    files_url: str

    @classmethod
    def read(cls, folder: Path, homepage: str, files_url: str) -> "Release":
        """Reads and checks a release.

        Raises:
            ValueError: a file has another sum, or the release is a pre-release; says which.
        """
        files = release.checked(folder)
        listed = json.loads((folder / release.LIST).read_text())["releases"]
        this = listed[0]
        if not re.fullmatch(r"\d+\.\d+\.\d+", this["version"]):
            raise ValueError(f"{this['version']} is a pre-release, which is for no repository")
        withdrawn = tuple(each["version"] for each in listed if each["withdrawn"])
        sums = {file.name: release.digest(file) for file in files}
        return cls(
            folder, this["version"], this["date"], tuple(this["changes"]), withdrawn, sums, homepage.rstrip("/"), files_url.rstrip("/")
        )

    def file(self, name: str) -> tuple[str, str]:
        """Returns the address and the SHA-256 of a file of the release.

        Raises:
            ValueError: the release has no such file.
        """
        if name not in self.sums:
            raise ValueError(f"the release has no {name}")
        return f"{self.files_url}/{name}", self.sums[name]


def yaml(content: Mapping[str, object], indent: str = "") -> str:
    """Writes a mapping as YAML: texts as JSON writes them, which is YAML, too."""
    lines = []
    for name, value in content.items():
        if isinstance(value, list):
            lines.append(f"{indent}{name}:")
            lines += [f"{indent}- {_item(each, indent)}" for each in value]
        else:
            lines.append(f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)


def _item(value: object, indent: str) -> str:
    return yaml(value, f"{indent}  ").lstrip() if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def winget(this: Release) -> dict[str, str]:
    """Returns the three manifests of a version, by path below `manifests/`.

    https://github.com/microsoft/winget-cli/tree/master/schemas/JSON/manifests has the rules.
    """
    address, digest = this.file(f"Tooltray-{this.version}-setup.exe")
    manifests: dict[str, dict[str, object]] = {
        "version": {"DefaultLocale": "en-US"},
        "installer": {
            "Platform": ["Windows.Desktop"],
            "MinimumOSVersion": "10.0.0.0",
            "InstallerType": "nullsoft",
            "Scope": "user",
            "InstallModes": ["interactive", "silent", "silentWithProgress"],
            "UpgradeBehavior": "install",
            "Protocols": ["tooltray"],
            "ReleaseDate": this.date,
            "ProductCode": "Tooltray",  # the key below Uninstall in the registry
            "AppsAndFeaturesEntries": [{"DisplayName": "Tooltray", "Publisher": PUBLISHER, "ProductCode": "Tooltray"}],
            "Installers": [{"Architecture": "x64", "InstallerUrl": address, "InstallerSha256": digest.upper()}],
        },
        "defaultLocale": {
            "PackageLocale": "en-US",
            "Publisher": PUBLISHER,
            "PackageName": "Tooltray",
            "PackageUrl": this.homepage,
            "License": "MIT",
            "ShortDescription": SUMMARY,
            "Description": ABOUT,
            "Moniker": "tooltray",
            "Tags": list(TAGS),
            **({"ReleaseNotes": "\n".join(f"- {change}" for change in this.changes)} if this.changes else {}),
        },
    }
    names = {"version": "", "installer": ".installer", "defaultLocale": ".locale.en-US"}
    about = {"PackageIdentifier": WINGET_ID, "PackageVersion": this.version}
    return {
        f"t/{WINGET_ID.replace('.', '/')}/{this.version}/{WINGET_ID}{names[kind]}.yaml": (
            f"# yaml-language-server: $schema=https://aka.ms/winget-manifest.{kind}.{WINGET_SCHEMA}.schema.json\n\n"
            + yaml({**about, **content, "ManifestType": kind, "ManifestVersion": WINGET_SCHEMA})
            + "\n"
        )
        for kind, content in manifests.items()
    }


def cask(this: Release) -> str:
    """Returns the cask for Homebrew. https://docs.brew.sh/Cask-Cookbook has the rules; a macOS alone means that or a newer one."""
    address, digest = this.file(f"tooltray-{this.version}-macos-arm64.dmg")
    files, site = urlsplit(address), urlsplit(this.homepage)
    project = "/".join(
        [files.netloc, *files.path.split("/")[1:-1][:2]]
    )  # `verified` says that the files are ours although they are elsewhere
    elsewhere = f',\n      verified: "{project}/"' if files.netloc != site.netloc else ""
    return f"""cask "tooltray" do
  version "{this.version}"
  sha256 "{digest}"

  url "{_with_variable(address, this.version, "#{version}")}"{elsewhere}
  name "Tooltray"
  desc "{SUMMARY}"
  homepage "{this.homepage}/"

  depends_on arch: :arm64
  depends_on macos: :sequoia

  app "Tooltray.app"

  uninstall quit: "{BUNDLE_ID}"

  zap trash: "~/.tooltray"
end
"""


def _with_variable(address: str, version: str, variable: str) -> str:
    return re.sub(rf"(?<![\d.]){re.escape(version)}(?!\d)", lambda _: variable, address)


ARCHITECTURES = ("x86_64", "aarch64")
DEPENDS = ("fontconfig", "glibc", "libglvnd", "xkeyboard-config")  # Arch's names of what debian.py names
OPTIONAL = ("bubblewrap: a second wall around sandboxed servers", "gnome-keyring: a place for secrets", "kwallet: a place for secrets")


def aur(this: Release) -> dict[str, str]:
    """Returns the files of the package `tooltray-bin`: https://wiki.archlinux.org/title/PKGBUILD, https://wiki.archlinux.org/title/.SRCINFO

    The programs come from the portable archive. The scripts of the Debian package give each version a folder of its own, as there.
    """
    names = {each: f"tooltray-{this.version}-linux-{each}.tar.gz" for each in ARCHITECTURES}
    there = {each: this.file(name) for each, name in names.items() if name in this.sums}
    if not there:
        raise ValueError("the release has no portable archive for Linux")
    lists = {
        "depends": DEPENDS,
        "optdepends": OPTIONAL,
        "provides": ("tooltray",),
        "conflicts": ("tooltray",),
        "options": ("!strip", "!debug"),
    }
    return {
        "PKGBUILD": _pkgbuild(
            this, lists, {each: (_with_variable(address, this.version, "${pkgver}"), sum) for each, (address, sum) in there.items()}
        ),
        ".SRCINFO": _srcinfo(this, lists, there),
        "tooltray-bin.install": _scriptlets(),
    }


def _pkgbuild(this: Release, lists: Mapping[str, tuple[str, ...]], files: Mapping[str, tuple[str, str]]) -> str:
    words = "\n".join(f"{name}=({' '.join(map(_quoted, each))})" for name, each in lists.items())
    sources = "\n".join(f"source_{each}=(\"{address}\")\nsha256sums_{each}=('{sum}')" for each, (address, sum) in files.items())
    return f"""# Maintainer: {debian.maintainer()}
pkgname=tooltray-bin
pkgver={this.version}
pkgrel=1
pkgdesc={_quoted(SUMMARY)}
arch=({" ".join(map(_quoted, files))})
url={_quoted(this.homepage)}
license=('MIT')
{words}
install=tooltray-bin.install
{sources}

package() {{
  cd "tooltray-${{pkgver}}-linux-${{CARCH}}"
  install -d "${{pkgdir}}/usr/bin" "${{pkgdir}}/usr/lib/tooltray"
  cp -r --no-preserve=ownership tooltray "${{pkgdir}}/usr/lib/tooltray/package"
  printf '{{"kind": "pacman"}}\\n' >"${{pkgdir}}/usr/lib/tooltray/package/install.json"
  ln -s ../lib/tooltray/current/tooltray ../lib/tooltray/current/tooltray-bridge "${{pkgdir}}/usr/bin"
  install -Dm644 tooltray.desktop -t "${{pkgdir}}/usr/share/applications"
  install -Dm644 tooltray.svg -t "${{pkgdir}}/usr/share/icons/hicolor/scalable/apps"
  install -Dm644 LICENSE -t "${{pkgdir}}/usr/share/licenses/${{pkgname}}"
  cp -r --no-preserve=ownership share "${{pkgdir}}/usr"
}}
"""


def _quoted(text: str) -> str:
    """Quotes a word for the shell that holds no quotation mark itself."""
    return f"'{text}'"


def _srcinfo(this: Release, lists: Mapping[str, tuple[str, ...]], files: Mapping[str, tuple[str, str]]) -> str:
    """Returns what `makepkg --printsrcinfo` makes of the PKGBUILD, in its order."""
    one = {"pkgdesc": SUMMARY, "pkgver": this.version, "pkgrel": "1", "url": this.homepage, "install": "tooltray-bin.install"}
    lines = [f"{name} = {value}" for name, value in one.items()]
    lines += [f"arch = {each}" for each in files]
    lines.append("license = MIT")
    for name in ("depends", "optdepends", "provides", "conflicts", "options"):
        lines += [f"{name} = {value}" for value in lists[name]]
    for each, (address, sum) in files.items():
        lines += [f"source_{each} = {address}", f"sha256sums_{each} = {sum}"]
    return "pkgbase = tooltray-bin\n" + "".join(f"\t{line}\n" for line in lines) + "\npkgname = tooltray-bin\n"


def _scriptlets() -> str:
    """Returns the hooks that pacman runs: the scripts of the Debian package. https://wiki.archlinux.org/title/PKGBUILD#install"""

    def hook(name: str, script: str, how: str) -> str:
        return f"{name}() {{\n  sh -s {how} <<'SCRIPT'\n{(SCRIPTS / script).read_text().rstrip()}\nSCRIPT\n}}\n"

    version = 'TOOLTRAY_VERSION="$1"'
    installed = hook("post_install", "postinst", "configure").replace("  sh -s", f"  {version} sh -s", 1)
    return "\n".join(
        (
            installed,
            'post_upgrade() {\n  post_install "$1"\n}\n',
            hook("pre_remove", "prerm", "remove"),
            hook("post_remove", "postrm", "remove"),
        )
    )


def make(this: Release, target: Path, now_s: float) -> None:
    """Writes the files of all repositories; of apt's, those of earlier releases stay.

    Raises:
        ValueError: the release lacks a file, or a published package would change; says which.
    """
    texts = {
        **{f"winget/manifests/{name}": text for name, text in winget(this).items()},
        "homebrew/Casks/tooltray.rb": cask(this),
        **{f"aur/{name}": text for name, text in aur(this).items()},
    }
    debs = [this.folder / name for name in this.sums if name.endswith(".deb")]
    apt_archive.publish(target / "apt", debs, withdrawn=this.withdrawn, now_s=now_s)
    for name, text in texts.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the files for package repositories of a release.")
    parser.add_argument("out", type=Path, help="the folder of the release, as packaging/release.py leaves it")
    parser.add_argument("folder", type=Path, help="what was published before, or a new folder")
    parser.add_argument("--base-url", required=True, help="the site: homepage of the packages; the apt repository is published at its /apt")
    parser.add_argument("--files-url", required=True, help="where the files of this release are found")
    parser.add_argument("--sign", metavar="KEY", help="the fingerprint of a key in your GnuPG, which signs the apt repository")
    asked = parser.parse_args()
    try:
        this = Release.read(asked.out, asked.base_url, asked.files_url)
        make(this, asked.folder, float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if asked.sign:
        apt_archive.sign(asked.folder / "apt", asked.sign, f"{this.homepage}/apt")
    else:
        sys.stdout.write(f"The apt repository is not signed. Sign it: {' '.join(['python3', *sys.argv])} --sign KEY\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
