"""The reference shows what linsep says of its classes; what these inherit from scikit-learn is described there."""


def skip(app, what, name, value, skip, options):
    """Leave out private members and those of other libraries."""
    home = getattr(value, "__module__", None) or getattr(getattr(value, "fget", None), "__module__", None) or "linsep"
    return True if name.startswith("_") or not home.startswith("linsep") else None


def setup(app):
    """Join the build."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
