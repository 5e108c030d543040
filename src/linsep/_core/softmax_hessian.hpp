// The Hessian of a softmax's losses, Σ s (diag(p) − ppᵀ) ⊗ [x, 1][x, 1]ᵀ: the matrix itself, and the inverses of its blocks
// on the diagonal, one a class. They shape steps: over a sample of the rows and in single precision, if that will do.
//
// Without a BLAS, whose threads look out for more work so long after each call that ours would have no core.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hessian.hpp"
#include "softmax.hpp"

namespace linsep {

template <class Real>
std::size_t whole_sides(std::size_t size) {
    return (size + Side<Real>::count - 1) / Side<Real>::count * Side<Real>::count;
}

// to = c [x, 1], filled up with zeros.
template <class Row, class Real>
void spread_row(const Row &row, std::size_t d, std::size_t width, Real c, Real *to) {
    std::fill_n(to, width, Real(0));
    for (std::size_t k = 0; k < row.count(); ++k) to[row.column(k)] = c * static_cast<Real>(row.value(k));
    to[d] = c;
}

// Adds Σ h_r S_r S_rᵀ, over rows [x, 1] that are spread already, to the lower triangle of `sum`.
template <class Real, class Weight>
void add_weighted_squares(const Real *S, std::size_t width, std::size_t first, std::size_t end, Weight h, Real *sum) {
    std::vector<Real> some(rows_at_once * width);
    for (; first < end; first += rows_at_once) {
        const std::size_t count = std::min(rows_at_once, end - first);
        for (std::size_t r = 0; r < count; ++r) {
            const Real root = static_cast<Real>(std::sqrt(h(first + r))), *from = S + (first + r) * width;
            Real *to = some.data() + r * width;
#pragma omp simd
            for (std::size_t j = 0; j < width; ++j) to[j] = root * from[j];
        }
        add_square(some.data(), width, count, sum);
    }
}

// The lower triangle of the Hessian over the rows `which`, whose weights are s; P has p of all rows. The weights of a class
// lie side by side. Each pair of classes has a symmetric block, −Σ s p_k p_m [x, 1][x, 1]ᵀ, and those on the diagonal are
// what the others of their class add up to, since p_k (1 − p_k) = Σ p_k p_m: nothing cancels where p is near one.
template <class Real, class Rows>
void softmax_gram(const Rows &X, const std::int64_t *which, std::size_t count, const double *P, std::size_t K,
                  const double *s, Real *out, std::size_t threads) {
    const std::size_t size = X.d + 1, width = whole_sides<Real>(size), pairs = K * (K - 1) / 2, square = width * width;
    const std::size_t work = count * pairs * square / 16;
    // How many parts the rows have follows from the shape of the data: the same bits for any number of threads.
    const std::size_t parts = std::min(work / worth_a_thread, 7 / std::max<std::size_t>(pairs, 1)) + 1;
    threads = useful_threads(work, threads);
    std::vector<Real> S(count * width), sums(pairs * parts * square, Real(0));
    const std::size_t blocks = threads == 1 ? 1 : 4 * threads;
    parallel_for(blocks, threads, [&](std::size_t block) {
        for (std::size_t r = count * block / blocks; r < count * (block + 1) / blocks; ++r)
            spread_row(X.row(static_cast<std::size_t>(which[r])), X.d, width, Real(1), S.data() + r * width);
    });
    std::vector<std::size_t> first, second;
    for (std::size_t k = 1; k < K; ++k)
        for (std::size_t m = 0; m < k; ++m) first.push_back(k), second.push_back(m);
    parallel_for(pairs * parts, threads, [&](std::size_t task) {
        const std::size_t pair = task / parts, part = task % parts, k = first[pair], m = second[pair];
        const auto h = [&](std::size_t r) {
            const double *p = P + static_cast<std::size_t>(which[r]) * K;
            return s[r] * p[k] * p[m];
        };
        add_weighted_squares(S.data(), width, count * part / parts, count * (part + 1) / parts, h,
                             sums.data() + task * square);
    });
    const std::size_t all = K * size;
    std::fill_n(out, all * all, Real(0));
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        Real *sum = sums.data() + pair * parts * square;
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t j = 0; j < square; ++j) sum[j] += sum[part * square + j];
        Real *off = out + first[pair] * size * all + second[pair] * size;
        Real *mine = out + first[pair] * size * (all + 1), *theirs = out + second[pair] * size * (all + 1);
        for (std::size_t j = 0; j < size; ++j)
            for (std::size_t l = 0; l <= j; ++l) {
                const Real some = sum[j * width + l];
                off[j * all + l] = off[l * all + j] = -some;
                mine[j * all + l] += some, theirs[j * all + l] += some;
            }
    }
}

// out = A⁻¹ for A of which the lower triangle is filled, rows of that width: brought to one scale, nudged as little as lets
// no pivot vanish, then by Gauss and Jordan. A direction in which nothing bends counts as one that bends by one.
inline void invert_scaled(const float *A, std::size_t width, std::size_t size, double nudge, float *out) {
    std::vector<float> scale(size), M(size * width);
    for (std::size_t j = 0; j < size; ++j) scale[j] = A[j * width + j] > 0 ? 1.0F / std::sqrt(A[j * width + j]) : 1.0F;
    bool done = false;
    for (; !done; nudge *= 100) {
        std::fill(M.begin(), M.end(), 0.0F);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < i; ++j)
                M[i * width + j] = M[j * width + i] = A[i * width + j] * scale[i] * scale[j];
            M[i * width + i] = static_cast<float>(1.0 + nudge);
        }
        done = true;
        for (std::size_t k = 0; done && k < size; ++k) {
            float *own = M.data() + k * width;
            done = own[k] > static_cast<float>(nudge / 4) || nudge > 1e6;
            const float inverse = 1.0F / own[k];
            own[k] = 1.0F;
#pragma omp simd
            for (std::size_t j = 0; j < width; ++j) own[j] *= inverse;
            for (std::size_t i = 0; i < size; ++i) {
                if (i == k) continue;
                float *row = M.data() + i * width;
                const float times = row[k];
                row[k] = 0.0F;
#pragma omp simd
                for (std::size_t j = 0; j < width; ++j) row[j] -= times * own[j];
            }
        }
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            out[i * size + j] = out[j * size + i] = M[i * width + j] * scale[i] * scale[j];
}

// The rows that stand for all, those rather that bend much and are long: each with the chance p = min(1, most · v / Σ v),
// and counting 1/p times. One random number places all draws evenly, as in `sampling.draw`.
struct Drawn {
    std::vector<std::size_t> rows;
    std::vector<double> h;

    template <class Bend>
    Drawn(std::size_t n, Bend bend, const double *lengths, double mean, double most, double offset) {
        double total = 0, ticks = 0;
        for (std::size_t i = 0; i < n; ++i) total += bend(i) * (lengths[i] + mean);
        const double times = total > 0 ? most / total : 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double h_i = bend(i), p = 2 * most >= static_cast<double>(n) ? 1.0 : std::min(1.0, times * h_i * (lengths[i] + mean));
            const double before = std::floor(ticks + offset);
            ticks += p;
            if (std::floor(ticks + offset) > before) rows.push_back(i), h.push_back(h_i / p);
        }
    }
};

// out[k] = (l2·I + Σ s p_k (1 − p_k) [x, 1][x, 1]ᵀ)⁻¹ for each class, over about `most` rows, in single precision; the
// intercept is not penalised, or not there.
template <class Rows>
void class_inverses(const Rows &X, const double *P, std::size_t K, const double *s, const double *lengths, double most,
                    const double *offsets, double l2, bool intercept, double nudge, float *out, std::size_t threads) {
    const std::size_t size = X.d + (intercept ? 1 : 0), width = whole_sides<float>(X.d + 1);
    double mean = 0;
    for (std::size_t i = 0; i < X.n; ++i) mean += lengths[i];
    mean = mean > 0 ? mean / static_cast<double>(X.n) : 1.0;
    bool alike = true;  // as at zero
    for (std::size_t k = 0; alike && k < X.n * K; ++k) alike = P[k] == P[k - k % K];
    const std::size_t work = K * (X.n + static_cast<std::size_t>(most) * width * width / 16 + width * width * width / 8);
    parallel_for(alike ? 1 : K, useful_threads(work, threads), [&](std::size_t k) {
        const auto bend = [&](std::size_t i) { return s[i] * P[i * K + k] * (1.0 - P[i * K + k]); };
        const Drawn drawn(X.n, bend, lengths, mean, most, offsets[k]);
        const std::size_t count = drawn.rows.size();
        std::vector<float> sum(width * width, 0.0F), some(rows_at_once * width);
        for (std::size_t first = 0; first < count; first += rows_at_once) {
            const std::size_t here = std::min(rows_at_once, count - first);
            for (std::size_t r = 0; r < here; ++r)
                spread_row(X.row(drawn.rows[first + r]), X.d, width, static_cast<float>(std::sqrt(drawn.h[first + r])),
                           some.data() + r * width);
            add_square(some.data(), width, here, sum.data());
        }
        for (std::size_t j = 0; j < X.d; ++j) sum[j * (width + 1)] += static_cast<float>(l2);
        invert_scaled(sum.data(), width, size, nudge, out + k * size * size);
    });
    if (alike)
        for (std::size_t k = 1; k < K; ++k) std::copy_n(out, size * size, out + k * size * size);
}

}  // namespace linsep
