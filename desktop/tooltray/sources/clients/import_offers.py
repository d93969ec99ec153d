"""One server that can be imported: how it is shown, and the entry and the secrets that are stored."""

import re
from collections.abc import Collection, Mapping
from typing import ClassVar

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.ai_clients import FoundSecret, ImportCandidate
from tooltray.foundation.snapshots.forms import FieldValue, FormField
from tooltray.sources.clients.import_sources import Found
from tooltray.sources.entries.placeholders import filled_in
from tooltray.sources.entries.portable_entry import SHORTEST_KNOWN, PortableEntry, without_secrets
from tooltray.sources.entries.server_entries import ORIGIN
from tooltray.sources.foreign_entries.entry_reading import ReadServer

Entry = JsonObject
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")
_UNUSUAL = re.compile("[^A-Za-z0-9_.-]+")


class Offer(HidesFields, frozen=True):
    """A server that can be imported.

    Attributes:
        read: its entry in our spelling; None: it cannot be used.
        found: every place where it was found.
    """

    hidden: ClassVar = ("read", "found")

    candidate: ImportCandidate
    found: tuple[Found, ...]
    read: ReadServer | None = None

    def stored_as(self, name: str, given: Mapping[str, FieldValue], known: Collection[str]) -> tuple[Entry, dict[str, str]]:
        """Returns the entry for the settings, and the secrets to store by their names.

        Args:
            name: under which it is added.
            given: the user's values for the fields.
            known: values of other secrets, which are found in every text.

        Raises:
            TooltrayError: a value is missing, or cannot be used.
        """
        if self.read is None:
            raise _unusable(self.candidate)
        values = {field.key: _given(field, given) for field in self.read.asks}
        plain = {_asked(field.key): values[field.key] for field in self.read.asks if not field.is_secret}
        try:
            stored = masked(name, filled_in(self.read.entry, plain), {*known, *self.read.read})
        except CannotUse as error:
            raise TooltrayError(Phrase("'{name}' cannot be imported", name=name), error.reason) from None
        secrets = {_secret_name(name, field.key, stored.values): field.key for field in self.read.asks if field.is_secret}
        entry = filled_in(stored.entry, {_asked(key): f"${{secret:{secret}}}" for secret, key in secrets.items()})
        origin = {"kind": "client" if self.candidate.sources[0].client else "text", "client": self.candidate.sources[0].client}
        return {**entry, ORIGIN: origin}, {**stored.values, **{secret: values[key] for secret, key in secrets.items()}}


def masked(name: str, entry: Mapping[str, object], known: Collection[str]) -> PortableEntry:
    """Returns an entry with placeholders for its secrets, and their values.

    Args:
        name: of the server, and so the beginning of the secrets' names.
        known: values of secrets, which are found in every text.

    Raises:
        CannotUse: a secret and a placeholder are in one text: stored secrets are filled in unchanged, so the placeholder would stay.
    """
    found = without_secrets(name, entry, known)
    mixed = {secret: value for secret, value in found.values.items() if "${" in value}
    rests = [_PLACEHOLDER.sub("", value) for value in mixed.values()]
    if any(looks_secret("", rest) or any(value in rest for value in known if len(value) >= SHORTEST_KNOWN) for rest in rests):
        raise CannotUse(Phrase("a secret and a placeholder stand in one text; keep one of them"))
    back = {f"${{secret:{secret}}}": value for secret, value in mixed.items()}
    return PortableEntry(filled_in(found.entry, back), {secret: value for secret, value in found.values.items() if secret not in mixed})


def found_secrets(values: Mapping[str, str]) -> tuple[FoundSecret, ...]:
    """Returns what is shown of secrets: their keys, and by what they were recognised.

    Args:
        values: of secrets by their names, as in `masked`.
    """
    return tuple(FoundSecret(secret.rpartition("/")[2], "form" if looks_secret("", value) else "name") for secret, value in values.items())


def _asked(key: str) -> str:
    return f"${{input:{key}}}"


def _secret_name(server: str, key: str, taken: Collection[str]) -> str:
    name = f"{server}/{_UNUSUAL.sub('_', key)}"
    return name if name not in taken else f"{name}_asked"


def _given(field: FormField, given: Mapping[str, FieldValue]) -> str:
    """
    Raises:
        TooltrayError: the value is missing, or cannot be used.
    """
    value = given.get(field.key, field.default)
    if not isinstance(value, str) or not value:
        raise TooltrayError(Phrase("'{name}' is missing", name=field.label), Phrase("its client asks for it, and keeps it nowhere"))
    if field.choices and value not in field.choices:
        raise TooltrayError(Phrase("'{name}' cannot be used", name=field.label), Phrase("it is none of the choices"))
    if "${" in value and not field.is_secret:
        raise TooltrayError(Phrase("'{name}' cannot be used", name=field.label), Phrase("it would be taken for a placeholder"))
    return value


def _unusable(candidate: ImportCandidate) -> TooltrayError:
    problem = candidate.problem
    assert problem is not None
    return TooltrayError(problem.title, problem.message, problem.hint)
