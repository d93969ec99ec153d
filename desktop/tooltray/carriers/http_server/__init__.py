"""What everything that serves HTTP stands on: a bound address, a guard, responses, event streams."""
