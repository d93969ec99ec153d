"""The entry that a person pastes into an AI client's config: it starts the bridge.

Above it: the command line and the desktop app. Below it: the home. Knows no AI client's own format.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.home.home import Home, find_home
from tooltray.programs import bridge_command


def bridge_entry(home: Home, environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The entry for one home, in the form that most AI clients read.

    The interpreter and the script stand in it with absolute paths and no console script between: AI clients have another PATH than a
    terminal, and a shim costs more time than the bridge. A home other than the default one is named; AI clients pass no TOOLTRAY_HOME.

    Args:
        environ: where HOME is looked up, to tell whether the home is the default one.
    """
    command, *arguments = bridge_command()
    if home != default_home(environ):
        arguments += ["--home", str(home.root)]
    return {"mcpServers": {"tooltray": {"command": command, "args": arguments}}}


def default_home(environ: Mapping[str, str] = os.environ) -> Home | None:
    """The home of a person who asks for no other one; None where nothing says where that person's folder is."""
    try:
        return find_home(None, {name: value for name, value in environ.items() if name != "TOOLTRAY_HOME"})
    except TooltrayError:
        return None


def bridge_entry_text(home: Home) -> str:
    """The same as JSON, indented for pasting."""
    return json.dumps(bridge_entry(home), indent=2, ensure_ascii=False)
