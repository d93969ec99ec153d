"""One opened server: its pane with tabs, its activity and logs, its tools, its settings as a form and as JSON, a test."""
