// Coordinate descent on a quadratic model with an L1 penalty: what a proximal Newton step minimises.
//
//     q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁
//
// H is given either as a matrix or as A diag(h) Aᵀ − c cᵀ + l2·I with one row of A for each coordinate.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace linsep {

// argmin_u ½ bend (u − w)² + q (u − w) + l1 |u|
inline double soft_step(double w, double q, double bend, double l1) {
    const double t = bend * w - q, size = std::fabs(t) - l1;
    return size > 0 ? std::copysign(size, t) / bend : 0.0;
}

// Passes over the m coordinates until none changes its slope by more than `accuracy`, keeping q the gradient of the
// quadratic part at w. Looking at a coordinate costs one step, only moving it m. Returns the last pass's largest change.
inline double gram_descent(const double *H, std::size_t m, double l1, double accuracy, std::size_t passes, double *q,
                           double *w) {
    double largest = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        largest = 0;
        for (std::size_t j = 0; j < m; ++j) {
            const double *row = H + j * m, bend = row[j];
            if (!(bend > 0)) continue;
            const double u = soft_step(w[j], q[j], bend, l1), change = u - w[j];
            if (change == 0) continue;
            w[j] = u;
#pragma omp simd
            for (std::size_t k = 0; k < m; ++k) q[k] += change * row[k];
            largest = std::max(largest, std::fabs(change) * bend);
        }
        if (largest <= accuracy) break;
    }
    return largest;
}

// Some rows of a matrix, in the order of their numbers.
template <class Rows>
struct Some {
    const Rows &of;
    const std::int64_t *which;
    std::size_t n, d;
    Some(const Rows &of, const std::int64_t *which, std::size_t n) : of(of), which(which), n(n), d(of.d) {}
    auto row(std::size_t j) const { return of.row(static_cast<std::size_t>(which[j])); }
    std::size_t stored() const {
        std::size_t sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += row(j).count();
        return sum;
    }
};

// Of each column of the data, a row of A: Σ u x over the positive class and over the negative one (all of it in the
// first, without labels), Σ h x and Σ h x². One pass for all four, since reading the entries is most of the work.
template <class Rows>
void column_sums(const Rows &A, const double *u, const double *h, const double *y, double *out, std::size_t threads) {
    threads = useful_threads(A.stored(), threads);
    const std::size_t blocks = threads == 1 ? 1 : 8 * threads;
    parallel_for(blocks, threads, [&](std::size_t block) {
        for (std::size_t j = A.n * block / blocks; j < A.n * (block + 1) / blocks; ++j) {
            const auto row = A.row(j);
            double sum[2] = {0, 0}, first = 0, second = 0;
            for (std::size_t k = 0; k < row.count(); ++k) {
                const std::size_t i = row.column(k);
                const double x = row.value(k), hx = h[i] * x, ux = u[i] * x;
                const double negative = y && y[i] < 0 ? ux : 0.0;
                sum[1] += negative, sum[0] += ux - negative;
                first += hx, second += hx * x;
            }
            out[j] = sum[0], out[A.n + j] = sum[1], out[2 * A.n + j] = first, out[3 * A.n + j] = second;
        }
    });
}

// The same descent for H = A diag(h) Aᵀ − c cᵀ + l2·I, whose diagonal is `bend`: q stays the gradient at δ = 0, and
// t = h ∘ Aᵀδ and `along` = c·δ are kept up to date instead. Coordinates at zero are looked at in the first pass and
// whenever the others have settled.
template <class Rows>
double column_descent(const Rows &A, const double *h, const double *c, const double *bend, const double *q,
                      const double *w, double l1, double l2, double accuracy, std::size_t passes, double *delta,
                      double *t, double *along) {
    std::vector<std::size_t> active;
    double largest = 0;
    bool everything = true;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        largest = 0;
        if (everything) active.clear();
        const std::size_t count = everything ? A.n : active.size();
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t j = everything ? k : active[k];
            if (!(bend[j] > 0)) continue;
            const auto row = A.row(j);
            const double now = w[j] + delta[j];
            const double slope = q[j] + row.dot(t) - c[j] * *along + l2 * delta[j];
            const double u = soft_step(now, slope, bend[j], l1), change = u - now;
            if (everything && (u != 0 || now != 0)) active.push_back(j);
            if (change == 0) continue;
            delta[j] = u - w[j];
            for (std::size_t k = 0; k < row.count(); ++k) {
                const std::size_t i = row.column(k);
                t[i] += change * h[i] * row.value(k);
            }
            *along += c[j] * change;
            largest = std::max(largest, std::fabs(change) * bend[j]);
        }
        if (largest <= accuracy && everything) break;
        everything = largest <= accuracy || pass % 10 == 9;
    }
    return largest;
}

}  // namespace linsep
