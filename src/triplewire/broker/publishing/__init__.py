"""The way of an event into the log: published, or read from the feeds that users name."""
