"""From what people publish to event graphs."""
