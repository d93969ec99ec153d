"""Reading and writing files without losing anything: atomic writes, edits in place, JSON with positions, a watcher."""
