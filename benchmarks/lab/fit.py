"""What a row of points says of growth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Points = Sequence[tuple[float, float]]


def exponent(points: Points) -> float:
    """The slope of a straight line through points on logarithmic axes: 1 is linear growth, 0 none."""
    x, y = np.log(np.array([point for point in points if min(point) > 0], float)).T
    return float(np.polyfit(x, y, 1)[0])


def correlation(points: Points) -> float:
    """How near points are to a straight line on linear axes: 1 is on it."""
    x, y = np.array(points, float).T
    return float(np.corrcoef(x, y)[0, 1]) if x.std() and y.std() else 0.0


def ratio(points: Points) -> float:
    """The last value over the first."""
    return points[-1][1] / points[0][1]
