"""Server entries as programs send them: validated strictly; their secrets are stored before anything is written.

Above it: the operations on servers. Below it: the settings' models, and the detection of secrets in entries. In a returned entry each value
that looks like a secret is replaced by `${secret:NAME/KEY}`, and a caller may send it back like that.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tooltray.entries.portable_entry import without_secrets
from tooltray.errors import TooltrayError
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.rest.problems import WHAT_IT_TAKES, Failed
from tooltray.settings.server_config import SPELLINGS, MCPServerConfig
from tooltray.settings.settings import BUILTIN_NAMES, check_name, read_entry

_SPELLED = {spellings[0]: spellings for spellings in SPELLINGS.values()}
FIELDS = {spelling for name, field in MCPServerConfig.model_fields.items() for spelling in SPELLINGS.get(name, (field.alias or name,))}


def entry_schema(**members: Any) -> dict[str, Any]:
    """Returns the JSON schema of an entry.

    Args:
        **members: schemas of additional members; those without a default are required.
    """
    found = MCPServerConfig.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    for part in (found, *found["$defs"].values()):
        part["description"] = part["description"].partition("\n")[0]
    fields = {spelling: schema for field, schema in found["properties"].items() for spelling in _SPELLED.get(field, (field,))}
    fields["transport"] = fields["type"]
    required = [name for name, schema in members.items() if "default" not in schema]
    return found | {"properties": {**members, **fields}, "required": required, "additionalProperties": False}


def read_given(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Validates an entry and returns it in the spelling of `mcpServers`; `transport` is an alias of `type`.

    Raises:
        Failed: the entry has unknown members or cannot be used.
        TooltrayError: the name cannot be used.
    """
    entry = dict(given)
    if "transport" in entry:
        if entry.get("type") not in (None, entry["transport"]):
            raise Failed(422, "The body cannot be used", "type and transport differ; keep one of them")
        entry["type"] = entry.pop("transport")
    if unknown := sorted(entry.keys() - FIELDS):
        raise Failed(422, "The body cannot be used", f"there is no field {', '.join(repr(field) for field in unknown[:5])}", WHAT_IT_TAKES)
    check_name(name, BUILTIN_NAMES)
    try:
        read_entry(name, entry)
    except TooltrayError as error:  # its hint is for people who edit a file
        raise Failed(422, error.problem.title, error.problem.message, WHAT_IT_TAKES) from None
    return entry


async def keep_secrets(
    presenter: McpPresenter, name: str, entry: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Stores values that look like secrets among the secrets; returns the entry with placeholders.

    Args:
        before: the replaced entry. If the new entry has the placeholder for one of its plain values, that value is stored.

    Raises:
        TooltrayError: the secrets cannot be reached.
    """
    portable = without_secrets(name, entry)
    stored, values = portable.entry, portable.values
    if before is not None:
        text = msgspec.json.encode(stored).decode()
        known = without_secrets(name, before).values
        values = {secret: value for secret, value in known.items() if f"${{secret:{secret}}}" in text} | values
    for secret, value in values.items():
        await presenter.secrets.set_secret(secret, value)
    return stored
