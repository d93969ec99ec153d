"""The path of a request from a client to a server, and of the result back.

Begin with `calls.request_router`, which distinguishes requests, and `calls.tool_call`, the stages that a tool call passes.
"""
