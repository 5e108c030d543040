"""The kernels in plain Python: the lecture's pseudocode, the compiled kernels' oracle, and their stand-in.

A topic has a file here as it has one for its bindings (``bind_dual.cpp``), with functions of the same names, meanings
and arguments. Here the rows are a NumPy array or a SciPy CSR array as the user gave it, the loss is any object with a
``slope`` (this is how a user's own loss runs), and ``threads`` is of no consequence.
"""

from .dual import dual_halves, dual_pass
from .libsvm import LibsvmText
from .multipliers import simplex_masses, sprung, sprung_duals, sprung_line_search, sprung_slopes
from .objective import (
    column_descent,
    column_newton,
    column_sums,
    conjugate_sum,
    evaluate,
    fold_losses,
    gram,
    gram_descent,
    hessian_product,
    mixed_conjugates,
    mixed_values,
)
from .products import labels, matmat, matvec, probabilities, quadratic_forms, rmatmat, rmatvec, scores, squared_norms
from .rows import csr, dense, group_rows, has_repeated_entries
from .softmax import (
    class_inverses,
    class_sums,
    margin_dual_pass,
    mixed_entropy,
    round_rows,
    softmax_dual_pass,
    softmax_evaluate,
    softmax_gram,
    softmax_product,
)
from .stochastic import measure, stochastic_steps

#: What the compiled kernels export under the same names.
PACK, NARROW, WORTH_A_THREAD, IN_ONE_PIECE, VISIT_IN_NUMBERS = 4, 64, 100_000, 20_000, 30

__all__ = [
    "IN_ONE_PIECE",
    "NARROW",
    "PACK",
    "VISIT_IN_NUMBERS",
    "WORTH_A_THREAD",
    "LibsvmText",
    "class_inverses",
    "class_sums",
    "column_descent",
    "column_newton",
    "column_sums",
    "conjugate_sum",
    "csr",
    "dense",
    "dual_halves",
    "dual_pass",
    "evaluate",
    "fold_losses",
    "gram",
    "gram_descent",
    "group_rows",
    "has_repeated_entries",
    "hessian_product",
    "labels",
    "margin_dual_pass",
    "matmat",
    "matvec",
    "measure",
    "mixed_conjugates",
    "mixed_entropy",
    "mixed_values",
    "probabilities",
    "quadratic_forms",
    "rmatmat",
    "rmatvec",
    "round_rows",
    "scores",
    "simplex_masses",
    "softmax_dual_pass",
    "softmax_evaluate",
    "softmax_gram",
    "softmax_product",
    "sprung",
    "sprung_duals",
    "sprung_line_search",
    "sprung_slopes",
    "squared_norms",
    "stochastic_steps",
]
