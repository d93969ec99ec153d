"""Traces of calls for programs that show traces (OpenTelemetry), sent only if the settings name a collector. Begin with `trace_export`."""
