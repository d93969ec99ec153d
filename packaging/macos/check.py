"""Finds in Tooltray.app what Apple would refuse, on any system: `python packaging/macos/check.py [APP]`.

Without APP it checks two bundles that made_up.py makes of the spec and sign.sh, one as the release workflow signs it, one as a maintainer
does; packaging/macos/build.py has each app checked that it makes. Apple's own programs and its notary service remain the judges: this finds
earlier, and without a Mac, what they say of names, places, flags and entitlements. What the loader would not find is a problem, too.

Rules: Apple's "Information Property List", "Hardened Runtime", "Placing Content in a Bundle", technical note TN2206, and what PyInstaller's
building/osx.py has found out about directories.
"""

import plistlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from macos.macho import PROGRAM, RUNTIME, Signature, Slice, slices

ENTITLEMENTS = Path(__file__).with_name("entitlements.plist")
APPLE_EVENTS, APPLE_EVENTS_TEXT = "com.apple.security.automation.apple-events", "NSAppleEventsUsageDescription"
MAY_HAVE = {
    "com.apple.security.cs.allow-unsigned-executable-memory",
    "com.apple.security.cs.disable-library-validation",
    APPLE_EVENTS,
}
"""The entitlements that the main program may have, each with its reason in sign.sh. Other code has none."""
OF_SYSTEM = ("/usr/lib/", "/System/")
NUMBERS = r"\d+(\.\d+){0,2}"
FORMS = {
    "CFBundleIdentifier": r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+",
    "CFBundleExecutable": r".+",
    "CFBundleIconFile": r".+",
    "CFBundlePackageType": "APPL",
    "CFBundleShortVersionString": NUMBERS,
    "CFBundleVersion": NUMBERS,
    "LSMinimumSystemVersion": r"\d+(\.\d+){1,2}",
}
"""What Info.plist needs, and the form of each value."""


def problems(app: Path) -> list[str]:
    """Returns what Apple would refuse in a signed app, a line each."""
    about = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    code = {file.relative_to(app): found for file in files(app) if (found := slices(file.read_bytes()))}
    main = Path("Contents", "MacOS", str(about.get("CFBundleExecutable")))
    allowed = {name for each in code.get(main, ()) if each.signature for name in each.signature.entitlements}
    return [
        *of_plist(about, app, allowed),
        *of_places(app, set(code)),
        *(f"{file}: {problem}" for file, found in code.items() for problem in of_code(found, is_main=file == main)),
        *of_all_code(code, main, about),
        *of_loads(code, {path.name for path in (app / "Contents" / "Frameworks").rglob("*")}),
    ]


def files(app: Path) -> Iterator[Path]:
    return (each for each in sorted(app.rglob("*")) if each.is_file() and not each.is_symlink())


def of_plist(about: Mapping[str, object], app: Path, allowed: set[str]) -> Iterator[str]:
    """
    Args:
        allowed: the main program's entitlements.
    """
    for key, form in FORMS.items():
        if not isinstance(value := about.get(key), str) or not re.fullmatch(form, value):
            yield f"Info.plist: {key} is {value!r}"
    if not (app / "Contents" / "Resources" / str(about.get("CFBundleIconFile"))).is_file():
        yield "Info.plist: the file of CFBundleIconFile is not among the resources"
    if about.get("LSBackgroundOnly"):
        yield "Info.plist: LSBackgroundOnly, with which an app gets no icon and no window"
    if (APPLE_EVENTS in allowed) != bool(about.get(APPLE_EVENTS_TEXT)):
        yield f"Info.plist: {APPLE_EVENTS_TEXT} and the entitlement {APPLE_EVENTS} need each other"


def of_places(app: Path, code: set[Path]) -> Iterator[str]:
    """
    Args:
        code: the files that are Mach-O, relative to the app.
    """
    for path in sorted((app / "Contents").rglob("*")):
        name = path.relative_to(app)
        where, in_framework = name.parts[1], any(part.endswith(".framework") for part in name.parts[:-1])
        if path.is_symlink():
            if path.readlink().is_absolute() or not path.exists() or not path.resolve().is_relative_to(app.resolve()):
                yield f"{name}: a link that leads to no file of the app"
        elif path.is_dir():
            if where in ("Frameworks", "MacOS") and "." in path.name and not in_framework and path.suffix != ".framework":
                yield f"{name}: a directory with a dot in its name, which codesign takes for a bundle"
            if path.suffix == ".framework" and not (path / "Versions" / "Current" / path.stem).is_file():
                yield f"{name}: a framework without Versions/Current/{path.stem}"
        elif where in ("Frameworks", "MacOS") and not in_framework and name not in code:
            yield f"{name}: data where codesign takes every file for code; its place is Resources"
        elif where == "Resources" and name in code:
            yield f"{name}: code among the resources"
    for path in (app / "Contents").iterdir():
        if path.name not in ("CodeResources", "Frameworks", "Info.plist", "MacOS", "PkgInfo", "Resources", "_CodeSignature"):
            yield f"Contents/{path.name}: no place of a bundle"


def of_code(found: list[Slice], *, is_main: bool) -> Iterator[str]:
    for each in found:
        if each.signature is None:
            yield "not signed"
        else:
            yield from of_signature(each.signature, is_main=is_main, is_program=each.file_type == PROGRAM)


def of_signature(signature: Signature, *, is_main: bool, is_program: bool) -> Iterator[str]:
    is_hardened = bool(signature.flags & RUNTIME)
    if signature.has_identity and not is_hardened:
        yield "not signed for the hardened runtime, which the notary service asks for"
    if not signature.has_identity and is_hardened:
        yield "hardened without an identity: without a team, the loader refuses all libraries of the app"
    for name, value in sorted(signature.entitlements.items()):
        if not is_main or name not in MAY_HAVE or value is not True:
            yield f"has the entitlement {name}"
    if is_program and "." not in signature.identifier:
        yield f"its identifier, {signature.identifier}, is not unique in the world"


def of_all_code(code: Mapping[Path, list[Slice]], main: Path, about: Mapping[str, object]) -> Iterator[str]:
    if main not in code:
        yield f"{main}: not there, or no program"
        return
    processors = {each.processor for each in code[main]}
    oldest = tuple(map(int, re.findall(r"\d+", str(about.get("LSMinimumSystemVersion")))[:2]))
    has_identity = {bool(each.signature and each.signature.has_identity) for found in code.values() for each in found}
    if len(has_identity) > 1:
        yield "some code is signed with an identity, some without"
    for file, found in code.items():
        if missing := processors - {each.processor for each in found}:
            yield f"{file}: not for {', '.join(sorted(missing))}"
        if any(each.minimum > oldest for each in found):
            yield f"{file}: needs a newer macOS than LSMinimumSystemVersion"


def of_loads(code: Mapping[Path, list[Slice]], there: set[str]) -> Iterator[str]:
    """
    Args:
        there: the names of the app's libraries.
    """
    for file, found in code.items():
        for library in sorted({library for each in found for library in each.loads}):
            if library.startswith("/") and not library.startswith(OF_SYSTEM):
                yield f"{file}: loads {library}, which other Macs do not have"
            elif library.startswith("@") and Path(library).name not in there:
                yield f"{file}: loads {library}, which is not in the app"


def of_entitlements_file(data: bytes) -> Iterator[str]:
    """The parser that codesign has for entitlements is stricter than plutil: it has refused files for their comments."""
    reader, comments = expat.ParserCreate(), list[str]()
    reader.CommentHandler = comments.append
    try:
        reader.Parse(data, True)
    except expat.ExpatError as error:
        yield f"entitlements: {error}"
        return
    if comments:
        yield "entitlements: a comment"
    keys = re.findall(rb"<key>(.*?)</key>", data)
    if len(keys) != len(set(keys)):
        yield "entitlements: a key twice"
    for name, value in plistlib.loads(data).items():
        if name not in MAY_HAVE or value is not True:
            yield f"entitlements: {name} is {value!r}"


def main() -> int:
    found = list(of_entitlements_file(ENTITLEMENTS.read_bytes()))
    if sys.argv[1:]:
        found += problems(Path(sys.argv[1]))
    else:
        from macos import made_up

        for identity in (made_up.FOR_THIS_MACHINE, made_up.IDENTITY):
            with tempfile.TemporaryDirectory() as folder:
                found += [f"signed by {identity!r}: {problem}" for problem in problems(made_up.signed_app(Path(folder), identity))]
    sys.stderr.writelines(f"{problem}\n" for problem in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
