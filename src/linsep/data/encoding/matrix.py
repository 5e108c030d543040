"""The encoding of a matrix: its numbers as they are; and coefficients by readable name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from scipy import sparse

from ..._common import reading
from ..._common.types import FloatArray
from ..._common.words import many
from ..sources import DataError


@dataclass(frozen=True)
class Scaled:
    """Coefficients by readable name, on the scale of the file's own columns; one row a plane.

    `notes` say what a unit is of features that are no column of the file.
    """

    names: list[str]
    coef: FloatArray
    intercept: FloatArray
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatrixEncoding:
    """Numbers that are used as they are."""

    n_features: int
    base: int = 0  # what the first column is numbered in the file
    columns: list[str] | None = None  # their names
    target: str | None = None  # the array that holds the labels

    @cached_property
    def names(self) -> list[str]:
        """One a feature."""
        return self.columns or [f"feature {j + self.base}" for j in range(self.n_features)]

    @property
    def sources(self) -> list[str]:
        """The column of the file that each feature is made of: its own."""
        return self.names

    @property
    def origins(self) -> list[str]:
        """The same."""
        return self.names

    @property
    def units(self) -> dict[str, str]:
        """None, since a matrix has bare numbers."""
        return {}

    def transform(self, X: Any, name: str = "data") -> Any:
        """Return X with as many columns as the model has; a sparse matrix may lack the last ones."""
        if X.shape[1] > self.n_features or (X.shape[1] < self.n_features and not sparse.issparse(X)):
            raise DataError(f"{name}: {many(X.shape[1], 'column')}, but the model was fitted on {self.n_features}")
        if X.shape[1] < self.n_features:
            X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        return X

    def original_scale(self, coef: FloatArray, intercept: FloatArray) -> Scaled:
        """Return the coefficients as they are."""
        return Scaled(self.names, coef, intercept)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {"kind": "matrix", **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MatrixEncoding:
        """Read what `to_dict` wrote."""
        try:
            names = None if data["columns"] is None else reading.items(data, "columns", reading.text)
            target = None if data["target"] is None else reading.text(data, "target")
            found = cls(reading.count(data, "n_features"), reading.count(data, "base"), names, target)
            if names is not None and len(names) != found.n_features:
                raise ValueError("each column needs a name")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the model's encoding is damaged ({error!r}); fit the model again") from error
        return found
