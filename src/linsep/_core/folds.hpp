// All folds of a cross-validation at once: what a row says of the planes of every fold but the one it is held out of.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler.hpp"
#include "mixtures.hpp"
#include "parallel.hpp"

namespace linsep {

// slope = ℓ'(z) and U = s y ℓ'(z) of some rows and one plane, zero on rows that it holds out; returns Σ s ℓ(z) over the
// others. U has a column for each of K planes.
template <class Loss>
LINSEP_APART double slopes_of(const double *z, const double *y, const double *s, const std::int64_t *held_out_of,
                              std::int64_t plane, std::size_t count, double *slope, double *U, std::size_t K) {
    double sum = 0, signed_slopes[mixed_at_once];
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) {
        const double each = Loss::slope(z[i]), value = s[i] * Loss::value(z[i]);
        const bool out = held_out_of[i] == plane;
        slope[i] = out ? 0.0 : each;
        signed_slopes[i] = out ? 0.0 : each * s[i] * y[i];
        sum += out ? 0.0 : value;
    }
    for (std::size_t i = 0; i < count; ++i) U[i * K] = signed_slopes[i];
    return sum;
}

// The same of all rows and the planes of K folds, whose agreements are the rows of Z.
template <class Loss>
void fold_losses(const double *Z, const double *y, const double *weight, const std::int64_t *held_out_of,
                 std::size_t n, std::size_t K, double *slope, double *U, double *values, std::size_t threads) {
    const std::size_t blocks = pieces(n);
    std::vector<double> parts(blocks * K, 0.0);
    in_pieces(n, blocks, weight, threads,
              [&](std::size_t block, std::size_t first, std::size_t count, const double *s) {
                  for (std::size_t k = 0; k < K; ++k)
                      parts[block * K + k] +=
                          slopes_of<Loss>(Z + k * n + first, y + first, s, held_out_of + first,
                                          static_cast<std::int64_t>(k), count, slope + k * n + first,
                                          U + first * K + k, K);
              });
    add_blocks(parts.data(), blocks, K);
    std::copy_n(parts.data(), K, values);
}

}  // namespace linsep
