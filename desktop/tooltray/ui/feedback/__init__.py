"""The windows in which the user answers a model's report."""
