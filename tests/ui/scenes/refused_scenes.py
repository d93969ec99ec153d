"""Scenes of what was refused to a confined server: on its card, and in its tab."""

import time

from msgspec.structs import replace
from tests.ui.scenes.opened_desk import SERVERS, desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing
from tooltray.ui.theme import Theme

NOW = time.time()
REFUSED = ConfinementSnapshot(
    "own",
    "hosts",
    hosts=("api.github.com",),
    refused=(
        RefusedThing("host", "telemetry.example.com:443", NOW, 14),
        RefusedThing("path", "/home/me/.config/a-program-with-a-long-name/settings/and/more/of/it/config.toml", NOW - 60),
        RefusedThing("path", "/home/me/notes", NOW - 90, 2, is_write=True),
        RefusedThing("unknown", "", NOW - 100),
    ),
)


async def server_refused(theme: Theme) -> Shot:
    result = await desk(theme, (replace(SERVERS[0], confinement=REFUSED), *SERVERS[1:]))
    result.open_server("filesystem", "access")
    return Shot(result)


async def card_refused(theme: Theme) -> Shot:
    return Shot(await desk(theme, (replace(SERVERS[0], confinement=REFUSED), *SERVERS[1:])))


SCENES = (server_refused, card_refused)
