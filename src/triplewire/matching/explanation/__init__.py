"""Why an event trips a subscription, or what is missing."""

from triplewire.matching.explanation.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
