"""The report: what was fitted, what is proven of it and how good it is, as one HTML file that needs nothing else.

>>> import tempfile
>>> from pathlib import Path
>>> from linsep import LinearSVC
>>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 2.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
>>> with tempfile.TemporaryDirectory() as folder:
...     LinearSVC().fit(X, y).report(f"{folder}/report.html", X, y)
...     "proven" in Path(folder, "report.html").read_text("utf-8")
True
"""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import ArrayLike

from .._common.atomic_file import write_atomically
from .content import Content, compute, render

__all__ = ["Content", "compute", "render", "write_report"]


def write_report(model: Any, path: str | os.PathLike[str], X: Any, y: ArrayLike, **about: Any) -> Content:
    """Write a report of a model, measured on rows with labels; return what it says, in numbers.

    Parameters
    ----------
    model : fitted linear estimator
    path : str or path
    X, y
        Rows to measure it on, best those that it was not fitted on.
    **about
        More about the data: see `linsep.report.content.About`.
    """
    content = compute(model, X, y, **about)
    write_atomically(path, render(content).encode())
    return content
