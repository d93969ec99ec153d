"""Reading and writing files without losing anything: atomic writes, edits in place, JSON with positions, a watcher.

Begin with `atomic_file`; `edited_files` is for files that people edit, too.
"""
