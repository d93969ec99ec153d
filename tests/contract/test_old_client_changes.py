"""Changes of AI clients' files that earlier versions made are listed and undone by this one, from their encrypted copies.

`client_changes/VERSION.json` is what that version left: the key of its copies, the files before and after, and its records. In it, Gemini
CLI's server was imported, Codex's change was undone, and the process was killed right after Kiro's file was written.
"""

import json
from base64 import b64decode
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome

from tooltray.config.secrets.secrets import BACKUP_SECRET

LEFT = Path(__file__).parent / "client_changes"


@pytest.mark.parametrize("version", ["bd88071"])
async def test_changes_of_an_earlier_version_are_undone_to_the_byte(tmp_path: Path, version: str) -> None:
    home = ClientHome(tmp_path)
    left = json.loads((LEFT / f"{version}.json").read_text().replace("@HOME@", str(tmp_path)))
    await home.secrets.set(BACKUP_SECRET, left["key"])
    for path, content in left["now"].items():
        home.write(path, content)
    for change, record in left["records"].items():
        home.write(f".tooltray/client-changes/{change}.json", json.dumps(record))
    for change, copy in left["copies"].items():
        home.write(f".tooltray/client-changes/{change}.backup", b64decode(copy))

    changes = await home.edits().changes()
    shown = sorted((each.client, each.action, each.servers, each.undo) for each in changes)
    assert shown == [
        ("codex", "connect", ("tooltray",), "none"),
        ("codex", "undo", ("tooltray",), "none"),
        ("cursor", "connect", ("tooltray",), "exact"),
        ("gemini-cli", "remove", ("g",), "exact"),
        ("kiro", "connect", ("tooltray",), "exact"),
    ]
    for change in changes:
        if change.undo != "none":
            await home.edits().undo(change.id)
    assert {path: (tmp_path / path).read_text() for path in left["before"]} == left["before"]
    await home.close()
