"""The estimators on Spark DataFrames: `pip install 'linsep[spark]'`, and a Java runtime.

`LogisticRegression`, `LinearSVC` and `LeastSquaresClassifier` take DataFrames with a column of vectors (dense or sparse
ones, or arrays) or with a column a feature; on anything else they are those of `linsep`. `blocks` keeps a DataFrame's
rows on the executors for several fits, `verify` checks a model from them. See docs/cluster.md.
"""

from .cluster.spark import Blocks, LeastSquaresClassifier, LinearSVC, LogisticRegression, blocks, verify

__all__ = ["Blocks", "LeastSquaresClassifier", "LinearSVC", "LogisticRegression", "blocks", "verify"]
