"""One opened server: its pane with tabs, its settings as a form and as JSON, its confinement, its tools, and a test.

Begin with `server_details`.
"""
