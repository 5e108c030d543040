"""The checker: planes and proofs of overlap, tested in exact arithmetic on the floats as given.

The public door to `linsep.arithmetic.exact`; importing it loads no solver.
"""

from .arithmetic.exact import *  # noqa: F403
from .arithmetic.exact import __all__  # noqa: F401
