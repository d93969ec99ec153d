"""The four classes that everything goes through: McpPresenter over ServerManager, ToolManager and McpClient."""
