"""What the library says of a fit, in the page's words: step sizes as on a slide, passes instead of parameters."""

from __future__ import annotations

import re
from typing import Any

from ..separation.verdict import NotSeparableError

#: How schedules are written in the library's advice: on a slide, and by the page's own names.
WORDS = {
    "Constant": "η = {}",
    "InverseTime": "η/(k + 1) with η = {}",
    "InverseSqrt": "η/√(k + 1) with η = {}",
}
NAMES = {"Constant": "constant", "InverseTime": "inverse_time", "InverseSqrt": "inverse_sqrt"}
_STEPS = r"\w+\(eta=[^)]*\)"
#: The size in them; the page's schedules fall with 1 + k.
_SIZE = r"\(eta=([^,)]*)(?:, decay=1\.0)?\)"
#: What a warning says of a step size, without who says it and how far from the optimum that has led.
ON_STEPS = re.compile(rf"the step size {_STEPS} is too .*? Try {_STEPS}(?:, or {_STEPS})?")
#: Parameters by what the page calls them. What is proven stands elsewhere on it, without the accuracy asked for.
PLAIN = {
    r"^\w+ (?:did not converge: |has not reached its goal\. It is )": "It has not arrived: ",
    r"max_iter=1 iterations\b|max_iter=1\b": "1 pass",
    r"max_iter=(\d+)(?: iterations)?": r"\1 passes",
    r"raise max_iter,( or)? scale the features": r"allow more passes,\1 take standardised features",
    r"raise max_iter": "allow more passes",
    r"(?:;|, or) raise tol\b": "",
    r"the classes 0 and 1 are\b": "the classes are",
    r", (?:hence )?not tol=[0-9.e-]*[0-9]": "",
    r" It is proven to be within 1\.0e\+00 of the optimum only\.": "",
    r"proven to be within 1\.0e\+00 of the optimum only: ": "",
    r"solver '\w+' stopped by its own rule; leave it more iterations, or use solver='auto'": (
        "the rule under “Stop when” ended it; another rule lets it go on"
    ),
    r", proven to tol=\S+\.$": ", proven.",
    r", which does not prove tol=\S+\.$": ", and nearer it is not proven to be.",
    r"\. It is (?:not proven how|proven to be within) [^=]* tol=\S+\.$": ".",
}


def on_steps(warning: str) -> str:
    """Return what a warning says of a step size; empty where that is nothing.

    Examples
    --------
    >>> on_steps("A did not converge: the step size Constant(eta=9.0) is too large: so. Try Constant(eta=1.0). So.")
    'the step size Constant(eta=9.0) is too large: so. Try Constant(eta=1.0)'
    """
    found = ON_STEPS.search(warning)
    return found[0] if found else ""


def in_words(advice: str) -> str:
    """Return advice on a step size as a slide would write it.

    Examples
    --------
    >>> in_words("the step size Constant(eta=9.0) is too large. Try InverseSqrt(eta=0.3)")
    'The step size η = 9.0 is too large. Try η/√(k + 1) with η = 0.3.'
    """
    for name, words in WORDS.items():
        advice = re.sub(name + _SIZE, words.format(r"\1"), advice)
    return f"{advice[:1].upper()}{advice[1:]}." if advice else ""


def to_try(advice: str) -> dict[str, Any] | None:
    """Return the step size that is advised, as the page chooses one.

    Examples
    --------
    >>> to_try("the step size Constant(eta=9.0) is too large. Try InverseSqrt(eta=0.3)")
    {'eta': 0.3, 'schedule': 'inverse_sqrt'}
    >>> to_try("the step size InverseTime(eta=9.0, decay=1.0) is too small. Try InverseTime(eta=30.0, decay=1.0)")
    {'eta': 30.0, 'schedule': 'inverse_time'}
    """
    tried = re.search(rf"Try (\w+){_SIZE}", advice)
    return {"eta": float(tried[2]), "schedule": NAMES[tried[1]]} if tried and tried[1] in NAMES else None


def without_parameters(note: str) -> str:
    """Return a warning by the names that the page has for settings.

    Examples
    --------
    >>> without_parameters("A did not converge: stopped after max_iter=9; raise max_iter, scale the features.")
    'It has not arrived: stopped after 9 passes; allow more passes, take standardised features.'
    """
    for said, plain in PLAIN.items():
        note = re.sub(said, plain, note)
    return note


def with_names(note: str, names: list[str]) -> str:
    """Return a warning by the names of the features that it has numbers of.

    Examples
    --------
    >>> with_names("the estimate of x1 is +∞", ["x", "y"])
    'the estimate of y is +∞'
    """
    return re.sub(r"\bx(\d+)\b", lambda one: names[int(one[1])] if int(one[1]) < len(names) else one[0], note)


def not_separable(error: NotSeparableError, where: str) -> str:
    """Return why no `where` (a line, or a plane of some features) has a hard margin; rows are counted from 1."""
    proof = error.proof
    met = [*(proof.points or ()), *(proof.support or ())]
    words = proof.in_rows(range(1, 2 + max(met))) if met else proof
    origin = "" if proof.fit_intercept else " through the origin"
    return (
        f"The hard margin allows no exception, but no {where}{origin} separates the classes: "
        f"{words.common_point_in_words()}. The soft margin allows exceptions for a price."
    )
