"""The hot loops: compiled where a compiler was found, in plain Python elsewhere, behind one type, `Rows`.

A topic has its loops in headers (``dual.hpp``), one file that binds them (``bind_dual.cpp``), and one with the same in
plain Python (``reference/dual.py``); ``rows.py`` is how the rest of linsep calls them, ``reading.py`` for predictions.
"""

from .._common.structure import is_sparse, sound
from . import reference
from .blas import one_blas_thread
from .columns import Columns, ColumnSums
from .formats import length, native
from .loading import compiled_name, kernels_in_use, warn_if_slow
from .reading import labels, libsvm_text, probabilities, scores
from .rows import (
    PACK,
    Ending,
    Rows,
    Springs,
    Sums,
    conjugate_sum,
    fold_losses,
    gram_descent,
    interleaved,
    mixed_conjugates,
    mixed_values,
    simplex_masses,
    sprung_line_search,
    sprung_slopes,
    whole_packs,
)
from .softmax import SoftmaxSums, mixed_entropy
from .workers import (
    IN_ONE_PIECE,
    VISIT_IN_NUMBERS,
    WORTH_A_THREAD,
    at_most_threads,
    helpers,
    in_threads,
    one_ahead,
    one_thread,
    threads,
)

__all__ = [
    "IN_ONE_PIECE",
    "PACK",
    "VISIT_IN_NUMBERS",
    "WORTH_A_THREAD",
    "ColumnSums",
    "Columns",
    "Ending",
    "Rows",
    "SoftmaxSums",
    "Springs",
    "Sums",
    "at_most_threads",
    "compiled_name",
    "conjugate_sum",
    "fold_losses",
    "gram_descent",
    "helpers",
    "in_threads",
    "interleaved",
    "is_sparse",
    "kernels_in_use",
    "labels",
    "length",
    "libsvm_text",
    "mixed_conjugates",
    "mixed_entropy",
    "mixed_values",
    "native",
    "one_ahead",
    "one_blas_thread",
    "one_thread",
    "probabilities",
    "reference",
    "scores",
    "simplex_masses",
    "sound",
    "sprung_line_search",
    "sprung_slopes",
    "threads",
    "warn_if_slow",
    "whole_packs",
]
