"""McpPresenter: the API of a hub, put together from every feature's part of it."""
