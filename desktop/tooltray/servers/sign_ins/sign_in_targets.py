"""Makes the target of a sign-in by the user: fills in the placeholders of a server's settings."""

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import resolve
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.login_shell import LoginShell
from tooltray.servers.sign_ins.sign_in_target import Target, target_of, why_no_sign_in


class SignInTargets:
    """A resolver of targets. Belongs to the engine's loop; has no state of its own."""

    def __init__(self, *, secrets: SecretStore, login_shell: LoginShell) -> None:
        self._secrets, self._login_shell = secrets, login_shell

    async def of(self, server: str, config: MCPServerConfig) -> Target:
        """Resolves the target of a sign-in by the user.

        Raises:
            TooltrayError: the settings cannot be filled in, or the user cannot sign in to it.
        """
        environ = await self._login_shell.environ()
        resolved = await resolve(config, secrets=self._secrets, environ=environ, server=server)
        if reason := why_no_sign_in(server, config, resolved):
            raise reason
        target = target_of(server, config, resolved, environ)
        if target.signs_in_itself:
            message = Phrase("its grant is client_credentials: it needs no person")
            raise TooltrayError(
                Phrase("'{server}' signs in by itself", server=server),
                message,
                Phrase("Start it: tooltray servers start {server}", server=server),
            )
        return target
