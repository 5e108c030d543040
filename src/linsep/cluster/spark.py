"""Spark: fits, checks and predictions on DataFrames, whose partitions `on_spark` keeps on the executors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

try:
    import pandas
    from pyspark.sql import DataFrame, functions
except ImportError as error:  # pragma: no cover - told by a test in a process of its own
    raise ImportError("linsep.spark needs Spark: pip install 'linsep[spark]', and a Java runtime") from error

from .. import estimators as single
from ..certificates.outcome import Verification
from ..persistence.verification import verify as verify_arrays
from .checking import verify_parts
from .columns import Features, label_column, weight_column
from .estimators import OnCollections, WithProbabilities
from .fitting import learn
from .on_spark import Blocks, OfFeatures, PieceOf, SparkEngine, SparkTables
from .rounds import Round
from .tables import Recipe, encode, schema_of

__all__ = ["Blocks", "LeastSquaresClassifier", "LinearSVC", "LogisticRegression", "blocks", "verify"]

#: What the columns are called that predictions add, as in Spark's own models.
COLUMNS = {
    "predict": "prediction",
    "decision_function": "rawPrediction",
    "predict_proba": "probability",
    "predict_log_proba": "logProbability",
}


# -- DataFrames as blocks ---------------------------------------------------------------------------------------------


def blocks(
    df: DataFrame,
    label: str = "label",
    weight: str | None = None,
    *,
    features: str | Sequence[str] | None = None,
    encoding: Any = None,
) -> Blocks:
    """Keep the rows of a DataFrame on the executors as fits take them, for several fits.

    Parameters
    ----------
    df : DataFrame
        Computed once; where an executor is lost, its partitions are computed again, and must be the same again.
    label : str
        The column of the labels.
    weight : str, optional
        A column that says how much each row counts.
    features : str or list of str, optional
        A column of vectors or arrays, or columns; without it "features", if there is such a column, else all the
        others. Columns are numbers as they are or, if there are text and dates among them, encoded as `linsep fit` does
        it, by what all rows say, the numbers standardised.
    encoding : TableEncoding, optional
        An encoding that is known, a model's ``encoding_``.

    Returns
    -------
    Blocks
        For `fit`; release them by `unpersist()` or at the end of a ``with``.
    """
    chosen = Features.of(df, features, [label, *([] if weight is None else [weight])])
    columns = [chosen.column(df), label_column(df, label), *([] if weight is None else [weight_column(df, weight)])]
    table = df.select(*columns)
    if chosen.kind != "table":
        return Blocks(table, chosen, OfFeatures(chosen))
    tables = SparkTables(table, PieceOf(chosen))
    recipe = encode(tables) if encoding is None else Recipe(encoding, schema_of(tables))
    return tables.blocks(recipe, chosen)


# -- what estimators ask ----------------------------------------------------------------------------------------------


def is_collection(X: Any) -> bool:
    """Whether X is a DataFrame of Spark's, or blocks of one."""
    return isinstance(X, DataFrame | Blocks)


def fit(model: Any, X: Blocks, y: None = None, sample_weight: None = None, **asked: Any) -> Any:
    """Fit a model on blocks: see `OnCollections.fit`."""
    engine = SparkEngine(X)
    names = list(X.features.names) if X.features is not None and X.features.kind == "columns" else None
    told = names if X.encoding is None else X.encoding.names
    try:
        learn(model, engine, X.summaries, names=told, **asked)
    finally:
        engine.close()
    model.features_ = X.features
    if X.encoding is not None:
        model.encoding_ = X.encoding
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def verify(
    model_or_path: Any,
    X: Any,
    label: Any = "label",
    weight: Any = None,
    *,
    features: str | Sequence[str] | None = None,
    time_limit: float | None = None,
) -> Verification:
    """Check what is proven of a model from a DataFrame, as `linsep.verify` does from arrays.

    By sums over the partitions, where they are: see `linsep.cluster.checking`.

    Parameters
    ----------
    model_or_path : fitted estimator or path of a model file
    X, label, weight, features
        What the model was fitted on: a DataFrame and its columns (the model's own, if it knows them), blocks, or what
        `linsep.verify` takes.
    time_limit : float, optional
        As for `linsep.verify`.
    """
    if isinstance(X, DataFrame):
        if features is None and hasattr(model_or_path, "features_"):
            features = model_or_path.features_.names
        known = getattr(model_or_path, "encoding_", None)
        with blocks(X, label, weight, features=features, encoding=known) as kept:
            return verify_parts(model_or_path, SparkEngine(kept), kept.summaries, time_limit=time_limit)
    if isinstance(X, Blocks):
        return verify_parts(model_or_path, SparkEngine(X), X.summaries, time_limit=time_limit)
    return verify_arrays(model_or_path, X, label, weight, time_limit=time_limit)


def mapped(method: Any, X: DataFrame, *, dtype: Any, columns: int | None = None) -> DataFrame:
    """Return the DataFrame with a column of what the method makes of each row."""
    kind = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double"}.get(np.dtype(dtype).kind, "string")
    chosen = Features.of(X, method.model.features_.names)

    def values(table: pandas.DataFrame) -> pandas.Series:
        found = method(chosen.of_pandas(table))
        return pandas.Series(found if found.ndim == 1 else list(found))

    values.__annotations__ = {"table": pandas.DataFrame, "return": pandas.Series}
    made = functions.pandas_udf(values, kind if columns is None else f"array<{kind}>")
    return X.withColumn(COLUMNS[method.name], made(chosen.column(X)))


def accuracy(predicted: DataFrame, y: str, sample_weight: str | None = None) -> float:
    """Return the share of rows whose label is predicted right."""
    right = (functions.col(COLUMNS["predict"]) == label_column(predicted, y)).cast("double")
    s = functions.lit(1.0) if sample_weight is None else weight_column(predicted, sample_weight)
    hits, total = predicted.select(functions.sum(right * s), functions.sum(s)).first()
    return float(hits / total)


# -- the estimators ---------------------------------------------------------------------------------------------------


class _OnDataFrames(OnCollections):
    """fit on a DataFrame, of which columns are named."""

    engine = sys.modules[__name__]

    def fit(
        self,
        X: Any,
        label: Any = "label",
        weight: Any = None,
        *,
        features: str | Sequence[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Callable[[Round, float], None] | None = None,
    ) -> Self:
        """Learn from the rows of a DataFrame where they are.

        Parameters
        ----------
        X : DataFrame, or Blocks
            The examples; a DataFrame is kept as `blocks` for this fit.
        label : str
            The column of their labels.
        weight : str, optional
            A column that says how much each counts.
        features : str or list of str, optional
            A column of vectors or arrays, or columns of numbers; without it "features", if there is such a column, else
            all the others.
        checkpoint : path, optional
            A file where the sums of every round are kept. The same fit, begun again, goes on from there, to the same
            bits. It is plain data, and is not deleted.
        progress : callable, optional
            Hears of every round when it is over, and of the relative gap that is proven by then.

        Returns
        -------
        self
        """
        if isinstance(X, DataFrame):
            with blocks(X, label, weight, features=features) as kept:
                return super().fit(kept, checkpoint=checkpoint, progress=progress)
        if features is not None or (isinstance(X, Blocks) and (label != "label" or weight is not None)):
            raise ValueError("label, weight and features would be ignored: they name columns of a DataFrame")
        if isinstance(X, Blocks):
            return super().fit(X, checkpoint=checkpoint, progress=progress)
        return super().fit(X, label, weight, checkpoint=checkpoint, progress=progress)


class LogisticRegression(_OnDataFrames, WithProbabilities, single.LogisticRegression):
    """`linsep.LogisticRegression` on Spark DataFrames."""


class LinearSVC(_OnDataFrames, single.LinearSVC):
    """`linsep.LinearSVC` on Spark DataFrames; nothing is said of single examples (``support_`` and the like)."""


class LeastSquaresClassifier(_OnDataFrames, single.LeastSquaresClassifier):
    """`linsep.LeastSquaresClassifier` on Spark DataFrames."""
