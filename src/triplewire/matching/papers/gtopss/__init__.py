"""G-ToPSS (Petrovic, Liu and Jacobsen, 2005), mended: one merged graph, and joins of what it finds."""

from triplewire.matching.papers.gtopss.matcher import GToPSS

__all__ = ["GToPSS"]
