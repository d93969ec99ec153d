"""What servers list: ToolManager, PromptManager, ResourceManager; lists, names, overrides, costs."""
