// What the compiler is told.
#pragma once

// A function of its own, not compiled again into every caller: one that does enough work to be called, and either has
// many callers (a loop over agreements, which does not know of rows, in kernels for each kind of rows) or needs the
// registers for itself (a product with a sparse row).
#define LINSEP_APART __attribute__((noinline))

// Compiled into every caller, however large that has become: a step of a loop that takes a few nanoseconds.
#define LINSEP_WITHIN __attribute__((always_inline)) inline
