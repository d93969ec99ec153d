"""variable_origins.py"""

from tooltray.config.settings.file_server import FileEntry, FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.sources.doctor.variable_origins import variable_origins


def config_of(**fields: object) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"command": "c", **fields})


def origins(config: MCPServerConfig, file: FileServer | None = None, **environ: str) -> tuple[str, ...]:
    return variable_origins(config, file, environ, lambda name: f"where {name} is from")


def test_each_variable_of_an_entry_says_where_its_value_is_from_and_no_value_is_in_it() -> None:
    config = config_of(
        args=["${A}", "${MISSING}", "${EMPTY:-of-default}", "${B:-of-default}"],
        env={"PLAIN": "value", "KEY": "${secret:s/KEY}", "A": "${A}", "MIXED": "x-${A}"},
    )
    assert origins(config, A="value", B="value", EMPTY="") == (
        "PLAIN comes from the entry",
        "KEY comes from the secret s/KEY",
        "MIXED comes from the entry, with A filled in",
        "A comes from where A is from",
        "MISSING: not set",
        "EMPTY: not set; the entry's default is used",
        "B comes from where B is from",
    )


def test_variables_of_a_file_come_from_it() -> None:
    config = config_of(args=["${A}", "${B}", "${C}"], env={"PLAIN": "value"})
    entry = FileEntry("s", config, {}, variables={"A": "value", "B": "value"}, commands={"B": "pass show b"})
    assert origins(config, FileServer(entry, "/p/.mcp.json", "project"), A="value", C="value") == (
        "PLAIN comes from the entry in /p/.mcp.json",
        "A comes from /p/.mcp.json",
        "B comes from a command that /p/.mcp.json names",
        "C comes from where C is from",
    )
