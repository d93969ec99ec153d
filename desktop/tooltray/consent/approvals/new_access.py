"""What a server may do that is added, by whatever way: as its adder chose, as its entry says, or as the setting `newServers` has it."""

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.consent.approvals.access import AccessSettings, access_of
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import AccessChoice, AccessSnapshot, usual_access
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.confinement.confinements import CONFINEMENT, Confinements, as_written

RULES, CALL_RULES = "autoApprove", "callRules"
NOT_CAREFUL = Problem(
    Phrase("Careful is not possible, so it is Trusted"), Phrase("the server cannot be sandboxed on this computer; changes still ask")
)


class NewAccess:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, confinements: Confinements) -> None:
        self._config, self._confinements = config, confinements

    def entry(self, name: str, given: JsonMapping, *, chosen: AccessChoice | None = None, is_found: bool = False) -> JsonObject:
        """Returns the entry to store for a new server.

        Args:
            chosen: what it may do, in place of what its entry says; None: what the entry says stays, the setting decides the rest.
            is_found: others describe the server; without the setting it is sandboxed, if that works.

        Raises:
            TooltrayError: the entry cannot be used, or the choice is not possible.
        """
        config = read_entry(name, given)
        if chosen is None:
            settings = self._settings(config, is_found=is_found)
            says = {member for member in (RULES, CONFINEMENT) if given.get(member) is not None}
        elif chosen in access_of(config, self._confinements).offered:
            settings = AccessSettings(tuple(config.auto_approve), config.confinement).with_choice(chosen)
            says = set[str]()
        else:
            raise TooltrayError(
                Phrase("'{server}' cannot be {choice}", server=name, choice=chosen),
                Phrase("it would need a sandbox that it cannot have here"),
            )
        written = {RULES: list(settings.rules), CONFINEMENT: as_written(settings.confinement, is_of_file=False)}
        kept = {member: value for member, value in given.items() if chosen is None or member not in (CONFINEMENT, CALL_RULES)}
        return {**kept, **{member: value for member, value in written.items() if member not in says and value is not None}}

    def expected(self, config: MCPServerConfig) -> MCPServerConfig:
        """Returns what a new server may do without a further question: an entry with only what the setting gives to this one."""
        settings = self._settings(config, is_found=False)
        return MCPServerConfig(command="any", auto_approve=settings.rules, confinement=settings.confinement)

    def shown(self, name: str, entry: JsonMapping) -> tuple[AccessSnapshot, tuple[Problem, ...]]:
        """Returns what a new entry may do, for the user to review, and that it is not as careful as the setting wants."""
        config = read_entry(name, entry)
        is_lacking = self._wanted(is_found=True) == "careful" and config.transport == "stdio" and not self._confinements.suits(config)
        return access_of(config, self._confinements), (NOT_CAREFUL,) if is_lacking else ()

    def _wanted(self, *, is_found: bool) -> AccessChoice:
        return usual_access(self._config.settings.new_servers, is_found=is_found)

    def _settings(self, config: MCPServerConfig, *, is_found: bool) -> AccessSettings:
        choice = self._wanted(is_found=is_found)
        if choice == "careful" and not self._confinements.suits(config):
            choice = "trusted"
        return AccessSettings((), Confinement()).with_choice(choice)
