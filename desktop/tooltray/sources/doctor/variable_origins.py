"""Says where the variables of a server's entry came from, by their names and without any value."""

from collections.abc import Callable, Iterator, Mapping

from tooltray.config.settings.expansion import needed_variables, secrets_in, variable_names, variables_in
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.phrases import Phrase


def variable_origins(
    config: MCPServerConfig, file: FileServer | None, environ: Mapping[str, str], origin: Callable[[str], str]
) -> tuple[str, ...]:
    """Returns a line for each variable that the entry sets or fills in.

    Args:
        file: where the entry stands, if that is another file than the settings.
        environ: the person's environment.
        origin: where a variable of it came from.
    """
    entry = Phrase("the entry in {file}", file=file.file) if file else Phrase("the entry")
    return (*_set(config, entry), *_filled_in(config, file, environ, origin))


def _set(config: MCPServerConfig, entry: str) -> Iterator[str]:
    for name, value in config.env.items():
        secrets, variables = secrets_in(value), variables_in(value)
        if secrets:
            yield _from(name, Phrase("the secret {secret}", secret=", ".join(secrets)))
        elif not variables:
            yield _from(name, entry)
        elif variables != (name,):
            yield _from(name, Phrase("{entry}, with {variables} filled in", entry=entry, variables=", ".join(variables)))


def _filled_in(config: MCPServerConfig, file: FileServer | None, environ: Mapping[str, str], origin: Callable[[str], str]) -> Iterator[str]:
    needed = needed_variables(config)
    for name in variable_names(config):
        if file and name in file.entry.commands:
            yield _from(name, Phrase("a command that {file} names", file=file.file))
        elif file and name in file.entry.variables:
            yield _from(name, file.file)
        elif name not in needed and not environ.get(name):
            yield Phrase("{name}: not set; the entry's default is used", name=name)
        elif name in environ:
            yield _from(name, origin(name))
        else:
            yield Phrase("{name}: not set", name=name)


def _from(name: str, origin: str) -> Phrase:
    return Phrase("{name} comes from {origin}", name=name, origin=origin)
