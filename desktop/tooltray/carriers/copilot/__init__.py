"""The tools of the hub as tools of a program that is built on github-copilot-sdk.

    from tooltray.carriers.copilot import copilot_tools

    tools = await copilot_tools()
    session = await client.create_session(tools=tools.merge(own_tools), ...)

Above it: a person's own program. Below it: the hub's control channel. The SDK is imported when tools are made, and not before: Tooltray
does without it.
"""

from tooltray.carriers.copilot.copilot_tools import CALL_TIMEOUT_S, CopilotTools, copilot_tools

__all__ = ["CALL_TIMEOUT_S", "CopilotTools", "copilot_tools"]
