"""What jobs, schedules and pools are, and the rules they follow; no clock, no I/O, no async."""
