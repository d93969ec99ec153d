"""The tools of the hub as tools of a program that is built on github-copilot-sdk.

    from tooltray.carriers.copilot import copilot_tools

    tools = await copilot_tools()
    session = await client.create_session(tools=tools.merge(own_tools), ...)

The SDK is imported only when tools are made: Tooltray does not need it. Begin with `copilot_tools`.
"""

from tooltray.carriers.copilot.copilot_tools import CALL_TIMEOUT_S, CopilotTools, copilot_tools

__all__ = ["CALL_TIMEOUT_S", "CopilotTools", "copilot_tools"]
