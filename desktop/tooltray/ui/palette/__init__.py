"""The command palette: everything that the window can show or do, found as one types."""
