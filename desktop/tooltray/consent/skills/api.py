"""The API about skills of servers. The user may look at a skill that is blocked or switched off before any AI client gets it."""

from collections import Counter
from collections.abc import Mapping

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.skills.skill_catalogue import KnownSkill, SkillBook, SkillCatalogue
from tooltray.consent.skills.skills import ReadingFailed, SkillReading, Skills, text_of
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import SkillSnapshot
from tooltray.foundation.verbs import JsonObject, verb, when_enabled
from tooltray.protocol.envelope import load
from tooltray.servers.upstream.server_manager import ServerManager


class SkillsApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        catalogue: SkillCatalogue,
        skills: Skills,
        book: SkillBook,
        skill_reading: SkillReading,
    ) -> None:
        self._config, self._servers, self._catalogue, self._skills, self._book = config, servers, catalogue, skills, book
        self._reading = skill_reading

    async def get_skills(self, server: str | None = None) -> list[SkillSnapshot]:
        """Returns the skills of all servers, or of one; including skills that are disabled or blocked until reviewed.

        Raises:
            NotFound: the server is unknown.
        """
        if server is not None:
            self._servers.get(server)
        known = await self._catalogue.listed()
        names = Counter(name for _, name in {(each.server, each.skill.name) for each in known})
        return [self._snapshot(each, names) for each in known if server in (None, each.server)]

    @verb("call")
    async def get_skill(self, skill: str) -> JsonObject:
        """Returns one skill as its server has it now: its entry, with `server`, `uri` as AI clients know it, and the `text` of its
        SKILL.md.

        Args:
            skill: its URI as AI clients know it, or its name if no other skill has it.

        Raises:
            NotFound: the skill is unknown, or several have this name.
            TooltrayError: its server failed.
        """
        known = await self._find(skill)
        failed = Phrase("the skill '{name}' could not be read", name=known.skill.name)
        try:
            text = text_of(await self._reading.result(known.server, known.skill.uri), known.skill.uri)
        except (ReadingFailed, ValueError) as error:
            raise TooltrayError(failed, str(error)) from None
        return {**load(known.skill.raw), "server": known.server, "uri": known.uri, "text": text}

    @verb(trusted=when_enabled)
    async def set_skill_enabled(self, server: str, skill: str, enabled: bool) -> None:
        """Enables or disables a skill for AI clients.

        Args:
            skill: its URI as its server has it, or its name.

        Raises:
            NotFound: the server is unknown, or has no such skill.
            TooltrayError: the settings cannot be written.
        """
        self._servers.get(server)
        same = {
            word
            for each in await self._catalogue.listed()
            if each.server == server and skill in (each.skill.uri, each.skill.name)
            for word in (each.skill.uri, each.skill.name)
        }
        disabled: Mapping[str, None] = dict.fromkeys(self._config.settings.mcp_servers[server].disabled_skills)
        if not same and skill not in disabled:
            raise _unknown(skill)
        others = [each for each in disabled if each != skill and (each not in same or not enabled)]
        await self._config.change_server(server, disabled_skills=others if enabled else [*others, skill])

    async def _find(self, skill: str) -> KnownSkill:
        known = await self._catalogue.listed()
        if found := next((each for each in known if each.uri == skill), None):
            return found
        named = [each for each in known if each.skill.name == skill]
        if len(named) > 1:
            hint = Phrase("Choose one by its URI: {uris}", uris=", ".join(each.uri for each in named))
            raise NotFound(Phrase("Several skills are called '{skill}'", skill=skill), hint=hint)
        if not named:
            raise _unknown(skill)
        return named[0]

    def _snapshot(self, known: KnownSkill, names: Mapping[str, int]) -> SkillSnapshot:
        skill = known.skill
        files = skill.files or {}
        return SkillSnapshot(
            uri=known.uri,
            server=known.server,
            own_uri=skill.uri,
            name=skill.name,
            description=skill.description,
            file_count=len(files),
            size_bytes=sum(each.size_bytes for each in files.values()),
            is_dynamic=skill.files is None,
            is_enabled=self._skills.is_enabled(known.server, skill),
            is_held=self._book.is_held(known.server, skill),
            is_shared_name=names[skill.name] > 1,
        )


def _unknown(skill: str) -> NotFound:
    return NotFound(Phrase("Skill '{skill}' not found", skill=skill), hint=Phrase("See which there are: tooltray skills list"))
