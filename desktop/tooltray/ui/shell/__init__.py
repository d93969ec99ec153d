"""The tray, the window with its navigation, and the desktop's life. Knows which pages exist, and nothing of their content.

Begin with `desktop`, then `main_window`.
"""
