"""What is kept among the secrets for servers, where no hub runs.

Above it: settings_hub, which makes this while it holds the hub's lock. Below it: ServerSecrets, and the files of a home.
"""

import functools
from typing import Any

from tooltray.cli.terminal import print_note
from tooltray.entries.proposal_store import ProposalStore
from tooltray.entries.secret_uses import Names
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.home.home import Home
from tooltray.secrets.secrets import SecretStore
from tooltray.server_files.trust_store import TrustStore
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.sign_ins.token_store import TokenStore


def server_secrets(home: Home, config: McpConfHelper, secrets: SecretStore) -> ServerSecrets:
    """Of a home: its settings, and the projects that it knows."""

    @functools.cache  # no hub runs, so that nobody else writes it
    def trust() -> TrustStore:
        store = TrustStore(home.trust)
        if store.problem:
            print_note(str(store.problem))
        return store

    def projects() -> Names:
        return {folder: {entry: kept.server for entry, kept in entries.items()} for folder, entries in trust().kept.items()}

    sign_ins = TokenStore(home.sign_ins, secrets)

    def proposed() -> dict[str, Any]:
        return {name: kept.entry for name, kept in ProposalStore(home.proposals).kept.items()}

    return ServerSecrets(config=config, secrets=secrets, sign_ins=sign_ins, projects=projects, lost=lambda: trust().lost, proposed=proposed)
