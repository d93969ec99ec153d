"""The policy of a confined server: the user's choice, as paths. Blocks on the disk.

*Own files* may read the program with its interpreter and its package, and read and change its own folder, the project, its `cwd`, the
folders that its entry names, and the paths among its arguments. *Read only* may read the same, and change only its own folder.
`launch_line` adds the system's files that every program reads. No server gets a guarded folder; paths that are left out are reported.

A server may write `tmp`, `cache` and `work` of its own folder, never the folder above them: otherwise it could replace one by a link, and
the next start would allow it the link's target. Only installations write `packages`, each a folder of its own in it, and they get no data
of the server.

A command is a chain: `~/.local/bin/x` is a link to a script of a virtual environment, whose first line names a Python that is a link to the
installation of a version manager. Each link of the chain counts, and with it the folder above its `bin` if that is an installation.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import glob
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from tooltray.config.settings.confinement import Confinement
from tooltray.foundation.home.home import file_stem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.servers.confinement.guarded_folders import GuardedFolders, is_below
from tooltray.servers.confinement.launch_line import LINUX_READ, MAC_READ, Network, Policy, changeable, leads_through
from tooltray.servers.launch.command_lookup import look_up, program_name


class StateFolder(msgspec.Struct, frozen=True):
    """The folder of one server.

    Attributes:
        root: absolute.
    """

    root: Path

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def work(self) -> Path:
        """Returns where the server runs unless its entry names another place."""
        return self.root / "work"

    @property
    def packages(self) -> Path:
        return self.root / "packages"

    @property
    def written(self) -> tuple[str, ...]:
        """Returns the folders that the server itself may write."""
        return tuple(map(str, (self.tmp, self.cache, self.work)))

    def prepare(self) -> None:
        """Creates missing folders, each 0700.

        Raises:
            OSError: one cannot be created.
        """
        for folder in (self.root.parent, self.root, self.tmp, self.cache, self.work, self.packages):
            folder.mkdir(mode=0o700, exist_ok=True)


def state_folder(confined: Path, server: str) -> StateFolder:
    """Returns the folder of a server.

    Args:
        confined: the folder of all confined servers.
    """
    return StateFolder(confined / file_stem(server))


def forget(confined: Path, server: str) -> None:
    """Deletes the folder of a server that was removed."""
    with suppress(OSError):
        shutil.rmtree(state_folder(confined, server).root)


def rename(confined: Path, before: str, after: str) -> None:
    """Moves the folder of a server to its new name. A package of uv has absolute paths in it, so it is installed again at the next start;
    one of npm stays as it is.

    Raises:
        OSError: it cannot be moved.
    """
    old, new = state_folder(confined, before).root, state_folder(confined, after).root
    if old.is_dir():
        shutil.rmtree(new, ignore_errors=True)  # of an earlier server of that name
        old.rename(new)


COMPANIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("npx", "npm", "pnpm", "pnpx", "yarn"), ("node", "npm")),
    **dict.fromkeys(("uvx", "uv"), ("uv", "python3")),
    "pipx": ("python3",),
}
"""Programs that launchers start by bare name."""
SYSTEM_READ = MAC_READ if sys.platform == "darwin" else LINUX_READ
RUNTIMES = (
    *(".pyenv", ".nvm", ".volta", ".asdf", ".nodenv", ".rbenv", ".fnm", ".n", "n", ".bun", ".deno", ".sdkman"),
    *(
        ".local/share/uv",
        ".local/share/mise",
        ".local/share/fnm",
        ".local/share/pnpm",
        "miniconda3",
        "anaconda3",
        "miniforge3",
        "mambaforge",
    ),
)
"""In the home: folders in which version managers keep interpreters, and nothing else."""
PROGRAM_FOLDERS = ("bin", "sbin", "shims")
_INSTALLED = ("pyvenv.cfg", "lib/node_modules", "lib/python*", "include/node", "package.json", "shims", "conda-meta")
_PACKAGE = ("package.json", "pyproject.toml", "setup.py", "requirements.txt", "node_modules", "Cargo.toml", "go.mod", "deno.json", ".git")
_PACKAGES = ("node_modules", "site-packages", "dist-packages")
_CODE = (".js", ".mjs", ".cjs", ".ts", ".py", ".pyz", ".rb", ".php", ".jar", ".sh", ".dll")
_SHEBANG = lazy_pattern(rb"#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
MAX_LINE_BYTES = 1024
MAX_LINKS = 40  # links in a row: the kernel's own limit


def program_paths(program: str, *, env: Mapping[str, str], cwd: str, guarded: GuardedFolders, changeable: Sequence[str] = ()) -> set[str]:
    """Returns the paths that must be readable for a program to run.

    Args:
        program: absolute.
        env: its environment, whose PATH counts for interpreters and companions.
        changeable: folders that the program itself may write. The program may have changed links and scripts in them, so the target of such
            a link, or of such a script's first line, counts only if it is a runtime.
    """
    found, waiting, seen = set[str](), [(program, True)], set[str]()
    while waiting:
        path, is_certain = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for hop in _hops(path):
            if not is_of_system(hop) and (is_certain or _is_runtime(hop, guarded)):
                found |= {hop, *_installation(hop, guarded)}
            is_certain = is_certain and not leads_through(hop, changeable)
        names = [_interpreter(os.path.realpath(path)), *COMPANIONS.get(program_name(path), ())]
        waiting += [(each, is_certain) for name in names if name and (each := look_up(name, env=env, cwd=cwd).resolved)]
    return found


def _is_runtime(path: str, guarded: GuardedFolders) -> bool:
    """Reports whether a path is in a folder in which a version manager keeps interpreters."""
    return any(is_below(path, os.path.join(guarded.home, each)) for each in RUNTIMES)


def is_of_system(path: str) -> bool:
    """Reports whether a path is in a folder that every confined program may read and only the system changes."""
    return any(is_below(path, folder) for folder in SYSTEM_READ)


def package_of(path: str, guarded: GuardedFolders) -> str:
    """Returns the package that a file of code belongs to, with the packages beside it: the folder of installed packages that contains the
    file, or the next folder above that looks like a package; else only the file."""
    for name in _PACKAGES:
        before, found, _ = path.partition(f"/{name}/")
        if found and not guarded.why_not(installed := f"{before}/{name}"):
            return installed
    folder = os.path.dirname(path)
    while not guarded.why_not(folder):
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in _PACKAGE):
            return folder
        folder = os.path.dirname(folder)
    return path


def is_code(path: str) -> bool:
    return path.endswith(_CODE)


def paths_among(args: Sequence[str], guarded: GuardedFolders) -> Iterator[str]:
    """Yields the existing absolute paths among arguments, as `/srv`, `~/notes` or `--root=/srv`; links in them stay."""
    for word in args:
        for text in (word, word.partition("=")[2]):
            if text.startswith(("/", "~/")) and "\0" not in text and os.path.exists(path := guarded.whole(text)):
                yield path


def _hops(path: str) -> Iterator[str]:
    """Yields the path, and each one that it leads to as a link."""
    for _ in range(MAX_LINKS):
        yield path
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    yield os.path.realpath(path)


def _installation(program: str, guarded: GuardedFolders) -> Iterator[str]:
    folder = os.path.dirname(program)
    root = os.path.dirname(folder)
    if os.path.basename(folder) not in PROGRAM_FOLDERS:
        return
    if os.path.realpath(root) in (os.path.realpath(guarded.home), os.path.realpath(os.path.join(guarded.home, ".local"))):
        yield from glob(os.path.join(glob_safe(root), "lib", "python*"))
        yield from glob(os.path.join(glob_safe(root), "lib", "node_modules"))
    elif any(glob(os.path.join(glob_safe(root), mark)) for mark in _INSTALLED) and not guarded.why_not(root):
        yield root


def glob_safe(path: str) -> str:
    """Returns a path in which no character is a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _interpreter(script: str) -> str | None:
    """Returns the program that a script's first line names; None: it is not a script, or cannot be read."""
    try:
        with open(script, "rb") as opened:
            found = _SHEBANG.match(opened.readline(MAX_LINE_BYTES))
    except OSError:
        return None
    if not found:
        return None
    program, word = os.fsdecode(found[1]), os.fsdecode(found[2] or b"")
    return word if os.path.basename(program) == "env" else program


MODULES = "node_modules"
MAX_FILE_BYTES = 1_000_000  # of a direct_url.json, which has a line, or a pyproject.toml, which has some pages
FILE_BYTES = 2 * 2**30  # models and databases have a gigabyte; a larger file probably fills the disk by mistake
PROCESSES = 8192  # of the user in all, threads too: a desktop with a browser has some thousands, a fork bomb stops here
_NETWORKS: Mapping[str, Network] = {"open": "all", "none": "none", "hosts": "proxy"}


def hoisted_modules(path: str) -> Iterator[str]:
    """Yields the `node_modules` that Node.js looks into for a file of code, the nearest first."""
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder):
        if os.path.basename(folder) != MODULES and os.path.isdir(modules := os.path.join(folder, MODULES)):
            yield modules
        folder = os.path.dirname(folder)


def editable_sources(environment: str, changeable: Sequence[str]) -> Iterator[str]:
    """Yields the projects that a virtual environment imports packages from without copying them.

    Args:
        changeable: folders that the server may write: a `direct_url.json` there is ignored.
    """
    for note in glob(os.path.join(glob_safe(environment), "lib", "python*", "site-packages", "*.dist-info", "direct_url.json")):
        package = os.path.basename(os.path.dirname(note)).partition("-")[0]
        if not leads_through(note, changeable) and (source := _editable(_bytes(note))) and _normal(package) in _names(source):
            yield source


def _bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(MAX_FILE_BYTES)
    except OSError:
        return b""


def _editable(note: bytes) -> str | None:
    """Returns the folder of an editable install; None for any other install."""
    try:
        found = json.loads(note)
        is_editable, url = found["dir_info"]["editable"] is True, urlsplit(found["url"])
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    path = unquote(url.path)
    return path if is_editable and url.scheme == "file" and os.path.isabs(path) and "\0" not in path else None


def _names(project: str) -> Iterator[str]:
    """Yields the names that a project gives itself."""
    import tomllib  # compiles long expressions

    try:
        found = tomllib.loads(_bytes(os.path.join(project, "pyproject.toml")).decode(errors="replace"))
    except (ValueError, RecursionError):
        return
    tool = found.get("tool")
    for table in (found.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(table, dict) and isinstance(name := table.get("name"), str):
            yield _normal(name)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run.

    Attributes:
        program: absolute.
        env: its whole environment.
        cwd: where it runs; absolute.
        project: the folder that it works for; empty: none.
        bundles: the folder of all bundles; a server that runs in one may read it.
        proxy_port: of the hub's proxy for it; 0: it has none, and reaches no hosts.
    """

    program: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    state: StateFolder
    guarded: GuardedFolders
    bundles: str
    project: str
    proxy_port: int


class Profile(msgspec.Struct, frozen=True):
    """A policy, and the named paths that are missing in it.

    Attributes:
        left_out: the named paths that the server does not get, each as a sentence for the user.
    """

    policy: Policy
    left_out: tuple[Phrase, ...] = ()


def profile_of(subject: Subject, chosen: Confinement) -> Profile:
    """Returns the profile of a server for a choice."""
    port = subject.proxy_port
    network: Network = _NETWORKS[chosen.network] if port or chosen.network != "hosts" else "none"
    if chosen.files == "open":
        return Profile(Policy(read=("/",), write=("/",), network=network, proxy_port=port))
    named = _Named(subject.guarded)
    named_read = named.usable(chosen.read)
    folders = {*named.usable(chosen.write), *named.usable(_given(subject))}
    write = {*folders} if chosen.files == "own" else set[str]()
    read = {*_own_read(subject, changeable((*subject.state.written, *write))), *named_read, *(folders - write)}
    return Profile(_policy(subject, read, write, network), tuple(dict.fromkeys(named.left_out)))


def preparing_policy(subject: Subject, folder: str) -> Policy:
    """Returns the policy of a server's installation: it gets the network, but no folder that the server may write, and no named path.

    Args:
        folder: the one that it may write. In no other folder of packages may it change files, since other servers may share them.
    """
    read = program_paths(subject.program, env=subject.env, cwd=subject.cwd, guarded=subject.guarded)
    return Policy(read=tuple(sorted(read)), write=(folder,), file_bytes=FILE_BYTES, processes=PROCESSES)


def _policy(subject: Subject, read: set[str], write: set[str], network: Network) -> Policy:
    return Policy(
        read=tuple(sorted(read - write)),
        write=(*subject.state.written, *sorted(write)),
        network=network,
        proxy_port=subject.proxy_port,
        private_tmp=str(subject.state.tmp),
        file_bytes=FILE_BYTES,
        processes=PROCESSES,
    )


def _own_read(subject: Subject, changeable: Sequence[str]) -> set[str]:
    """Returns the program, its interpreter, and its package."""
    guarded, cwd = subject.guarded, os.path.realpath(subject.cwd)
    found = program_paths(subject.program, env=subject.env, cwd=subject.cwd, guarded=guarded, changeable=changeable)
    for path in (subject.program, *paths_among(subject.args, guarded)):
        real = os.path.realpath(path)
        if not leads_through(path, changeable) and os.path.isfile(real) and is_code(real) and guarded.why_not(path) is None:
            found |= {package_of(path, guarded), package_of(real, guarded)}
            found |= {each for each in hoisted_modules(real) if guarded.why_not(each) is None}
    sources = (source for folder in sorted(found) for source in editable_sources(folder, changeable))
    found |= {each for each in sources if guarded.why_not(each) is None}
    found.add(str(subject.state.packages))
    return found | ({cwd} if is_below(cwd, os.path.realpath(subject.bundles)) else set())


def _given(subject: Subject) -> list[str]:
    """Returns the project, the folder in which the server runs, and the paths among its arguments, without its code and its own folders."""
    args = [path for path in paths_among(subject.args, subject.guarded) if os.path.isdir(path) or not is_code(path)]
    own = [os.path.realpath(each) for each in (subject.bundles, str(subject.state.root))]
    given = [*filter(None, [subject.project]), subject.cwd, *args]
    return [path for path in given if not (_is_fixed(real := os.path.realpath(path)) or any(is_below(real, each) for each in own))]


def _is_fixed(path: str) -> bool:
    """Reports whether a path belongs to the system; a folder in /opt may be a user's project."""
    return is_of_system(path) and not is_below(path, "/opt")


class _Named:
    """The paths that an entry names, without those that a server must never get; these are in `left_out`."""

    def __init__(self, guarded: GuardedFolders) -> None:
        self._guarded = guarded
        self.left_out: list[Phrase] = []

    def usable(self, paths: Iterable[str]) -> list[str]:
        """Returns the whole paths that may be given. Links in them stay: `launch_line` leaves out the target of such a link in a writable
        folder."""
        usable = []
        for path in paths:
            if why := self._guarded.why_not(path):
                self.left_out.append(Phrase("It does not get {path}: {why}", path=path, why=why))
            else:
                usable.append(self._guarded.whole(path))
        return usable
