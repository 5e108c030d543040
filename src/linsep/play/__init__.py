"""The web page: draw points or drop a file, choose a method, and watch it learn; all computing is the library's.

`protocol` is what page and server say to each other, `answers` who computes, `methods`, `features`, `presets` and
`figures` what there is to choose, `beside` what is drawn beside the picture, `surfaces` heights for level lines,
`descents` the step-size playground, `digits` a drawn 3 or 7, `files` what was dropped, `code` the program that repeats
a fit, `server` the door, `workers` the processes that compute, `notebook` the page in a cell. The page itself is in the
folder ``page``: modules as they are, without a build step; it draws with ``drawing.js`` and ``stage.js`` of the replay.

The module can be called: ``linsep.play(X, y)`` is `linsep.play.notebook.show`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that shows its page when it is called."""

    def __call__(self, X: Any = None, y: Any = None, *, height: int = 900) -> Any:
        """Show the page in a notebook's cell, with your own examples: see `linsep.play.notebook.show`."""
        from .notebook import show

        return show(X, y, height=height)


sys.modules[__name__].__class__ = _Callable
