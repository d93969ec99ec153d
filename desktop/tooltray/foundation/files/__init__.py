"""How files are read and written so that nothing is lost: atomic writes, edits in place, JSON with places, a watcher."""
