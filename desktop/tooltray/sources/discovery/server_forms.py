"""The options to install one server of a registry, the values that each needs, and the entry that is made of the answers.

Nothing is stored or started here. Words are never joined or split; each of the user's values is put where the description has it, and the
entry has only placeholders for secrets.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import ClassVar
from urllib.parse import quote, urlsplit

import msgspec

from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.discovery import RegistryOption
from tooltray.foundation.snapshots.entries import FieldKind, FieldValue, FormField
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.sources.discovery.registry_json import (
    BUNDLE,
    LAUNCHERS,
    Argument,
    Described,
    Input,
    Package,
    Remote,
    check_words,
    host,
    is_pinned,
    odd_runtime_word,
    pinned,
    problem_of,
    refused,
    shown,
)
from tooltray.sources.entries.form_answers import REFERENCE, read_answers, read_number

MADE = ("type", "command", "args", "env", "url", "headers")
"""Members of an entry that are made here."""
MAX_FIELDS = 200  # of one option; the largest published has some forty
_BRACES = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OPTION = re.compile(r"[-/]{0,2}[A-Za-z0-9][\w.:-]*=?", re.ASCII)
_FOR_SHELLS = re.compile(r"[;&|`<>\n]|\$\(")
_KINDS: Mapping[str, FieldKind] = {"number": "number", "boolean": "boolean", "filepath": "file"}
_RUNS_MORE = re.compile(
    r"(?i)PATH|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON\w+|BASH_ENV|ENV|SHELL|COMSPEC|npm_config_\w+|UV_\w+|PIP_\w+|GIT_\w+|DOCKER_\w+"
)  # variables that make a program run other code than it appears to
_REACHES_OUT = re.compile(r"-v|--volumes?|--mount|--network|--net|--pid|--ipc|--userns|--group-add|-u|--user|--add-host|-p|--publish")

Store = Callable[[str, str], str]
"""Stores a secret by its key and value; returns the placeholder."""


class Choice(msgspec.Struct, frozen=True):
    """An option to install a server, with its source.

    Attributes:
        keys: the key of the form's field for each input of the source.
    """

    option: RegistryOption
    what: Package | Remote
    keys: "Keys"


class Made(HidesFields, frozen=True):
    """The result of the answers; `secrets` are values by the names of their placeholders."""

    hidden: ClassVar = ("secrets",)

    entry: JsonObject
    secrets: dict[str, str]
    answers: JsonObject
    warnings: tuple[Problem, ...] = ()


class Keys:
    """The fields of an option's form, with a unique key for each input."""

    def __init__(self) -> None:
        self.fields: dict[str, FormField] = {}
        self._of: dict[int, str] = {}
        self._inputs: list[Input] = []  # keeps them alive, so that an id is not reused by another input

    def ask(self, wanted: str, value: Input, *, is_list: bool = False) -> None:
        key = wanted
        number = 2
        while key in self.fields:
            key, number = f"{wanted}-{number}", number + 1
        self.fields[key] = _field(key, value, is_list=is_list)
        self._of[id(value)] = key
        self._inputs.append(value)

    def key(self, value: Input) -> str:
        return self._of[id(value)]


def choices_of(server: Described) -> list[Choice]:
    """Returns all options to install a server, also those that do not work here."""
    packages = [_of_package(f"{each.kind}-{number}", each) for number, each in enumerate(server.packages, 1)]
    return packages + [_of_remote(f"remote-{number}", each) for number, each in enumerate(server.remotes, 1)]


def find_choice(server: Described, option: str) -> Choice:
    """
    Args:
        option: its id; empty: the first that can be installed.

    Raises:
        TooltrayError: the option does not exist, or it cannot be installed.
    """
    choices = choices_of(server)
    usable = (each for each in choices if each.option.problem is None)
    found = next((each for each in choices if each.option.id == option), None) if option else next(usable, next(iter(choices), None))
    if found is None:
        ids = ", ".join(each.option.id for each in choices)
        title = Phrase("'{server}' has no option '{option}'", server=server.name, option=shown(option))
        raise TooltrayError(
            title, Phrase("Available: {options}", options=ids) if ids else Phrase("The registry describes no way to install it")
        )
    if (problem := found.option.problem) is not None:
        raise TooltrayError(problem.title, problem.message, problem.hint)
    return found


def made_of(choice: Choice, values: Mapping[str, FieldValue], *, server: str) -> Made:
    """Makes the entry of the user's answers; not for a bundle, which is installed in another way.

    Args:
        values: by the keys of the option's fields; a field without a value has its default.
        server: the name that the server will have; its secrets are named after it.

    Raises:
        TooltrayError: a value is missing or not allowed; the error names it.
    """
    answers = read_answers(choice.option.fields, values)
    filling = _Filling(choice.keys, answers, server)
    entry = filling.package(choice.what) if isinstance(choice.what, Package) else filling.remote(choice.what)
    warnings = list(_warnings(choice.what, entry, filling.secret_arguments))
    return Made(entry, filling.secrets, filling.kept(), tuple(warnings))


def fingerprint(entry: JsonMapping) -> str:
    """Returns a hash that shows whether the members made here were changed by hand."""
    return sha256(json.dumps([entry.get(member) for member in MADE], sort_keys=True).encode()).hexdigest()[:16]


# options


def _of_package(id: str, package: Package) -> Choice:
    keys = Keys()
    problem = problem_of(package)
    if problem is None and package.kind != BUNDLE:
        words = (*_inputs(package.runtime_arguments), *_inputs(package.package_arguments), *(value for _, value in package.environment))
        named = [each.name for each in (*package.runtime_arguments, *package.package_arguments) if each.name]
        problem = _too_many(words) or check_words([*_texts(words), *named]) or _check_names(package, named)
        if problem is None:
            _ask_all(keys, package)
    launcher = LAUNCHERS.get(package.kind)
    label = package.identifier if launcher is None or problem else pinned(package)
    label = label if package.kind == BUNDLE and not problem else shown(label)
    fields = () if problem else tuple(keys.fields.values())
    return Choice(RegistryOption(id, package.kind, label, launcher.program if launcher else "", fields, problem), package, keys)


def _too_many(values: Iterable[Input]) -> Problem | None:
    """Refuses a form that is too long to fill in, and that would take long to make."""
    if sum(max(1, len(value.variables)) for value in values) <= MAX_FIELDS:
        return None
    return refused(Phrase("it asks for more than {most} values", most=MAX_FIELDS))


def _check_names(package: Package, named: Sequence[str]) -> Problem | None:
    if (odd := next((name for name in named if not _OPTION.fullmatch(name)), None)) is not None:
        return refused(Phrase("'{text}' is not an option", text=shown(odd)))
    if (odd := next((name for name, _ in package.environment if not _VARIABLE.fullmatch(name)), None)) is not None:
        return refused(Phrase("'{text}' is not a variable name", text=shown(odd)))
    if word := odd_runtime_word(package):
        return refused(Phrase("with '{text}' something else than its package would run", text=shown(word)))
    return None


def _of_remote(id: str, remote: Remote) -> Choice:
    keys = Keys()
    problem = _remote_problem(remote)
    if problem is None:
        known = dict(remote.variables)
        for name in dict.fromkeys(_BRACES.findall(remote.url)):
            keys.ask(name, known.get(name) or Input(is_required=True))
        for header, value in remote.headers:
            _ask(keys, header, value)
    fields = () if problem else tuple(keys.fields.values())
    return Choice(RegistryOption(id, "remote", shown(remote.url), "", fields, problem), msgspec.structs.replace(remote), keys)


def _remote_problem(remote: Remote) -> Problem | None:
    if remote.type not in ("streamable-http", "sse"):
        return refused(Phrase("its transport '{text}' is unknown", text=shown(remote.type)))
    if problem := _too_many(value for _, value in (*remote.headers, *remote.variables)):
        return problem
    if problem := check_words([remote.url, *_texts([value for _, value in (*remote.headers, *remote.variables)])]):
        return problem
    if (odd := next((name for name, _ in remote.headers if not _HEADER.fullmatch(name)), None)) is not None:
        return refused(Phrase("'{text}' is not a header name", text=shown(odd)))
    example = _BRACES.sub("x", remote.url)
    return (
        None if remote.url.startswith("{") or is_address(example) else refused(Phrase("'{text}' is not an address", text=shown(remote.url)))
    )


def is_address(url: str) -> bool:
    """Reports whether a server may have this address: https, or http on this machine, without a user name or password."""
    try:
        parts = urlsplit(url)
        is_own = (parts.hostname or "") in ("localhost", "127.0.0.1", "::1")
        is_whole = bool(parts.hostname) and parts.username is None and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return is_whole and (parts.scheme == "https" or (parts.scheme == "http" and is_own)) and not re.search(r"[\s\x00-\x1f\\]", url)


def _ask_all(keys: Keys, package: Package) -> None:
    for name, value in package.environment:
        _ask(keys, name, value)
    for is_runtime, arguments in ((True, package.runtime_arguments), (False, package.package_arguments)):
        for number, each in enumerate(arguments, 1):
            if not _is_flag(each, is_runtime=is_runtime):
                _ask(keys, each.name.lstrip("-") or each.hint or f"argument-{number}", each.input, is_list=each.is_repeated)


def _ask(keys: Keys, wanted: str, value: Input, *, is_list: bool = False) -> None:
    """Adds the fields of an input; a fixed value needs only its variables."""
    if value.value is None:
        keys.ask(wanted, value, is_list=is_list)
        return
    known = dict(value.variables)
    for name in dict.fromkeys(_BRACES.findall(value.value)):
        if name in known:
            keys.ask(name, known[name])


def _is_flag(argument: Argument, *, is_runtime: bool) -> bool:
    """Reports whether an argument is an option without a value, since nothing in its description indicates one."""
    value = argument.input
    says = (value.default, value.choices, value.placeholder, argument.hint, value.is_required, value.is_secret, value.value is not None)
    return bool(argument.name) and not any(says) and value.format == "string" and (is_runtime or not value.description)


def _field(key: str, value: Input, *, is_list: bool) -> FormField:
    kind: FieldKind = "choice" if value.choices else _KINDS.get(value.format, "text")
    return FormField(
        key=key,
        label=key,
        kind=kind,
        description=value.description,
        placeholder=value.placeholder,
        is_required=value.is_required,
        is_secret=value.is_secret or (kind == "text" and looks_secret(key, "")),
        is_list=is_list,
        default=_default(value, kind, is_list=is_list),
        choices=value.choices,
    )


def _default(value: Input, kind: FieldKind, *, is_list: bool) -> str | float | bool | tuple[str, ...] | None:
    given = value.value if value.default is None else value.default
    if given is None or (kind == "choice" and given not in value.choices):
        return None
    if kind == "boolean":
        return given == "true"
    if kind == "number":
        return read_number(given)
    return (given,) if is_list else given


def _inputs(arguments: Iterable[Argument]) -> Iterator[Input]:
    return (each.input for each in arguments)


def _texts(values: Iterable[Input]) -> list[str]:
    """Returns the texts that a stranger has written into values."""
    found: list[str] = []
    for value in values:
        found += [text for text in (value.value, value.default, *value.choices) if text]
        found += _texts(each for _, each in value.variables)
    return found


# the entry


class _Filling:
    """The making of one entry from answers."""

    def __init__(self, keys: Keys, answers: Mapping[str, tuple[str, ...]], server: str) -> None:
        self._keys, self._answers, self._server = keys, answers, server
        self.secrets: dict[str, str] = {}
        self.secret_arguments: list[str] = []
        self._in_arguments = False
        self._placeholders: dict[tuple[str, str], str] = {}  # by key and value

    def kept(self) -> JsonObject:
        """Returns the answers to store for a newer version of the server, with placeholders for secrets."""
        kept: JsonObject = {}
        for key, texts in self._answers.items():
            if placed := [self._placeholders.get((key, text), text) for text in texts]:
                kept[key] = placed if self._keys.fields[key].is_list else placed[0]
        return kept

    def package(self, package: Package) -> JsonObject:
        launcher = LAUNCHERS[package.kind]
        env = {name: text for name, value in package.environment for text in self._values(value)}
        self._in_arguments = True
        runtime = self._words(package.runtime_arguments, is_runtime=True)
        words = [*launcher.first, *_without(runtime, launcher.first)]
        if package.kind == "oci":
            words += [word for name in env for word in ("-e", name)]
        behind = self._words(package.package_arguments, is_runtime=False)
        words += [pinned(package), *launcher.behind]
        words += ["--", *behind] if launcher.behind and behind else behind
        return {"command": launcher.program, "args": words} | ({"env": env} if env else {})

    def remote(self, remote: Remote) -> JsonObject:
        known = dict(remote.variables)
        url = _BRACES.sub(lambda found: self._in_url(found, known), remote.url)
        if not is_address(REFERENCE.sub("x", url)):
            raise TooltrayError(Phrase("'{text}' is not an address", text=shown(url)), "", Phrase("Check what you gave for it"))
        headers = {name: text for name, value in remote.headers for text in self._values(value)}
        if (odd := next((name for name, text in headers.items() if re.search(r"[\r\n]", text)), None)) is not None:
            raise TooltrayError(Phrase("The value of '{field}' cannot be used", field=odd), Phrase("it has a line break in it"))
        kind = "http" if remote.type == "streamable-http" else "sse"
        return {"type": kind, "url": url} | ({"headers": headers} if headers else {})

    def _in_url(self, found: re.Match[str], known: Mapping[str, Input]) -> str:
        """Returns a value of the URL, encoded so that it cannot end its part of the URL, unless the URL begins with the value."""
        name = found[1]
        key = self._keys.key(known[name]) if name in known else name
        is_whole = found.start() == 0
        texts = self._answers[key] or ("",)
        return self._kept_secret(key, texts[0], encode=(lambda text: text) if is_whole else lambda text: quote(text, safe=""))

    def _words(self, arguments: Iterable[Argument], *, is_runtime: bool) -> list[str]:
        words: list[str] = []
        for each in arguments:
            if _is_flag(each, is_runtime=is_runtime):
                words.append(each.name)
                continue
            for text in self._values(each.input):
                words += _worded(each, text)
        return words

    def _values(self, value: Input) -> list[str]:
        """Returns the texts for an input; empty without an answer."""
        if value.value is None:
            key = self._keys.key(value)
            return [self._kept_secret(key, text) for text in self._answers[key]]
        known, is_complete = dict(value.variables), True

        def fill(found: re.Match[str]) -> str:
            nonlocal is_complete
            if found[1] not in known:
                return found[0]
            key = self._keys.key(known[found[1]])
            texts = self._answers[key]
            is_complete = is_complete and bool(texts)
            return self._kept_secret(key, texts[0]) if texts else ""

        filled = _BRACES.sub(fill, value.value)
        return [filled] if is_complete else []

    def _kept_secret(self, key: str, text: str, *, encode: Callable[[str], str] = str) -> str:
        """Returns a value for the entry: the placeholder of a secret, any other value encoded."""
        field = self._keys.fields[key]
        is_secret = field.is_secret or (field.kind == "text" and looks_secret(key, text))  # publishers forget to mark secrets
        if not is_secret or not text:
            return text if REFERENCE.fullmatch(text) else encode(text)
        if self._in_arguments:
            self.secret_arguments.append(key)
        if REFERENCE.fullmatch(text):
            return text
        if (key, text) not in self._placeholders:
            name = self._free_secret(re.sub(r"[^A-Za-z0-9_.-]", "_", key).lstrip("-.") or "SECRET")
            self.secrets[name], self._placeholders[key, text] = encode(text), f"${{secret:{name}}}"
        return self._placeholders[key, text]

    def _free_secret(self, wanted: str) -> str:
        name, number = f"{self._server}/{wanted}", 2
        while name in self.secrets:
            name, number = f"{self._server}/{wanted}-{number}", number + 1
        return name


def _worded(argument: Argument, text: str) -> list[str]:
    """Returns the words of an option with its value; a boolean option is present for true and absent for false."""
    if not argument.name:
        return [text]
    if argument.input.format == "boolean" and argument.input.value is None:
        return [argument.name] if text == "true" else []
    return [argument.name + text] if argument.name.endswith("=") else [argument.name, text]


def _without(words: list[str], first: Sequence[str]) -> list[str]:
    """Returns a publisher's words for the launcher without those that Tooltray puts before them anyway."""
    also = {"--yes": "-y", "--interactive": "-i"}
    return [word for word in words if also.get(word, word) not in first]


# warnings for the user


def _warnings(what: Package | Remote, entry: JsonMapping, secret_arguments: Sequence[str]) -> Iterator[Problem]:
    if isinstance(what, Remote):
        return
    if not is_pinned(what):
        yield Problem(Phrase("Its version is not pinned"), Phrase("each start takes the newest one there is"))
    for key in dict.fromkeys(secret_arguments):
        title = Phrase("'{key}' is a secret and an argument", key=shown(key))
        yield Problem(title, Phrase("other programs on this computer can read the arguments of a running one"))
    fixed = _texts([*_inputs(what.runtime_arguments), *_inputs(what.package_arguments)])
    for text in (text for text in fixed if _FOR_SHELLS.search(text)):
        title = Phrase("'{text}' looks like a command for a shell", text=shown(text))
        yield Problem(title, Phrase("no shell sees it: the program gets it as one argument"))
    for name in (name for name, value in what.environment if value.value is not None and _RUNS_MORE.fullmatch(name)):
        yield Problem(Phrase("It sets the variable {name}", name=name), Phrase("which decides what else runs with it"))
    for word in (word for word in entry.get("args", ()) if what.kind == "oci" and _REACHES_OUT.fullmatch(word.partition("=")[0])):
        title = Phrase("Its container is started with '{text}'", text=shown(word))
        yield Problem(title, Phrase("it reaches something outside itself by that"))


def place_of(choice: Choice) -> str:
    """Returns where a server that is not a bundle comes from, to show to the user."""
    what = choice.what
    return shown(host(what.url) or what.url) if isinstance(what, Remote) else f"{what.kind}: {shown(pinned(what))}"
