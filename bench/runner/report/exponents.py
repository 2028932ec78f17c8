"""Table II of the libfork paper: the exponents of Eq. (17), and what is said of them."""

from .. import fit, memory
from .data import name
from .items import Item, Reading, count, error, table
from .verdicts import Judged, Threshold, verdict

# Table II of the paper: n of Eq. (17).
PAPER_N = {
    "fib": ("0.86", "0.93", "1.06", "1.20", "0.00"),
    "integrate": ("0.96", "0.94", "1.04", "1.07", "0.00"),
    "nqueens": ("0.94", "1.05", "1.11", "1.30", "0.00"),
    "uts T1": ("1.06", "1.04", "0.78", "1.18", "0.46"),
    "uts T1L": ("1.08", "0.99", "0.93", "1.23", "0.99"),
    "uts T1XXL": ("0.86", "0.90", "0.92", "1.08", "-"),
    "uts T3": ("0.83", "0.87", "0.67", "0.90", "0.64"),
    "uts T3L": ("0.43", "0.52", "1.00", "1.01", "-"),
    "uts T3XXL": ("0.38", "0.36", "0.86", "1.01", "-"),
}
PAPER_N_ERROR = {  # of the lazy scheduler's
    **{"fib": 0.08, "integrate": 0.10, "nqueens": 0.03, "uts T1": 0.05, "uts T1L": 0.05, "uts T1XXL": 0.10},
    **{"uts T3": 0.05, "uts T3L": 0.03, "uts T3XXL": 0.01},
}
EXPONENTS = {
    one: Threshold(f"n of nopal in {one}", most=float(values[0]) + PAPER_N_ERROR[one], paper=f"{values[0]} ± {PAPER_N_ERROR[one]:.2f}")
    for one, values in PAPER_N.items()
}


def exponent(wanted: Threshold, found: fit.Fit | str) -> Judged:
    """Above where it is so by more than its error, and not above where it would not be with its error added. Else it is open."""
    if isinstance(found, str):
        return Judged(wanted, None)
    least, most = found.n - found.n_error, found.n + found.n_error
    return Judged(wanted, found.n if most <= wanted.most or least > wanted.most else None)


def table_ii(fits: dict[str, dict[str, fit.Fit | str]], labels: list[str], own: tuple[str, ...]) -> Item:
    rows, details, judged = [], [], []
    for one, by_label in fits.items():
        cells = []
        for label in labels:
            found = by_label.get(label)
            if isinstance(found, fit.Fit):
                cells.append(error(found.n, found.n_error))
                details.append(
                    [
                        one,
                        name(label),
                        error(found.a / 1024, found.a_error / 1024),
                        error(found.b, found.b_error),
                        error(found.n, found.n_error),
                        count(found.m1),
                    ]
                )
            else:
                cells.append(found or "")
            if label in own and one in EXPONENTS and label in by_label:
                judged.append(exponent(EXPONENTS[one], found))
        rows.append([one, *cells])
    judged += [Judged(wanted, None) for one, wanted in EXPONENTS.items() if one not in fits and not one.endswith("XXL")]
    reading = Reading(None, "No exponent of nopal's was fitted: too few numbers of workers.")
    if any(one.value is not None for one in judged):
        met, missed = (sum(one.holds is want for one in judged) for want in (True, False))
        told = (
            f"nopal's exponents are the paper's or less, with their errors added, in {met} of {len(judged)} fits, and more, less their"
            f" errors, in {missed}. {len(judged) - met - missed} leave it open."
        )
        reading = verdict(told, judged)
    papers = [[one, *values] for one, values in PAPER_N.items() if one in fits]
    return Item(
        "Table II",
        "Exponents n of MRSS ≈ a + b·M₁·Pⁿ",
        "The exponents of libfork are below 1 in the classical benchmarks, and far below in the deep binomial trees (T3L 0.43, T3XXL 0.38);"
        " TBB's and OpenMP's are mostly above.",
        reading,
        tables=[
            table(["workload", *map(name, labels)], rows, "n ± its standard error, here"),
            table(["workload", "Lazy-LF", "Busy-LF", "TBB", "OpenMP", "Taskflow"], papers, "n in the paper"),
            table(["workload", "implementation", "a in MiB", "b", "n", "M₁ in KiB"], details, "the whole fits"),
        ],
        note=(
            f"M₁ is measured: what the serial projection adds to its resident memory. Up to {memory.LEAST} workers at least, also where"
            " there are fewer CPUs. Errors are those of the covariance matrix."
        ),
    )
