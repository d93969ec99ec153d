"""One server, opened: its pane with tabs, what it does and says, its tools, its settings as a form and as JSON, a test of it."""
