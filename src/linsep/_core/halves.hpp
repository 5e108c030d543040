// Dual coordinate descent by two halves of the examples at once, for smooth losses.
//
// Each half works on its own copy of the weights and counts its own moves twice, as if the other half made the same
// ones: then their sum cannot overshoot, D rises at every pass (Ma et al., "Adding vs. averaging in distributed
// primal-dual optimization", 2015, with σ' = 2). The halves are drawn anew for every pass. There are always two of them,
// so the result is the same for any number of threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dual.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace linsep {

// c ℓ(z) + c ℓ*(−α/c) + α z, an example's share of the duality gap when it was met, before α became a.
template <class Loss>
double gap_met(const Loss &, double alpha, double, double z, double, double c) {
    return c * (Loss::value(z) + Loss::conjugate(-alpha / c)) + alpha * z;
}
// To second order, from the step it took: two logarithms an example would take as long as the rest.
inline double gap_met(const Logistic &, double alpha, double a, double, double q, double c) {
    const double h = a * (1.0 - a / c), way = (1.0 + q * h) * (a - alpha);
    return h > 0 ? 0.5 * way * way / h : 0.0;
}

struct Half {
    double b, gap;
};

template <class Loss, class Rows>
Half dual_half(const Rows &X, const double *y, const double *c, const Loss &loss, const double *q, double constant,
               double b, const std::int32_t *order, std::size_t count, double *alpha, double *w) {
    double gap = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(order[k]), next = static_cast<std::size_t>(order[std::min(k + 2, count - 1)]);
        __builtin_prefetch(alpha + next, 1), __builtin_prefetch(q + next), __builtin_prefetch(y + next);
        const auto row = X.row(i);
        const double z = y[i] * (row.dot(w, X.row(next)) + b), bend = 2.0 * (q[i] + constant);
        if (!(bend > 0 && c[i] > 0)) continue;
        const double a = Loss::dual_step(alpha[i], z, bend, c[i]), move = 2.0 * (a - alpha[i]) * y[i];
        gap += gap_met(loss, alpha[i], a, z, bend, c[i]);
        if (move == 0) continue;
        row.add_to(w, move);
        b += constant * move;
        alpha[i] = a;
    }
    return {b, gap};
}

// One pass over all entries of `order`, which it shuffles; `other` is room for another copy of the weights. Returns an
// estimate of the duality gap: the sum of the examples' shares as they were met.
template <class Loss, class Rows>
double dual_halves(const Rows &X, const double *y, const double *c, const Loss &loss, const double *q, double constant,
                   double *b, std::int32_t *order, std::size_t count, std::uint64_t seed, double *alpha, double *w,
                   double *other, std::size_t threads) {
    Random random(seed);
    shuffle(order, count, random);
    std::copy_n(w, X.d, other);
    double *own[2] = {w, other};
    Half half[2];
    threads = useful_threads(X.stored(), threads);
    parallel_for(2, threads, [&](std::size_t k) {
        const std::size_t first = count * k / 2, end = count * (k + 1) / 2;
        half[k] = dual_half(X, y, c, loss, q, constant, *b, order + first, end - first, alpha, own[k]);
    });
    for (std::size_t j = 0; j < X.d; ++j) w[j] = 0.5 * (w[j] + other[j]);  // w₀ + ½ (2 move₁ + 2 move₂)
    *b = 0.5 * (half[0].b + half[1].b);
    return half[0].gap + half[1].gap;
}

}  // namespace linsep
