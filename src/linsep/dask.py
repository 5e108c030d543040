"""The estimators on Dask collections: `pip install 'linsep[dask]'`.

`LogisticRegression`, `LinearSVC` and `LeastSquaresClassifier` take Dask arrays (dense, or blocks of `scipy.sparse`),
Dask DataFrames, lists of delayed partitions, and paths of Parquet files, which the workers read; on anything else they
are those of `linsep`. See docs/cluster.md.
"""

from .cluster.dask import LeastSquaresClassifier, LinearSVC, LogisticRegression, verify
from .cluster.plan import plan

__all__ = ["LeastSquaresClassifier", "LinearSVC", "LogisticRegression", "plan", "verify"]
