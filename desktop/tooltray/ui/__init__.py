"""The tray and the window. The only package, with app.py, that imports PySide6 or qasync.

`shell` has the window, the tray and the table of pages; each subject has a room with its page, its sheets and its commands; `pages` is what
they are built on. Views draw frozen snapshots and emit what the user wants; a page's commands carry it out through the Qt presenter layer.
"""
