"""The outcome of a check, and its words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._common.html import card
from .._common.reading import ClaimError
from ..arithmetic.enclosure import Interval, relative_gap

__all__ = ["ClaimError", "Verification", "beside", "between", "in_words", "planes_in_words", "within"]


#: What attributes, parameters and sections of files are to somebody who never wrote any of them.
WORDS = {
    "converged_": "whether the method found that it arrived",
    "history_": "how the fit went",
    "n_iter_": "the number of iterations",
    "choice_": "how C was chosen",
    "choice_.scores": "the scores on the way to the choice of C",
    "proof_": "how C was chosen",
    "threshold_choice_": "how the threshold was chosen",
    "calibration_": "its probabilities",
    "redundant_": "which columns follow from others",
    "ballots": "the planes that vote",
    "feature_names": "names of columns",
    "tol": "how near the optimum was asked for",
    "encoding": "how columns become features",
    "seed": "the seed",
    "versions": "versions of the programs",
    "certificate_.rounding": "how much rounding it allowed for",
}
SETTINGS, CLAIMS, REST = "settings of the method", "what else its certificate says", "what else it says of the fit"


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate against data; true if every claim holds.

    Attributes
    ----------
    ok : bool
        Whether the certificate is about these data and this plane, and all it claims is so.
    reason : str
        Why, in a sentence.
    primal, dual : Interval or None
        Between what the objective and the bound truly lie, as far as the check got.
    proven : bool
        Whether the plane is within `tol` of the optimum, by these data and with rounding accounted for.
    checked, trusted : tuple of str
        What was computed anew, and what was taken on trust.
    unchecked : tuple of str
        What else the model, its file or its certificate reports, by name (printed in words): of that nothing is known.
    covered : tuple of str
        The attributes and parameters that the sentence is about, or that were computed anew.
    """

    ok: bool
    reason: str
    primal: Interval | None = None
    dual: Interval | None = None
    proven: bool = False
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()

    @property
    def relative_gap(self) -> float:
        """The largest share of the objective that the optimum can lie below it; infinite where nothing is known."""
        if self.primal is None or self.dual is None:
            return np.inf
        return relative_gap(self.primal, self.dual)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = "Verified" if self.ok else "NOT verified"
        lists = [
            ("Checked", "; ", self.checked),
            ("Taken on trust", "; ", self.trusted),
            ("Not checked", ", ", in_words(self.unchecked)),
        ]
        said = [f"{title}: {between.join(what)}." for title, between, what in lists if what]
        return "\n".join([f"{head}: {self.reason}.", *said])

    def _repr_html_(self) -> str:
        title, _, rest = str(self).partition(": ")
        return card(
            title, *(f"{line[:1].upper()}{line[1:]}" for line in rest.splitlines()), tone="good" if self.ok else "bad"
        )


def in_words(names: Iterable[str]) -> tuple[str, ...]:
    """Return what is not checked in the words of somebody who has a model file and not Python.

    Examples
    --------
    >>> in_words(["n_iter_", "max_iter", "solver", "certificate_.primal"])
    ('the number of iterations', 'settings of the method', 'what else its certificate says')
    """

    def said(name: str) -> str:
        other = CLAIMS if name.startswith("certificate_") else REST if name.endswith("_") else SETTINGS
        return WORDS.get(name, other)

    return tuple(dict.fromkeys(map(said, names)))


def planes_in_words(count: int) -> str:
    """Return how many planes, in words."""
    return "one plane" if count == 1 else f"{count} planes"


def beside(gap: float, tol: float) -> str:
    """Return a gap in as few digits, but two at least, as are on the same side of `tol` as it is.

    Examples
    --------
    >>> beside(1.23e-7, 1e-4), beside(1.04e-4, 1e-4)
    ('1.2e-07', '1.04e-04')
    """
    texts = (f"{gap:.{digits}e}" for digits in range(1, 17))
    return next(text for text in texts if (float(text) <= tol) == (gap <= tol))


def within(relative_gap: float, proven: bool, tol: float, place: str = "") -> str:
    """Return how near the optimum something is, and whether that proves `tol`, in words."""
    verdict = "proven to" if proven else "which does not prove"
    near = f"within {beside(relative_gap, tol)} of" if np.isfinite(relative_gap) else "nobody knows how far above"
    return f"{near} the optimum{place}, {verdict} tol={tol:g}."


def between(primal: float, dual: float) -> str:
    """Return between what the optimum lies, in words."""
    return f"The objective is {primal:.10g}; no plane reaches less than {dual:.10g}"
