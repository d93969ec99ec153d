"""The target of a sign-in: a server with all placeholders filled in. Also decides whether a server can have a sign-in."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import ClassVar

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.server_config import MCPServerConfig, OAuthSettings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.servers.sign_ins.oauth.addresses import is_safe, origin_of
from tooltray.servers.sign_ins.oauth.reach import Reach
from tooltray.servers.transports.authorization import HEADER


class Target(HidesFields, frozen=True):
    """The server, URL and settings of a sign-in.

    Attributes:
        binding: hash of the settings that decide where and as whom to sign in; tokens are bound to it (see `binding_of`).
        url: the server's URL with placeholders filled in.
        settings: `oauth` of the server's settings with placeholders filled in.
        environ: the user's login-shell environment.
    """

    hidden: ClassVar = ("url", "settings", "environ")

    server: str
    binding: str
    url: str
    settings: OAuthSettings
    environ: Mapping[str, str]

    @property
    def signs_in_itself(self) -> bool:
        """Reports whether the grant is `client_credentials`, which needs no user."""
        return self.settings.grant == "client_credentials"


def why_no_sign_in(server: str, config: MCPServerConfig, resolved: ResolvedServer) -> TooltrayError | None:
    """Returns why the user cannot sign in to a server; None if they can."""
    title, url = f"'{server}' has no sign-in", (resolved.url or "").strip()
    if config.transport not in ("http", "sse"):
        return TooltrayError(title, Phrase("it does not run elsewhere"))
    if config.oauth and not config.oauth.enabled:
        return TooltrayError(title, Phrase("`oauth` is false in its settings"), Phrase("Take that out of its settings first."))
    if any(name.lower() == HEADER.lower() for name in resolved.headers) or _has_user(url):
        hint = Phrase("Take the user or the Authorization header out of its settings first.")
        return TooltrayError(title, Phrase("its settings say already what lets it in"), hint)
    if not is_safe(origin_of(url), within=Reach.COMPUTER):
        return TooltrayError(
            title, Phrase("its URL is not encrypted, and others could read the token"), Phrase("Give the server an https URL.")
        )
    return None


def target_of(server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]) -> Target:
    """Makes the target of a server.

    Args:
        environ: the user's login-shell environment.
    """
    return Target(server, binding_of(config), (resolved.url or "").strip(), resolved.oauth or OAuthSettings(), environ)


def binding_of(config: MCPServerConfig) -> str:
    """Hashes URL and `oauth` as written. Two configs have the same binding exactly if tokens of one may be used for the other."""
    usual = {"send_resource"} if config.oauth and config.oauth.send_resource else None  # bindings of older versions lack it
    oauth = config.oauth.model_dump(mode="json", exclude=usual) if config.oauth else None
    return hashlib.sha256(json.dumps([config.base_url, oauth], sort_keys=True).encode()).hexdigest()[:32]


def _has_user(url: str) -> bool:
    return "@" in re.split("[/?#]", url.partition("://")[2], maxsplit=1)[0]
