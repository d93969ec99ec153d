"""The tray and the window. The only package, with app.py, that imports PySide6 or qasync.

`shell` has the window, the tray and the table of pages; each subject has a package with its page, its sheets and its commands, built on
`pages`. Views draw frozen snapshots and emit what the user wants; a page's commands carry it out through the Qt presenter layer."""
