"""Tables of other libraries: what `to_frame` of histories, paths and choices returns."""

from __future__ import annotations

from typing import Any

#: Libraries whose tables are made at once.
LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_of(columns: dict[str, Any], backend: Any) -> Any:
    """Return columns as a table of a library, by its name or its module; what `to_native()` of it gives is the table.

    Raises
    ------
    ValueError
        Where the library is none of these; what narwhals raises differs between its versions.

    Examples
    --------
    >>> frame_of({"a": [1, 2]}, "excel")
    Traceback (most recent call last):
    ...
    ValueError: backend='excel' is not known; take one of pandas, polars, pyarrow, modin, cudf
    """
    import narwhals as nw

    name = backend if isinstance(backend, str) else getattr(backend, "__name__", None)
    if name is not None and name not in LIBRARIES:
        raise ValueError(f"backend={name!r} is not known; take one of {', '.join(LIBRARIES)}")
    return nw.from_dict(columns, backend=backend)
