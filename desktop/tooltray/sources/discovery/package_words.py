"""The command of a package: the program that starts it, the words before and behind its name, and reasons to refuse a package.

No word is ever given to a shell. Still a word may be an option of the program that starts the package, so texts of strangers must match the
patterns of package names.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.sources.discovery.registry_json import Argument, Package

BUNDLE = "mcpb"
_REFUSED = Phrase("What the registry says of this server cannot be used")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,254}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BRACES = re.compile(r"\{")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")  # Tooltray's placeholders: in a stranger's text, one could name the secret of another server


class Launcher(msgspec.Struct, frozen=True):
    """The program that starts packages of one kind, with its words.

    Attributes:
        program: the command.
        hints: publishers' names for the program.
        name: the pattern of an identifier.
        usual: the last but one label of the usual place's host name; packages elsewhere are refused.
        flags: options of the program without a value that a publisher may use; with another option, or with a word behind one of these,
            another program than the package could run.
        valued: the same for options with a value.
        first: words before everything else; words that the publisher also has are not repeated.
        pin: between name and version.
        behind: words behind the package, before the package's arguments.
    """

    program: str
    hints: frozenset[str]
    name: re.Pattern[str]
    usual: frozenset[str]
    flags: frozenset[str]
    valued: frozenset[str] = frozenset()
    first: tuple[str, ...] = ()
    pin: str = "@"
    behind: tuple[str, ...] = ()


LAUNCHERS: Mapping[str, Launcher] = {
    "npm": Launcher(
        "npx",
        frozenset({"npx", "node", "npm"}),
        re.compile(r"(?:@[A-Za-z0-9~][\w.~-]*/)?[A-Za-z0-9~][\w.~-]*", re.ASCII),
        frozenset({"npmjs"}),
        flags=frozenset({"-y", "--yes", "-q", "--quiet", "--prefer-offline", "--ignore-scripts"}),
        first=("-y",),
    ),
    "pypi": Launcher(
        "uvx",
        frozenset({"uvx", "uv", "python", "python3", "pipx"}),
        re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
        frozenset({"pypi", "pythonhosted"}),
        flags=frozenset({"-q", "--quiet", "--isolated", "--no-cache", "-n", "--refresh", "--offline", "--native-tls", "--no-progress"}),
        valued=frozenset({"-p", "--python", "--prerelease"}),
        pin="==",
    ),
    "nuget": Launcher(
        "dnx",
        frozenset({"dnx", "dotnet"}),
        re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"),
        frozenset({"nuget"}),
        flags=frozenset({"-y", "--yes", "--prerelease"}),
        behind=("--yes",),
    ),
    "oci": Launcher(
        "docker",
        frozenset({"docker", "podman"}),
        re.compile(r"[a-z0-9][a-z0-9._-]*(?::\d{1,5})?(?:/[a-z0-9][a-z0-9._-]*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?", re.ASCII),
        frozenset({"docker"}),
        flags=frozenset({"-i", "--interactive", "--rm", "--init", "--read-only", "-a", "--no-healthcheck"}),
        valued=frozenset(
            {
                "-e",
                "--env",
                "-v",
                "--volume",
                "--mount",
                "--tmpfs",
                "-p",
                "--publish",
                "--network",
                "--net",
                "--add-host",
                "--pull",
                "--name",
            }
            | {"-u", "--user", "-w", "--workdir", "-m", "--memory", "--cpus", "--platform", "-l", "--label", "--pids-limit", "--shm-size"}
        ),
        first=("run", "-i", "--rm"),
        pin=":",
    ),
}


def problem_of(package: Package) -> Problem | None:
    """Returns why a package cannot be installed here; None if its description has no reason."""
    if package.kind == BUNDLE:
        return _bundle_problem(package)
    launcher = LAUNCHERS.get(package.kind)
    if launcher is None:
        return refused(Phrase("packages of the kind '{kind}' cannot be started", kind=package.kind[:40]))
    if not launcher.name.fullmatch(package.identifier):
        return refused(Phrase("'{text}' is no name of a package", text=shown(package.identifier)))
    if package.version and not _VERSION.fullmatch(package.version):
        return refused(Phrase("'{text}' is no version", text=shown(package.version)))
    if package.transport != "stdio":
        return refused(
            Phrase("the package listens on a port of its own; only packages that speak on standard input and output can be started")
        )
    if package.kind != "oci" and package.registry and not _is_usual(package.registry, launcher):
        return refused(
            Phrase("its package is on {host}, and not where packages of its kind are taken from", host=shown(host(package.registry)))
        )
    if package.runtime and package.runtime not in launcher.hints:
        return refused(Phrase("it wants to be started by '{text}'", text=shown(package.runtime)))
    if package.runtime not in ("", launcher.program) and package.runtime_arguments:
        return refused(
            Phrase("it has options for '{text}', and is started by {program}", text=shown(package.runtime), program=launcher.program)
        )
    return None


def _bundle_problem(package: Package) -> Problem | None:
    if not package.identifier.startswith("https://") or not host(package.identifier) or _CONTROL.search(package.identifier):
        return refused(Phrase("'{text}' is no address of a bundle", text=shown(package.identifier)))
    if not _SHA256.fullmatch(package.sha256):
        return refused(Phrase("the registry does not say which SHA-256 its bundle has"))
    return None


def refused(why: str) -> Problem:
    return Problem(_REFUSED, why, Phrase("Look at the server's own page, and add it by hand if you trust it"))


def check_words(texts: Sequence[str]) -> Problem | None:
    """Returns why a stranger's texts must not be used in an entry; None if they may."""
    for text in texts:
        if _CONTROL.search(text):
            return refused(Phrase("'{text}' has a character in it that cannot be seen", text=shown(text)))
        if _PLACEHOLDER.search(text):
            return refused(Phrase("'{text}' has a placeholder of Tooltray in it", text=shown(text)))
    return None


def odd_runtime_word(package: Package) -> str:
    """Returns the first of a publisher's words for the launcher that is not a harmless option; empty if all are harmless.

    A word that is not an option, or a value behind an option without a value, would run as the package instead of the real one.
    """
    launcher, waits = LAUNCHERS[package.kind], False  # waits: for the value of the previous option
    for each in package.runtime_arguments:
        word = each.name or each.input.value
        if waits and not each.name:
            if word is None and not each.input.is_required:
                return each.hint or "?"
            waits = False
        elif not word or _BRACES.match(word):
            return each.hint or word or "?"
        elif each.name and word in launcher.valued:
            if (each.input.value, each.input.default, each.input.is_required) == (None, None, False) and not _is_asked(each):
                return word
        elif each.name and word in launcher.flags:
            if _is_asked(each) or each.input.value is not None:
                return word
        elif each.name or not (word in launcher.first or word in launcher.flags or word.partition("=")[0] in launcher.valued):
            return word
        else:
            waits = word in launcher.valued
    return "…" if waits else ""


def _is_asked(argument: Argument) -> bool:
    """Reports whether an option gets a value from the user."""
    value = argument.input
    return bool(
        value.default or value.choices or value.placeholder or value.is_required or value.is_secret or argument.hint
    ) or value.format in (
        "number",
        "filepath",
    )


def pinned(package: Package) -> str:
    """Returns the package in the launcher's spelling, with its version."""
    if package.kind != "oci":
        return f"{package.identifier}{LAUNCHERS[package.kind].pin}{package.version}" if package.version else package.identifier
    image = package.identifier
    if package.registry and not _is_usual(package.registry, LAUNCHERS["oci"]) and not image.startswith(f"{host(package.registry)}/"):
        image = f"{host(package.registry)}/{image}"
    has_tag = "@" in image or ":" in image.rpartition("/")[2]
    return image if has_tag or not package.version else f"{image}:{package.version}"


def is_pinned(package: Package) -> bool:
    return pinned(package) != package.identifier or (package.kind == "oci" and pinned(package) != pinned(_bare(package)))


def _bare(package: Package) -> Package:
    image = package.identifier.partition("@")[0]
    folder, slash, last = image.rpartition("/")
    return msgspec.structs.replace(package, identifier=f"{folder}{slash}{last.partition(':')[0]}", version="", registry="")


def _is_usual(url: str, launcher: Launcher) -> bool:
    labels = host(url).split(".")
    return len(labels) > 1 and labels[-2] in launcher.usual


def host(url: str) -> str:
    """Returns the host of an address, with its port; empty for any other text."""
    try:
        parts = urlsplit(url)
        return parts.netloc.rpartition("@")[2].lower() if parts.scheme in ("https", "http") else ""
    except ValueError:
        return ""


def shown(text: str) -> str:
    """Returns a stranger's text for a sentence: invisible characters are spelled out, and a text is cut after 80 characters."""
    spelled = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:80])
    return f"{spelled}…" if len(text) > 80 else spelled
