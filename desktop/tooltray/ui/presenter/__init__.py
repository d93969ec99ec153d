"""The Qt presenter layer: one QObject per class of the engine's presenter, living in the GUI thread. Views know these and nothing else."""
