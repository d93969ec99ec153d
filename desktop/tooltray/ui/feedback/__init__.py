"""The windows in which the user answers a model's report. Begin with `feedback_window`."""
