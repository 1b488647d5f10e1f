"""Events and subscriptions to measure with: each module a world, the same for the same seed, its parameters told."""
