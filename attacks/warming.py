"""What attacks import before they fork, so that a child does not spend its time on it."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module


def warm() -> None:
    """Import the package, and what it and the attacks use."""
    import linsep

    rooms = [found.name for found in pkgutil.walk_packages(linsep.__path__, "linsep.")]
    extras = re.compile(r"linsep\.(play|cluster|dask|spark)|.*_kernels")
    used = ("joblib", "sklearn.model_selection", "pyarrow.csv", "pyarrow.compute", "cyclopts", "rich.console")
    for module in (*used, "scipy.optimize", "matplotlib.pyplot", *(room for room in rooms if not extras.match(room))):
        import_module(module)
