"""What a hub's start and a quick command import: every module costs half a millisecond of each start, and most of it is imports.

Counts, since times depend on the machine. Whoever needs a few modules more raises a number; a package of NOT_TO_SERVE is imported where it
is first used, and a part of the API is made on demand (foundation/composition.py).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVE = """
import asyncio, json, sys
from pathlib import Path
from tooltray.__main__ import main
from tooltray.cli import run
from tooltray.cli.commands import serve_command
from tooltray.cli.serving import Engine, HubOptions
from tooltray.foundation.home.home import Home

async def start():
    engine = Engine(Home(Path(sys.argv[1])), HubOptions(kind="serve"))
    await engine.start()
    print(json.dumps(list(sys.modules)))
    await engine.close()

asyncio.run(start())
"""
STATUS = """
import json, sys
from tooltray.__main__ import main
sys.argv[1:] = ["--home", sys.argv[1], "status"]
main()
print(json.dumps(list(sys.modules)))
"""
MOST_TO_SERVE, MOST_OF_OURS_TO_SERVE, MOST_FOR_STATUS = 595, 375, 180
NOT_TO_SERVE = {
    *("aiohttp", "anthropic", "cryptography", "httpx", "jeepney", "jsonschema", "keyring", "mcp", "opentelemetry"),
    *("html", "pydantic", "PySide6", "qasync", "ruamel", "secretstorage", "tomllib", "truststore", "yarl"),
}
NOT_FOR_STATUS = {*NOT_TO_SERVE, "asyncio", "hashlib", "logging", "sqlite3", "ssl", "tempfile", "watchfiles"}
IN_A_THREAD = ("multiprocessing", "watchfiles", "pickle", "_compat_pickle")  # while the hub serves already: how many by now is chance
ON_DEMAND = (
    *("tooltray.catalogue.formats.", "tooltray.sources.bundles.api", "tooltray.sources.clients.api", "tooltray.sources.discovery"),
    *("tooltray.sources.doctor.", "tooltray.sources.releases"),
)


def imported(program: str, home: Path) -> list[str]:
    """The modules that a program has imported at its end, by the last line that it prints. It is not measured: that imports more."""
    command = [sys.executable, "-I", "-c", program, str(home / ".tooltray")]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def heavy(modules: list[str], heavy: set[str]) -> set[str]:
    return {each for each in modules if each.partition(".")[0] in heavy}


@pytest.mark.posix
def test_a_hub_that_serves_has_imported_no_more_than_it_needs(home: Path) -> None:
    modules = imported(SERVE, home)
    assert not heavy(modules, NOT_TO_SERVE)
    assert not [each for each in modules if each.startswith(ON_DEMAND)]
    assert len([each for each in modules if not each.startswith(IN_A_THREAD)]) <= MOST_TO_SERVE
    assert len([each for each in modules if each.startswith("tooltray")]) <= MOST_OF_OURS_TO_SERVE


def test_status_has_imported_no_more_than_it_needs(home: Path) -> None:
    modules = imported(STATUS, home)
    assert not heavy(modules, NOT_FOR_STATUS)
    assert len(modules) <= MOST_FOR_STATUS
