"""Subscriptions and what they are understood by: concepts, ontologies, suggestions."""
