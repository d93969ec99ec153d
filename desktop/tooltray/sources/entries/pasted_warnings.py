"""Warns about a pasted server before it is added, as the warnings about entries of projects' files do about the same content."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tooltray.config.foreign_configs.config_source import shown
from tooltray.config.foreign_configs.mcp_json import WITHOUT_EFFECT
from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import OAUTH_MEMBERS, SPELLINGS, MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.sources.project_files.trust_requests import content_warnings

_KNOWN = {
    *(field.alias for field in MCPServerConfig.model_fields.values()),
    *(spelling for spellings in SPELLINGS.values() for spelling in spellings),
    *WITHOUT_EFFECT,
}
_DESTROYS = re.compile(
    r"\brm\s+(?:-\S+\s+)*-\w*[rRf]|\bmkfs\b|\bdd\s[^|;&\n]*\bof=|\bshred\b|Remove-Item|\b(?:del|rd|rmdir)\s+/|\bformat\s+[a-z]:|:\(\)\s*\{",
    re.IGNORECASE,
)
_DOWNLOADS = re.compile(r"\b(?:curl|wget|iwr|Invoke-WebRequest)\b.*(?:\|\s*(?:sudo\s+)?\w*sh\b|\biex\b|-o\b)", re.IGNORECASE | re.DOTALL)


def pasted_warnings(name: str, config: Mapping[str, Any]) -> Iterator[str]:
    """
    Args:
        config: the entry in the spelling of `mcpServers`.
    """
    words = " ".join(str(word) for word in (config.get("command", ""), *config.get("args", ())))
    if _DESTROYS.search(words):
        yield Phrase("it deletes or overwrites files")
    if _DOWNLOADS.search(words):
        yield Phrase("it downloads something and runs it")
    try:
        entry = FileEntry(name, read_entry(name, config), config)
    except TooltrayError:  # the entry cannot be added as it is; adding it reports why
        return
    yield from content_warnings(entry)
    unknown = [key for key, value in config.items() if key not in _KNOWN and value not in (None, "", [], {})]
    if isinstance(oauth := config.get("oauth"), Mapping):
        unknown += [f"oauth.{key}" for key in oauth if key not in OAUTH_MEMBERS]
    if unknown:
        yield Phrase("these members of its entry have no effect here: {names}", names=", ".join(map(shown, unknown)))
