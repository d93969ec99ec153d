"""The tray, the window with its navigation, and the desktop's life. Knows which pages there are, and nothing of what they show."""
