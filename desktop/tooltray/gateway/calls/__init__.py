"""The path of a request: to a tool, a prompt, a resource or a completion of the right server, and back.

Begin with `request_router`, then `tool_call`.
"""
