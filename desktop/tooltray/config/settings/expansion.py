"""Fills in an entry's placeholders: `${secret:NAME}`, `${VAR}`, `${VAR:-default}`, `{project_path}`, `{project_name}`, and `~/`.

Secrets come from a SecretSource, and variables from a mapping of the caller's. The rules:
- Placeholders work in `command`, `args`, `env`, `cwd`, the URL, the headers and `oauth.clientSecret`; in values, not in names of variables
  or headers.
- `${VAR:-default}` is the default if the variable is unset or empty, as in a shell. `${VAR}` of an empty variable is empty; of an unset one
  it is an error. A default is plain text: it ends at the first `}`.
- A filled-in value is never searched again: a secret may contain `${`.
- `~/` at the beginning of `command` and `cwd` (and a `cwd` that is `~`) is the user's home folder.
- `$VAR`, `$$` and a `${` that is never closed are text. Any other `${...}` is an error and not text: the likely reason is another program's
  spelling (`${env:VAR}`, `${input:id}`), and a server that gets it literally fails in ways that are hard to understand.
- `{project_path}` and `{project_name}` count if a server is started for a project, but not in `command`, which only the user chooses.
  Text and values are read in one pass, so that no placeholder in a filled-in value counts. Doubled braces and any other
  `{...}` are text. In a URL and in headers, characters that are not allowed there are percent-encoded.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import ClassVar, Protocol
from urllib.parse import quote

from tooltray.config.secrets.vaults import SecretMissing, missing
from tooltray.config.settings.server_config import MCPServerConfig, OAuthSettings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject

_PLACEHOLDER = lazy_pattern(r"\$\{([^}]*)\}")
_OURS_OR_PROJECT = lazy_pattern(_PLACEHOLDER.pattern + r"|(?<!\{)\{(project_path|project_name)\}(?!\})")
_LIKE_OURS = lazy_pattern(r"(?<![{$])\{([A-Za-z][A-Za-z0-9_-]{0,39})\}(?!\})")
_IN_URL = {"project_path": "/", "project_name": ""}  # a name is one segment of a path, or of the host
_IN_HEADERS = "".join(map(chr, range(0x20, 0x7F)))
_SECRET = lazy_pattern(r"secret:([^{}]+)")
VARIABLE_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = lazy_pattern(rf"({VARIABLE_NAME.pattern})(?::-([^{{}}]*))?")  # a default that contains a brace is half of a nested placeholder


class SecretSource(Protocol):
    """A source of secrets by the names that entries have for them."""

    async def get(self, name: str) -> str:
        """Returns the value of a secret.

        Raises:
            TooltrayError: it does not exist, or cannot be read.
        """
        ...


class ResolvedServer(HidesFields, frozen=True):
    """An entry with everything filled in. It holds secrets: it goes only to the code that starts the server, and is never stored or shown.

    Attributes:
        command, cwd, url: None if the entry has none.
        env: the entry's own variables only.
        secret_names: the secrets that were used, in the order of their first use.
    """

    hidden: ClassVar = ("command", "args", "env", "cwd", "url", "headers", "oauth")

    command: str | None
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    url: str | None
    headers: Mapping[str, str]
    secret_names: tuple[str, ...]
    oauth: OAuthSettings | None


async def resolve(
    config: MCPServerConfig, *, secrets: SecretSource, environ: Mapping[str, str], server: str = "", project: SessionProject | None = None
) -> ResolvedServer:
    """Fills in an entry's placeholders.

    Args:
        config: the entry.
        secrets: where secrets are looked up.
        environ: where variables are looked up: the user's login-shell environment.
        server: the server's name, for error messages.
        project: the server is started for this project, with its template as the arguments.

    Raises:
        SecretMissing: a secret does not exist; names it, and the field that needs it.
        SecretsAbsent, SecretsLocked, SecretsDenied: the secrets cannot be read.
        TooltrayError: a variable is unset, or a placeholder is malformed; explains which and where.
    """
    filler = _Filler(secrets, environ, server)
    plain, words = _values(project), config.template if project else config.args
    in_url = {name: quote(value, safe=_IN_URL[name]) for name, value in plain.items()}
    in_headers = {name: quote(value, safe=_IN_HEADERS) for name, value in plain.items()}
    return ResolvedServer(
        command=await filler.fill_path(config.command, "command", {}),
        args=tuple([await filler.fill(word, f"args[{index}]", plain) for index, word in enumerate(words)]),
        env={name: await filler.fill(value, f"env.{name}", plain) for name, value in config.env.items()},
        cwd=await filler.fill_path(config.cwd, "cwd", plain),
        url=None if config.base_url is None else await filler.fill(config.base_url, "the URL", in_url),
        headers={name: await filler.fill(value, f"header {name}", in_headers) for name, value in config.custom_headers.items()},
        oauth=await _fill_oauth(config.oauth, filler),
        secret_names=tuple(filler.values),
    )


async def fill_text(text: str, place: str, *, secrets: SecretSource, environ: Mapping[str, str], server: str) -> str:
    """Fills in one text that belongs to a server, but not to its program.

    Args:
        place: the place of the text, for error messages.

    Raises:
        TooltrayError: as `resolve`.
    """
    return await _Filler(secrets, environ, server).fill(text, place, {})


async def _fill_oauth(oauth: OAuthSettings | None, filler: "_Filler") -> OAuthSettings | None:
    if oauth is None or oauth.client_secret is None:
        return oauth
    return oauth.model_copy(update={"client_secret": await filler.fill(oauth.client_secret, "oauth.clientSecret", {})})


def _values(project: SessionProject | None) -> Mapping[str, str]:
    return {"project_path": project.path, "project_name": project.name} if project else {}


def shown_target(config: MCPServerConfig, project: SessionProject | None) -> str:
    """Returns the command line or URL for a project, or for none, as it may be shown: only the project is filled in."""
    values, words = _values(project), config.template if project else config.args

    def fill(text: str) -> str:
        closed = _closed(text)
        return _OURS_OR_PROJECT.sub(lambda found: values.get(found[2] or "", found[0]), closed) + text[len(closed) :]

    url = fill(config.base_url) if config.base_url else None
    return config.model_copy(update={"args": tuple(map(fill, words)), "base_url": url, "deferred_startup": False}).target


def needs_project(config: MCPServerConfig) -> bool:
    """Returns whether an entry has a project's placeholder although it is started without a project."""
    texts = (*config.args, *config.env.values(), config.cwd or "", config.base_url or "", *config.custom_headers.values())
    return any(found[2] for text in texts for found in _OURS_OR_PROJECT.finditer(_closed(text)))


def project_remark(config: MCPServerConfig) -> str:
    """Returns a remark on braces that a server started for a project gets unchanged although they look like placeholders; empty if none."""
    if not config.deferred_startup:
        return ""
    texts = (*config.template, *config.env.values(), config.cwd or "", config.base_url or "", *config.custom_headers.values())
    found = [name for text in texts for name in _LIKE_OURS.findall(text) if name not in _IN_URL]
    found += _LIKE_OURS.findall(config.command or "")  # the command, in which no project is filled in
    if not found:
        return ""
    names = ", ".join(f"{{{name}}}" for name in dict.fromkeys(found))
    return f"{names} is handed over as it is written: only {{project_path}} and {{project_name}} are filled in, and not in the command"


def has_secret(text: str) -> bool:
    """Returns whether a text names a secret."""
    return any(_SECRET.fullmatch(inner) for inner in _PLACEHOLDER.findall(_closed(text)))


def secret_names(config: MCPServerConfig) -> tuple[str, ...]:
    """Returns the secrets that an entry needs, in the order of their first use."""
    return secrets_in(*_texts(config))


def variable_names(config: MCPServerConfig) -> tuple[str, ...]:
    """Returns the variables that an entry names, also those with a default."""
    return variables_in(*_texts(config))


def secrets_in(*texts: str) -> tuple[str, ...]:
    """Returns the secrets that texts name, in the order of their first use."""
    wanted = (_SECRET.fullmatch(inner) for inner in _placeholders(texts))
    return tuple(dict.fromkeys(found[1] for found in wanted if found))


def variables_in(*texts: str) -> tuple[str, ...]:
    """Returns the variables that texts name, also those with a default."""
    wanted = (_VARIABLE.fullmatch(inner) for inner in _placeholders(texts))
    return tuple(dict.fromkeys(found[1] for found in wanted if found))


def needed_variables(config: MCPServerConfig) -> frozenset[str]:
    """Returns the variables without a default in at least one place: unless they are set, the server does not start."""
    wanted = (_VARIABLE.fullmatch(inner) for inner in _placeholders(_texts(config)))
    return frozenset(found[1] for found in wanted if found and found[2] is None)


def _texts(config: MCPServerConfig) -> tuple[str, ...]:
    return (
        config.command or "",
        *config.args,
        *(config.template if config.deferred_startup else ()),
        *config.env.values(),
        config.cwd or "",
        config.base_url or "",
        *config.custom_headers.values(),
        (config.oauth.client_secret or "") if config.oauth else "",
    )


def _placeholders(texts: Iterable[str]) -> list[str]:
    return [inner for text in texts for inner in _PLACEHOLDER.findall(_closed(text))]


def _closed(text: str) -> str:
    """Returns a text up to the last brace: without it, the search for each unclosed placeholder would run to the end of the whole text."""
    return text[: text.rfind("}") + 1]


class _Filler:
    """One run of `resolve`, which reads each secret once."""

    def __init__(self, secrets: SecretSource, environ: Mapping[str, str], server: str) -> None:
        self._secrets = secrets
        self._environ = environ
        self._whose = Phrase("server '{name}'", name=server) if server else Phrase("the server")
        self.values: dict[str, str] = {}

    async def fill_path(self, text: str | None, place: str, project: Mapping[str, str]) -> str | None:
        if text is None:
            return None
        if text.startswith("~/") or text == "~":
            home = self._environ.get("HOME") or "~"
            return home + await self.fill(text[1:], place, project)
        return await self.fill(text, place, project)

    async def fill(self, text: str, place: str, project: Mapping[str, str]) -> str:
        """Fills in a text.

        Args:
            project: its values by the names of its placeholders; without them those are text.
        """
        return "".join([part async for part in self._parts(text, place, project)])

    async def _parts(self, text: str, place: str, project: Mapping[str, str]) -> AsyncIterator[str]:
        end = 0
        for found in _OURS_OR_PROJECT.finditer(_closed(text)):
            yield text[end : found.start()]
            yield project.get(found[2], found[0]) if found[2] else await self._value(found[1], place)
            end = found.end()
        yield text[end:]

    async def _value(self, inner: str, place: str) -> str:
        if secret := _SECRET.fullmatch(inner):
            return await self._secret(secret[1], place)
        if variable := _VARIABLE.fullmatch(inner):
            return self._variable(variable[1], variable[2], place)
        message = f"{self._whose} has it in {place}"
        hint = "Write ${secret:NAME}, ${VARIABLE} or ${VARIABLE:-default}"
        raise TooltrayError(f"'${{{inner}}}' is not understood", message, hint)

    async def _secret(self, name: str, place: str) -> str:
        if name not in self.values:
            try:
                self.values[name] = await self._secrets.get(name)
            except SecretMissing:
                raise missing(name, self._needs(place)) from None
            except TooltrayError as error:
                problem = error.problem
                message = f"{problem.message}; {self._whose} needs secret '{name}' in {place}"
                raise type(error)(problem.title, message, problem.hint) from None
        return self.values[name]

    def _needs(self, place: str) -> str:
        return Phrase("{whose} needs it in {place}", whose=self._whose, place=place)

    def _variable(self, name: str, default: str | None, place: str) -> str:
        value = self._environ.get(name)
        if default is not None:
            return value or default
        if value is None:
            command = f"tooltray secrets set {quoted(name)}"
            hint = Phrase(
                "Set it in your shell's profile, write {default}, or write {secret} and store it: {command}",
                default=f"${{{name}:-default}}",
                secret=f"${{secret:{name}}}",
                command=command,
            )
            title = Phrase("Variable {name} is not set", name=name)
            raise TooltrayError(title, self._needs(place), hint)
        return value
