"""Scenes of the Secrets tab: what is missing, stored, unused, locked; and its sheets."""

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.config.secrets.keyring_vault import ANSWER
from tooltray.config.secrets.keyring_vault import LOCKED as THE_KEYRING
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.settings.secret_sheets import SecretEntry
from tooltray.ui.settings.secrets_tab import SecretsTab
from tooltray.ui.theme import Theme

S = SecretSnapshot
NO_OP = Problem(
    Phrase("'{program}' is not installed", program="op"),
    hint=Phrase("Install it, or correct the command in the tab Secrets of the settings"),
)
NO_VAULT = Problem(Phrase("Command '{name}' not found", name="vault"), Phrase("secretCommands does not have it"))
COMMANDS = {"op": ["op", "read", "op://Work/GitHub/credential"], "bws": ["sh", "-c", "bws secret get 1 | jq -r .value"]}
SECRETS = (
    S("github/GITHUB_TOKEN", True, ("github",)),
    S("linear/API_KEY", False, ("linear",)),
    S("oauth/notion", True, ("notion",), kind="sign-in"),
    S("old-server/API_KEY", True),
    S("old-server/SECRET", True),
    S("postgres/DATABASE_URI", False, ("postgres", "postgres-readonly")),
    S("team/OPENAI_API_KEY", True, ("memory", "search", "/home/me/projects/shop/.mcp.json")),
    S("pass:work/api-key", None, ("search",), kind="provided", origin="pass, work/api-key"),
    S("command:op", None, ("fetch",), kind="provided", origin="your command 'op'", problem=NO_OP),
    S("command:vault", None, ("search",), kind="provided", origin="your command 'vault'", problem=NO_VAULT),
    S("tooltray-backups", True, kind="own"),
    S("密鑰/GITHUB <b>🔑</b> a name that is far longer than any column of this table could ever be", True, ("fetch",)),
)
OPEN = StoredSecrets("keyring", True, None, SECRETS)
LOCKED = Problem(THE_KEYRING, Phrase("its prompt was closed or not answered"), ANSWER)


async def opened(
    theme: Theme, secrets: StoredSecrets = OPEN, size: tuple[int, int] | None = None, commands: dict[str, list[str]] | None = None
) -> tuple[Shot, SecretsTab]:
    result = await desk(theme)
    result.engine.stored_secrets = secrets
    result.engine.settings["secretCommands"] = commands or {}
    tab = result.open_secrets()
    await until(lambda: tab._reading.isHidden() and not len(result.tasks))
    return Shot(result, size=size), tab


async def secrets(theme: Theme) -> Shot:
    return (await opened(theme))[0]


async def secrets_small(theme: Theme) -> Shot:
    return (await opened(theme, size=(900, 600)))[0]


async def secrets_none(theme: Theme) -> Shot:
    return (await opened(theme, StoredSecrets("memory", True)))[0]


async def secrets_locked(theme: Theme) -> Shot:
    unknown = tuple(replace(each, is_stored=None) for each in SECRETS if each.used_by)
    return (await opened(theme, StoredSecrets("keyring", False, LOCKED, unknown)))[0]


async def secret(theme: Theme) -> Shot:
    shot, tab = await opened(theme)
    tab.open_secret(SECRETS[6])
    return shot


async def secret_elsewhere(theme: Theme) -> Shot:
    return (await opened(theme, commands=COMMANDS, size=(1180, 1180)))[0]


async def secret_command(theme: Theme) -> Shot:
    shot, tab = await opened(theme, commands=COMMANDS)
    tab.open_secret(SECRETS[8])
    return shot


async def secret_new(theme: Theme) -> Shot:
    shot, tab = await opened(theme)
    tab._new.click()
    return shot


async def secret_refused(theme: Theme) -> Shot:
    shot, tab = await opened(theme)
    shot.desk.engine.failures["set_secret"] = TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint)
    shot.desk.engine.stored_secrets = replace(OPEN, is_proven=False, problem=LOCKED)
    tab.open_secret(SECRETS[1])
    panel = shot.desk.window.sheet.panel
    entry = panel.findChild(SecretEntry)
    entry.findChild(QLineEdit).setText("dummy value")
    QTest.keyClick(entry.findChild(QLineEdit), Qt.Key.Key_Return)
    await until(lambda: not len(shot.desk.tasks))
    return shot


async def secret_sign_in(theme: Theme) -> Shot:
    shot, tab = await opened(theme)
    tab.open_secret(SECRETS[2])
    return shot


SCENES = (
    secrets,
    secrets_small,
    secrets_none,
    secrets_locked,
    secret,
    secret_elsewhere,
    secret_command,
    secret_new,
    secret_refused,
    secret_sign_in,
)
