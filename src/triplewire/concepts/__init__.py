"""The concept model, and what it adds to an event."""
