"""What a user would pick instead, on the same subscriptions and events as ours: functions from a task to an answer."""
