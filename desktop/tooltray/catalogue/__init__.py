"""The lists of servers: ToolManager, PromptManager, ResourceManager; names, overrides, costs."""
