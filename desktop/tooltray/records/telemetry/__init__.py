"""Traces of calls for programs that show traces (OpenTelemetry), sent where a person has said so and nowhere else."""
