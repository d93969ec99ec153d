"""Reports of models and the user's answers: the tool `collect_feedback`. Begin with `feedbacks`."""
