"""What each command does: a module for each subject, and a function for each command, which options/ names."""
