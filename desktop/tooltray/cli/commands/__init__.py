"""The commands' functions: a module for each subject, and a function for each command, which options/ names."""
