"""What is kept among the secrets for servers, where no hub runs.

Above it: settings_hub, which makes this while it holds the hub's lock. Below it: ServerSecrets, and the files of a home.
"""

from tooltray.cli.terminal import print_note
from tooltray.config.files.trust_store import TrustStore
from tooltray.config.home import Home
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.secrets import SecretStore
from tooltray.presenter.secret_uses import Names
from tooltray.presenter.server_secrets import ServerSecrets
from tooltray.presenter.sign_ins.token_store import TokenStore


def server_secrets(home: Home, config: McpConfHelper, secrets: SecretStore) -> ServerSecrets:
    """Of a home: its settings, and the projects that it knows."""

    def projects() -> Names:
        store = TrustStore(home.trust)
        if store.problem:
            print_note(str(store.problem))
        return {folder: {entry: kept.server for entry, kept in entries.items()} for folder, entries in store.kept.items()}

    return ServerSecrets(config=config, secrets=secrets, sign_ins=TokenStore(home.sign_ins, secrets), projects=projects)
