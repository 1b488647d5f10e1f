"""The command line. Each command is a call into the library; exit status 0, 2 wrong usage, 3 bad input, 1 the rest."""

from triplewire.cli.app import main, spread

__all__ = ["main", "spread"]
