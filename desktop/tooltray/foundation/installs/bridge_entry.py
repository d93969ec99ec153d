"""The entry that the user pastes into an AI client's config: it starts the bridge."""

import json
import os
from collections.abc import Mapping
from typing import Any

from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs.installation import this_installation
from tooltray.foundation.installs.installations import Installations
from tooltray.foundation.programs import bridge_command


def bridge_entry(home: Home, environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Returns the entry for one home, in the form that most AI clients read.

    For an installed Tooltray it has the one path that never changes (installs.installations), also before its first hub has written it. A
    checkout that has not taken that path names its own interpreter and script, with absolute paths: AI clients have another PATH than a
    terminal. A home other than the default one is named, because AI clients pass no TOOLTRAY_HOME.

    Args:
        environ: where HOME is looked up, to find out whether the home is the default one.
    """
    own = default_home(environ)
    command, *arguments = _command(own, is_own=home == own)
    if home != own:
        arguments += ["--home", str(home.root)]
    return {"mcpServers": {"tooltray": {"command": command, "args": arguments}}}


def _command(own: Home | None, *, is_own: bool) -> list[str]:
    if own is None:
        return bridge_command()
    installations = Installations(own)
    has_path = installations.owner and os.access(installations.path, os.X_OK)
    is_on_its_way = is_own and installations.will_give_path(this_installation())  # a hub of another home writes nothing
    return [str(installations.path)] if has_path or is_on_its_way else bridge_command()


def bridge_entry_text(home: Home) -> str:
    """Returns the entry as JSON, indented for pasting."""
    return json.dumps(bridge_entry(home), indent=2, ensure_ascii=False)
