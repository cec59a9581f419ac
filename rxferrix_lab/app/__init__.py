"""What a user writes with: functions, contexts, scheduling, and the app itself."""
