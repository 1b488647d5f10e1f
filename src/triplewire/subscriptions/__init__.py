"""From a subscriber's text to a pattern."""
