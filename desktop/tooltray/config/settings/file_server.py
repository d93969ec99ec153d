"""The content of a file with servers in it, whatever its format: servers in our words, and its unusable parts."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import msgspec

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import ANY_SERVER, FileServerSettings, Settings
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.snapshots.setup import FileProblem

Kind = Literal["mcp.json", "tbxark"]
Origin = Literal["project", "served"]
FILE_NAME = ".mcp.json"
"""The name of a project's own file, in the project's folder."""
PROJECT_FOLDER = "CLAUDE_PROJECT_DIR"
"""The variable with the project's folder, for servers of a project's own file, which expect this name."""


class FileEntry(HidesFields, frozen=True):
    """One server of a file.

    Attributes:
        name: in the file.
        config: its entry, in our spelling and with our placeholders; none is filled in.
        written: the same as it is in the file: this is what a person approves.
        line: where it begins, from 1; 0: unknown.
        variables: in which its placeholders are looked up before the user's environment.
        tokens: an AI client has to show one of them at the file's own endpoint; empty: no token is required.
        secret_tokens: further ones that contain `${secret:NAME}`, in our spelling; filled in when they are needed.
        must_run: whether the hub must end if this server does not start.
        logs_calls: whether each of its calls is logged.
    """

    hidden: ClassVar = ("written", "variables", "tokens", "secret_tokens")

    name: str
    config: MCPServerConfig
    written: Mapping[str, object]
    line: int = 0
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    secret_tokens: tuple[str, ...] = ()
    must_run: bool = False
    logs_calls: bool = False

    @property
    def digest(self) -> str:
        """Returns a digest that is the same exactly for the same content, however it is laid out."""
        return digest_of(self.written)


class Endpoint(msgspec.Struct, frozen=True):
    """The address at which a file wants its servers to be served over HTTP, each at `{base_path}/{name}/`.

    Attributes:
        host: empty: every address of this machine.
        port: 0: any that is free.
        base_path: empty, or begins with a slash and ends without one.
        type: which transport of the protocol is spoken there.
        name, version: how it introduces itself.
        public_host: the `Host` of requests that come through another server, as in the file's own URL; empty: not given.
    """

    host: str
    port: int
    base_path: str = ""
    type: Literal["sse", "streamable-http"] = "sse"
    name: str = ""
    version: str = ""
    public_host: str = ""


class FileReading(msgspec.Struct, frozen=True):
    """A file as it was read.

    Attributes:
        path: absolute.
        digest: of its bytes; empty: the file does not exist.
        is_understood: False: its servers are unknown (half of it is written, it cannot be read); the earlier ones stay in use.
        must_be_valid: whether the hub must not run with unusable parts in it.
        endpoint: the HTTP address that the file asks for, if any.
    """

    path: str
    kind: Kind
    digest: str = ""
    is_understood: bool = True
    entries: tuple[FileEntry, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    endpoint: Endpoint | None = None
    must_be_valid: bool = False


class FileServer(msgspec.Struct, frozen=True):
    """A server of a file that is in use, as the hub knows it by name.

    Attributes:
        entry: its entry.
        file: absolute.
        origin: whether it is from a project's own file, or from one that the hub was started with.
        folder: where it runs unless its entry defines another; absolute, empty: as every other server.
        project: the folder whose sessions are the only ones to have it; empty: all sessions.
    """

    entry: FileEntry
    file: str
    origin: Origin
    folder: str
    project: str = ""


def with_file_servers(own: Settings, files: Mapping[str, FileServer]) -> Settings:
    """Returns the settings with the servers of other files beside their own. If two have the same name, the settings' own counts."""
    others = {name: server for name, server in files.items() if name not in own.mcp_servers}
    if not others:
        return own
    for_all = own.file_servers.get(ANY_SERVER, FileServerSettings())
    chosen = {name: own.file_servers.get(name, for_all) for name in others}
    configs = {name: chosen[name].applied(server.entry.config) for name, server in others.items()}
    defaults = [name for name in others if chosen[name].is_default is not False]
    return own.model_copy(update={"mcp_servers": {**own.mcp_servers, **configs}, "default_servers": (*own.default_servers, *defaults)})
