"""Reports of models to the person (`collect_feedback`), and the answers."""
