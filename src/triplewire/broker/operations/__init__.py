"""What whoever runs the broker sees: health, metrics, logs; and how long events are kept."""
