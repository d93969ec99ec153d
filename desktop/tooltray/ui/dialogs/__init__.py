"""What is shown over the window's content, as sheets: nothing here has an event loop of its own."""
