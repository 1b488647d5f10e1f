"""Measurements, each a command: ``python -m benchmarks.NAME``; results are kept in ``results/`` with their commit."""
