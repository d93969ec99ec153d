"""The tray and the window. The only package, with app.py, that imports PySide6 or qasync.

Above it: app/desktop.py. Below it: events, errors, tasks and resources; `presenter/link.py` alone knows the engine. `shell` has the window,
the tray and the table of pages; each subject has a room with its page, its sheets and its commands; `pages` is what they are built on.
Views draw frozen snapshots and emit what a person wants; a page's commands carry it out through the Qt presenter layer.
"""
