"""surroundings.py: which variables the placeholders of a config find."""

from pathlib import Path

from msgspec.structs import replace
from tests.fakes.served_hub import FILE, entry

from tooltray.carriers.mcp.served.surroundings import in_surroundings
from tooltray.config.settings.file_server import FileReading, Kind
from tooltray.config.settings.server_config import MCPServerConfig

ENVIRON = {"TOKEN": "t", "FOLDER": "here", "UNASKED": "u"}
ASKING = replace(
    entry("fetch"), config=MCPServerConfig(command="${RUN:-run}", args=("${TOKEN}", "${FOLDER}")), variables={"FOLDER": "of the entry"}
)


def read(path: Path, kind: Kind | None) -> FileReading:
    return FileReading(str(path), kind or "tbxark", "1", entries=(ASKING, entry("plain")))


def test_a_served_config_finds_what_it_asks_for_where_the_hub_was_started_unless_it_says_otherwise_itself() -> None:
    asking, plain = in_surroundings(read, ENVIRON)(Path(FILE), None).entries
    assert asking.variables == {"TOKEN": "t", "FOLDER": "of the entry"}
    assert plain.variables == {}
    assert "'t'" not in repr(asking)


def test_a_projects_own_file_finds_nothing_there() -> None:
    assert in_surroundings(read, ENVIRON)(Path(FILE), "mcp.json") == read(Path(FILE), "mcp.json")
