"""The tray and the window. Only this package and `app.desktop` import PySide6 or qasync, and only `presenter.link` knows the engine.

`shell` has the window, the tray and the table of pages; each subject has a package with its page, its sheets and its commands; `pages` is
what they are built on. Views draw frozen snapshots and emit what a person wants; a page's commands carry it out through the Qt presenter
layer. Begin with `shell.pages`.
"""
