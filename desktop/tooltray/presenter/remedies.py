"""Carries out what the doctor proposes.

Above it: McpPresenter. Below it: the settings, the npm registries and the servers.
"""


class Remedies:
    """Belongs to the engine's loop."""

    async def apply(self, server: str, kind: str, value: str) -> str:
        return ""
