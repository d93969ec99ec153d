"""Everything that asks the user: the windows about a waiting call or a command's request, servers' questions, and the Permissions page."""
