"""What a tool answered, shown: its parts as text, Markdown, JSON as a tree, pictures and sound, whatever a server sent."""
