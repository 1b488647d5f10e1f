"""The engine: millions of subscriptions as one trie of joins over arrays."""
