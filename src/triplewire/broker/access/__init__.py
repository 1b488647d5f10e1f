"""Who calls, what they may do, how much of it, and who changed what."""
