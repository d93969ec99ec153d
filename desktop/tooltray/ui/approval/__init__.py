"""Everything that asks the user: the windows about a waiting call or a command's request, and servers' questions.

Begin with `call_view`.
"""
