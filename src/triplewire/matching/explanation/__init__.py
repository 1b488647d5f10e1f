"""Why an event trips a subscription, or what is missing: as a value, as data, as text and as a picture."""

from triplewire.matching.explanation.data import as_dict
from triplewire.matching.explanation.explanation import Explanation, explain
from triplewire.matching.explanation.picture import picture
from triplewire.matching.explanation.text import as_text

__all__ = ["Explanation", "as_dict", "as_text", "explain", "picture"]
