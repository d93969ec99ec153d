"""The tray and the window. The only package, with app.py, that imports PySide6 or qasync.

Above it: app.py. Below it: events, errors, tasks and resources; `presenter/link.py` alone knows the engine. Views draw frozen snapshots and
emit what a person wants; commands.py carries it out through the Qt presenter layer.
"""
