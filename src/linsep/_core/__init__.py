"""The hot loops: compiled where a compiler was found, in plain Python elsewhere, behind one type, `Rows`.

A topic has one file on each side: ``dual.hpp`` (the loops), ``reference/dual.py`` (the same in plain Python) and
``dual.py`` (how the rest of linsep calls them).
"""

from . import reference
from .coordinate import gram_descent
from .formats import is_sparse, length, native
from .libsvm import libsvm_text
from .loading import compiled_name, kernels_in_use, warn_if_slow
from .multipliers import Ending, Springs, sprung_line_search
from .objective import Sums, conjugate_sum
from .reading import labels, probabilities, scores
from .rows import Rows
from .softmax import SoftmaxSums
from .stochastic import PACK, interleaved, whole_packs
from .workers import WORTH_A_THREAD, in_threads, one_thread, threads

__all__ = [
    "PACK",
    "WORTH_A_THREAD",
    "Ending",
    "Rows",
    "SoftmaxSums",
    "Springs",
    "Sums",
    "compiled_name",
    "conjugate_sum",
    "gram_descent",
    "in_threads",
    "interleaved",
    "is_sparse",
    "kernels_in_use",
    "labels",
    "length",
    "libsvm_text",
    "native",
    "one_thread",
    "probabilities",
    "reference",
    "scores",
    "sprung_line_search",
    "threads",
    "warn_if_slow",
    "whole_packs",
]
