"""Eq. (17) of the libfork paper: MRSS ≈ a + b·M₁·Pⁿ, fitted to the peak memory of runs on P workers."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 4  # different numbers of workers: one more than there are parameters
MOST_N = 4.0  # an exponent beyond this is no memory per worker any more


@dataclass(frozen=True)
class Fit:
    """Of memory in KiB; each error is the standard deviation from the covariance matrix, as in Table II."""

    a: float
    b: float
    n: float
    a_error: float
    b_error: float
    n_error: float
    m1: float
    points: int

    def at(self, workers: float) -> float:
        return self.a + self.b * self.m1 * workers**self.n


def fit(points: Sequence[tuple[int, float]], m1: float) -> Fit | str:
    """The fit to points (P, MRSS), of which there may be several for one P; or why there is none."""
    if len({workers for workers, _ in points}) < FEWEST:
        return f"needs {FEWEST} numbers of workers"
    if m1 <= 0:
        return "M₁ was not measured"
    try:
        import numpy  # only here, since they take a second to load
        from scipy.optimize import OptimizeWarning, curve_fit
    except ImportError:
        return "scipy is not installed"
    x = numpy.array([workers for workers, _ in points], float)
    y = numpy.array([memory for _, memory in points], float)
    rise = y.max() - y.min()
    if rise == 0:
        return "no change with P"
    # Scaled, so that all parameters are near 1; several beginnings, since the sum of squares may have more than one valley. There is no
    # negative memory: without that bound an exponent near 0 would balance a huge b against a huge negative a.
    best = None
    for n in (0.3, 0.6, 1.0, 1.5):
        slope = rise / (x.max() ** n - x.min() ** n)
        guess = (max(0.0, y.min() - slope * x.min() ** n) / rise, slope / rise, n)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OptimizeWarning)
                found, covariance = curve_fit(
                    lambda p, a, c, n: a + c * p**n, x, y / rise, p0=guess, bounds=((0, 0, 0), (numpy.inf, numpy.inf, MOST_N)), maxfev=20000
                )
        except (RuntimeError, ValueError):
            continue
        left = float(((found[0] + found[1] * x ** found[2] - y / rise) ** 2).sum())
        if best is None or left < best[0]:
            best = (left, found, covariance)
    if best is None:
        return "the fit does not converge"
    _, found, covariance = best
    errors = numpy.sqrt(numpy.diag(covariance))
    if not numpy.all(numpy.isfinite(errors)):
        return "the points leave the exponent open"
    return Fit(
        a=float(found[0] * rise),
        b=float(found[1] * rise / m1),
        n=float(found[2]),
        a_error=float(errors[0] * rise),
        b_error=float(errors[1] * rise / m1),
        n_error=float(errors[2]),
        m1=float(m1),
        points=len(points),
    )
