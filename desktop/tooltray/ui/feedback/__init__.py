"""The windows in which a person answers a model's report."""
