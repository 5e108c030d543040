"""Reference levels of categories, to which coefficients are told relatively; and those estimates that are infinite.

A model has a coefficient for each level of a category. One number added to all of them and taken from the intercept
changes no prediction, so that they can be told with any level at zero, and are here: nothing that is fitted, proven or
exported depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from .._common.words import listed, told_apart
from ..data.encoding import MISSING, OTHER, MatrixEncoding, Scaled, level_called
from ..data.sources import DataError
from ..losses import scores_are_log_odds
from .preparation import Encoding, Examples

#: Seconds that the search for infinite estimates may take.
SECONDS = 20.0


@dataclass(frozen=True)
class Reference:
    """The reference level of some columns, and which coefficients beside them have no finite estimate.

    Attributes
    ----------
    levels : dict
        Of each column.
    estimates : dict
        "+inf", "-inf" or "not determined", of features by name and of the intercept.
    decided : bool
        Whether it is known which these are; else a fit has no optimum, and some that are told may be infinite.
    """

    levels: dict[str, str] = field(default_factory=dict)
    estimates: dict[str, str] = field(default_factory=dict)
    decided: bool = True

    @classmethod
    def chosen(cls, words: Sequence[str], encoding: Encoding, *, penalised: bool) -> Self:
        """Return what ``column=level`` says; without a penalty, the first level of columns of which nothing is said.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from linsep.data.encoding import TableEncoding
        >>> people = TableEncoding.fit(pa.table({"town": ["Ede", "Ulm"], "x=y": ["a", "b"]}))
        >>> Reference.chosen(["x=y=b"], people, penalised=False).levels
        {'town': 'Ede', 'x=y': 'b'}
        """
        known = {} if isinstance(encoding, MatrixEncoding) else encoding.levels
        plain = {} if penalised else {column: _first(levels) for column, levels in known.items()}
        return cls(plain | dict(_pair(word, known) for word in words))

    @classmethod
    def of_model(cls, encoding: Mapping[str, Any] | None) -> Self:
        """Return what a model's file says."""
        said = (encoding or {}).get("reference") or {}
        parts = said.get("levels", {}), said.get("estimates", {})
        if not all(isinstance(one, dict) and all(isinstance(text, str) for text in one.values()) for one in parts):
            raise DataError("what the model's file says of reference levels is damaged; fit the model again")
        return cls(*parts, said.get("decided", True) is not False)

    @property
    def infinite(self) -> list[str]:
        """What runs to infinity, and to which."""
        signs = {"+inf": "+∞", "-inf": "−∞"}
        return [f"{name} ({signs[kind]})" for name, kind in self.estimates.items() if kind in signs]

    def in_words(self) -> str:
        """Return the levels, in a list."""
        return ", ".join(told_apart([f"{name} = {level_called(name, level)}" for name, level in self.levels.items()]))

    def remark(self) -> str:
        """Return the line that says what coefficients are relative to."""
        return f"reference   {self.in_words()}: coefficients of other levels are relative to these"

    def to_dict(self) -> dict[str, Any]:
        """Return what a model's file says."""
        kept = {"levels": self.levels, "estimates": self.estimates} | ({} if self.decided else {"decided": False})
        return {"reference": kept} if self != type(self)() else {}

    def places(self, encoding: Encoding) -> dict[int, range]:
        """Return the feature of each reference level, and those of all levels of its column."""
        if isinstance(encoding, MatrixEncoding):
            return {}
        place, found = len(encoding.names), {}
        place -= sum(map(len, encoding.levels.values())) + sum(len(words) for words, _ in encoding.words.values())
        for column, levels in encoding.levels.items():
            if self.levels.get(column) in levels:
                found[place + levels.index(self.levels[column])] = range(place, place + len(levels))
            place += len(levels)
        return found

    def told(self, scaled: Scaled, encoding: Encoding) -> Scaled:
        """Return coefficients relative to the reference levels; infinite ones as such."""
        coef, intercept = scaled.coef.copy(), scaled.intercept.copy()
        for place, features in self.places(encoding).items():
            weight = coef[:, [place]]
            coef[:, features] -= weight
            intercept += weight[:, 0]
        signs = {"+inf": np.inf, "-inf": -np.inf}
        for j, name in enumerate(scaled.names):
            coef[:, j] = signs.get(self.estimates.get(name, ""), coef[:, j])
        intercept[:] = signs.get(self.estimates.get("intercept", ""), intercept)
        return replace(scaled, coef=coef, intercept=intercept)

    def weights(self, model: Any, encoding: Encoding) -> FloatArray:
        """Return the weights as `told` tells them, but of the features as they were trained."""
        return self.told(Scaled(encoding.names, model.coef_, np.ravel(model.intercept_)), encoding).coef

    def with_estimates(self, examples: Examples, model: Any) -> Self:
        """Return the same with what runs to infinity in a fit without an optimum, as far as it is decided in time."""
        if not is_likelihood(model) or getattr(model, "_no_optimum", None) is None:
            return self
        return self.estimated(examples.X, examples.y, examples.weight, examples.encoding)

    def estimated(self, X: Any, y: NDArray[Any], weight: FloatArray | None, encoding: Encoding) -> Self:
        """Return the same with what runs to infinity on these rows, as far as it is decided in time."""
        from ..exact import ProofTimeoutError
        from ..separation.recession import estimates

        X, names = self.features(X, encoding)
        try:
            found = estimates(X, y, weight, time_limit=SECONDS)
        except ProofTimeoutError:
            return replace(self, decided=False)
        verdicts = zip([*names, "intercept"], found.verdicts, strict=True)
        return replace(self, estimates={name: kind for name, kind in verdicts if kind != "finite"})

    def features(self, X: Any, encoding: Encoding) -> tuple[Any, list[str]]:
        """Return columns and names of the features but those of the reference levels."""
        kept = self.others(encoding)
        return X if len(kept) == len(encoding.names) else X[:, kept], [encoding.names[j] for j in kept]

    def others(self, encoding: Encoding) -> IntArray:
        """Return the features but those of the reference levels."""
        return np.setdiff1d(np.arange(len(encoding.names)), list(self.places(encoding)))


def is_likelihood(model: Any) -> bool:
    """Whether a fit without a penalty is one of maximum likelihood, of two classes."""
    return len(model.classes_) == 2 and scores_are_log_odds(model)


def _first(levels: Sequence[str]) -> str:
    return next((level for level in levels if level not in (OTHER, MISSING)), levels[0])


def _pair(word: str, known: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return the column and the level that ``column=level`` names; both may have = in them."""
    cuts = [(word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "="]
    for column, level in cuts:
        if level in known.get(column, ()):
            return column, level
    for column, level in cuts:
        if column in known:
            raise DataError(f"--reference {word}: {column!r} has no level {level!r}, but {listed(known[column], 12)}")
    which = f"the categories are {listed(list(known), 12)}" if known else "there are no categories"
    raise DataError(f"--reference {word}: write column=level, as in --reference group=A; {which}")
