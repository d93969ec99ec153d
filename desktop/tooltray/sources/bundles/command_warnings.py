"""What a person should know of a bundle's command before it runs: a manifest may say anything.

Above it: bundle_offers, bundle_installs. Below it: command_lookup, for what downloads. Pure. None of this forbids anything: the command is
shown as it is, and the person decides.
"""

import re
from collections.abc import Iterator

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.servers.launch.command_lookup import downloads, program_name
from tooltray.sources.bundles.bundle_start import BundleCommand, BundlePlace
from tooltray.sources.bundles.manifest import Manifest

_SHELLS = re.compile(r"(?:ba|z|da|fi|k|c)?sh|cmd|powershell|pwsh|env|sudo|osascript|wscript|cscript|mshta|rundll32", re.IGNORECASE)
_RUNTIMES = {
    "node": re.compile(r"node"),
    "python": re.compile(r"python[0-9.]*|py"),
    "uv": re.compile(r"uv"),
    "binary": re.compile(r"(?!)"),
}
_INLINE = re.compile(r"-[A-Za-z]*[ecp]|--eval|--print|--require|-r|--import")  # code in arguments, and code from elsewhere before it
_LOADS_CODE = re.compile(
    r"LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS"
)


def warnings_of(manifest: Manifest, place: BundlePlace, command: BundleCommand) -> Iterator[Problem]:
    line, program = joined(command.words), program_name(command.command)
    if _SHELLS.fullmatch(program):
        yield Problem(Phrase("It runs words through a shell"), Phrase("what would run is: {line}", line=line))
    elif not command.inside and not _RUNTIMES[manifest.server.type].fullmatch(program):
        yield Problem(Phrase("It runs a program that is not in the bundle"), Phrase("what would run is: {line}", line=line))
    elif not command.inside and program != "uv" and any(map(_INLINE.fullmatch, command.args[:1])):
        yield Problem(Phrase("It runs code that stands in its arguments"), Phrase("what would run is: {line}", line=line))
    if manifest.server.type != "uv" and not command.inside and downloads(command.command, command.args):
        yield Problem(Phrase("It downloads what it runs"), Phrase("that is not in the bundle, and can be another program each time"))
    if not _runs_entry_point(manifest, place, command):
        name = repr(manifest.server.entry_point)
        yield Problem(Phrase("It does not run what it says it is"), Phrase("its entry point is {name}, and its command is not", name=name))
    if found := [name for name in command.env if _LOADS_CODE.fullmatch(name.upper())]:
        yield Problem(Phrase("It changes what other programs load"), Phrase("it sets {names}", names=", ".join(found)))


def _runs_entry_point(manifest: Manifest, place: BundlePlace, command: BundleCommand) -> bool:
    entry = manifest.server.entry_point.replace("${__dirname}/", "").removeprefix("./")
    module = entry.removesuffix("/__main__.py").removesuffix(".py").replace("/", ".")
    words = [word.replace("\\", "/") for word in (command.inside, *command.args)]
    whole = f"{place.folder}/{entry}".replace("\\", "/")
    return any(word.removesuffix(".exe").removeprefix("./") in (entry, entry.removesuffix(".exe"), whole, module) for word in words)
