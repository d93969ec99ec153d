"""The command palette: everything that the window can show or do, found while the user types."""
