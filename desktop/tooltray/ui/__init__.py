"""The tray and the window. Only this package and `app.desktop` import PySide6 or qasync, and only `link.link` knows the engine.

`shell` has the window, the tray and the table of pages; each subject has a package with its pages, panes and sheets; `kit` is what they are
built on, of `widgets`. Views draw frozen snapshots and await the API's verbs. Begin with `shell.main_window`, then `kit.view`.
"""
