"""The kernels in plain Python: the lecture's pseudocode, the compiled kernels' oracle, and their stand-in.

One file a header, with functions of the same names, meanings and arguments. Here the rows are a NumPy array or a SciPy
CSR array as the user gave it, the loss is any object with a ``slope`` (this is how a user's own loss runs), and
``threads`` is of no consequence.
"""

from .coordinate import column_descent, gram_descent
from .dual import dual_pass
from .halves import dual_halves, ordered_halves
from .hessian import gram, hessian_product
from .libsvm import LibsvmText
from .matrices import matmat, rmatmat
from .multipliers import sprung, sprung_duals, sprung_line_search
from .objective import conjugate_sum, evaluate
from .planes import measure
from .products import matvec, rmatvec, squared_norms
from .reading import labels, probabilities, scores
from .repeats import group_rows, has_repeated_entries
from .rows import csr, dense
from .softmax import softmax_evaluate, softmax_product
from .springs import ENDS, sprung_newton
from .stochastic import stochastic_steps

#: What the compiled kernels export under the same names.
PACK, NARROW, WORTH_A_THREAD, IN_ONE_PIECE = 4, 64, 400_000, 20_000

__all__ = [
    "ENDS",
    "IN_ONE_PIECE",
    "NARROW",
    "PACK",
    "WORTH_A_THREAD",
    "LibsvmText",
    "column_descent",
    "conjugate_sum",
    "csr",
    "dense",
    "dual_halves",
    "dual_pass",
    "evaluate",
    "gram",
    "gram_descent",
    "group_rows",
    "has_repeated_entries",
    "hessian_product",
    "labels",
    "matmat",
    "matvec",
    "measure",
    "ordered_halves",
    "probabilities",
    "rmatmat",
    "rmatvec",
    "scores",
    "softmax_evaluate",
    "softmax_product",
    "sprung",
    "sprung_duals",
    "sprung_line_search",
    "sprung_newton",
    "squared_norms",
    "stochastic_steps",
]
