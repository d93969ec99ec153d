"""McpPresenter: the API of a hub, composed of the parts that the features bring. Begin with `mcp_presenter`."""
