"""`linsep.play(X, y)`: the page in a notebook's cell, by a server in a thread of the kernel that ends with it."""

from __future__ import annotations

import atexit
import html
import io
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core import is_sparse
from .files import Files

#: Who may show the page in a frame: notebooks on this machine, and those of Visual Studio Code.
NOTEBOOKS = "http://127.0.0.1:* http://localhost:* https://127.0.0.1:* https://localhost:* vscode-webview:"


class Shown:
    """A page that is being served: in a notebook it shows itself; `address` opens it in a browser on this machine.

    Attributes
    ----------
    address : str
    height : int
        Of the frame, in pixels.
    """

    def __init__(self, given: Files, height: int) -> None:
        try:
            from .server import Running
        except ImportError as error:
            raise ImportError(f"linsep.play needs {error.name}: pip install 'linsep[play]'") from error
        self._running = Running(given, 0, framed_by=NOTEBOOKS)
        self.address, self.height = self._running.address, height
        self._thread = threading.Thread(target=self._running.serve, name="linsep-play", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def close(self) -> None:
        """End the server; the page says so then."""
        atexit.unregister(self.close)
        self._running.server.should_exit = True
        self._thread.join(timeout=5.0)

    def _repr_html_(self) -> str:
        """Return the frame that a notebook shows."""
        frame = f'<iframe src="{html.escape(self.address)}" title="linsep play" width="100%" height="{self.height}"'
        return f'{frame} style="border: 0" allow="clipboard-write"></iframe>'

    def __repr__(self) -> str:
        return f"<linsep.play at {self.address}>"


def show(X: Any = None, y: ArrayLike | None = None, *, height: int = 900) -> Shown:
    """Show the page of ``linsep play`` in a notebook's cell, with your own examples.

    It is served by a thread of this process to this machine alone (127.0.0.1), under a token, and ends with the process
    or with `close`.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n, d), optional
        The examples; without them the page begins as it does on the command line. Two columns, of up to 5,000 rows, are
        points that can be moved; of more columns the first two are shown, and the page offers the others.
    y : array of shape (n,), optional
        Their classes.
    height : int
        Of the frame, in pixels.

    Returns
    -------
    Shown
        What the cell shows; it has the ``address``, and ``close()``.

    Examples
    --------
    >>> import linsep
    >>> page = linsep.play([[0, 1], [1, 3], [4, 0], [5, 2]], ["a", "a", "b", "b"])  # doctest: +SKIP
    """
    if (X is None) != (y is None):
        raise TypeError("play needs both X and y, or neither")
    if isinstance(height, bool) or not isinstance(height, int) or height < 100:
        raise ValueError(f"height={height!r} must be a whole number of pixels, 100 or more")
    table, target = (b"", "") if X is None else _table(X, np.asarray(y))
    given = Files()
    if table:
        given.first = given.add("X and y.parquet", table) | {"name": "X and y", "target": target}
    return Shown(given, height)


def _table(X: Any, y: Any) -> tuple[bytes, str]:
    """Return the examples as a Parquet file, and what its column with the classes is called."""
    import pyarrow
    from pyarrow import parquet

    columns = _columns(X)
    if y.ndim != 1 or any(len(column) != len(y) for column in columns.values()):
        rows = len(next(iter(columns.values()))) if columns else 0
        raise ValueError(f"X has {rows:,} rows and y has shape {y.shape}; y needs one class a row")
    if y.dtype.kind in "fb" and np.array_equal(y, y.astype(np.int64)):
        y = y.astype(np.int64)  # 0.0 and 1.0, or False and True: names of classes
    target = "class"
    while target in columns:
        target += "_"
    table = pyarrow.table({**columns, target: pyarrow.array(y.tolist())})
    parquet.write_table(table, written := io.BytesIO())
    return written.getvalue(), target


def _columns(X: Any) -> dict[str, Any]:
    """Return the columns of X by their names."""
    if hasattr(X, "columns"):
        return {str(name): np.asarray(X[name]) for name in X.columns}
    values = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape}; it needs rows and columns")
    return {f"x{j}": column for j, column in enumerate(values.T)}
