"""The lists of servers: ToolManager, PromptManager, ResourceManager; names, overrides, costs.

Begin with `tool_manager`; `server_lists` asks servers for their lists, and `catalogue` keeps them on disk for the next start.
"""
