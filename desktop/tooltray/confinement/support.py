"""Stand-in."""

import msgspec

from tooltray.settings.confinement import Files, Net


class Support(msgspec.Struct, frozen=True):
    abi: int = 0


def probe() -> Support:
    return Support(7)


def missing(files: Files, network: Net, support: Support) -> tuple[str, ...]:
    return () if support.abi else ("not confined",)


def can_have_hosts(support: Support) -> bool:
    return support.abi >= 4
