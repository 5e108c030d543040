// Dual coordinate ascent for the margins between K classes (Crammer and Singer): one example a step, its K masses at once.
//
// With w_k = Σ (cᵢ [yᵢ = k] − πᵢₖ) xᵢ, masses π ≥ 0 that sum to cᵢ, the dual is  D(π) = −½ Σ ‖w_k‖² + Σ πᵢₖ over k ≠ yᵢ.
// Along one πᵢ its maximiser is the point of the simplex next to  π + (g + [k ≠ y])/‖xᵢ‖²,  g = xᵢW (Keerthi et al. 2008).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simplex.hpp"
#include "softmax.hpp"

namespace linsep {

// One pass over the examples in this order. `W` has the planes side by side, its last row the intercepts, which move as
// the weights of a column whose square is `constant`; `moved` takes up Σ of all moves of c [y = k] − π, and `still` counts
// how often in a row an example did not move. In `sums`: the duality gap and the losses, each example's share as met.
template <class Rows>
void margin_dual_pass(const Rows &X, const std::int64_t *order, std::size_t count, const std::int64_t *codes,
                      const double *c, const double *squares, double constant, std::size_t K, std::size_t width,
                      double *masses, double *W, double *moved, std::int64_t *still, double *sums) {
    std::vector<double> g(width, 0.0), change(width, 0.0), next(K);
    std::vector<std::size_t> left(K);
    double *b = W + X.d * width;
    sums[0] = sums[1] = 0;
    for (std::size_t visit = 0; visit < count; ++visit) {
        const auto i = static_cast<std::size_t>(order[visit]), own = static_cast<std::size_t>(codes[i]);
        X.fetch(static_cast<std::size_t>(order[std::min(visit + 2, count - 1)]));
        const auto row = X.row(i);
        each_side<double>(width, [&](auto N, std::size_t from) {
            rows_times_planes<1, N>(&row, b + from, W + from, width, g.data() + from);
        });
        double *pi = masses + i * K, highest = g[own], held = 0;
        for (std::size_t k = 0; k < K; ++k) {
            g[k] += k != own;
            highest = std::max(highest, g[k]), held += pi[k] * g[k];
        }
        sums[0] += std::max(c[i] * highest - held, 0.0), sums[1] += c[i] * (highest - g[own]);
        const double square = std::max(squares[i] + constant, 1e-300);
        for (std::size_t k = 0; k < K; ++k) next[k] = pi[k] + (g[k] - highest) / square;
        nearest_masses(next.data(), K, c[i], left.data());
        bool moves = false;
        for (std::size_t k = 0; k < K; ++k) {
            change[k] = pi[k] - next[k];
            moves = moves || change[k] != 0;
        }
        if (!moves) {
            ++still[i];
            continue;
        }
        still[i] = 0;
        for (std::size_t k = 0; k < K; ++k) moved[k] += change[k], b[k] += constant * change[k], pi[k] = next[k];
        each_side<double>(width, [&](auto N, std::size_t from) {
            spread_rows<1, N>(&row, change.data() + from, width, W + from);
        });
    }
}

}  // namespace linsep
