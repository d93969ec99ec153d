"""The display of a tool's answer: text, Markdown, JSON as a tree, pictures and sound, whatever a server sent. Begin with `result_view`."""
