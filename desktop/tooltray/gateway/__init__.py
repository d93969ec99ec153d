"""The path of a request from a client to a server, and of the result back.

Begin with `calls/tool_call.py`, the stages that a call passes.
"""
