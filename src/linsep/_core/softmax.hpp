// Softmax over the scores of K planes: its losses with their gradient, and their Hessian times a direction, each in one
// pass over the rows.
//
// The planes lie side by side, filled up with zeros to whole packs: weight j of plane k is W[j · width + k], and that of
// the intercept follows the last feature's.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compiler.hpp"
#include "elementary.hpp"
#include "parallel.hpp"
#include "products.hpp"

namespace linsep {

// As many numbers as one register holds: half as wide, twice as many.
template <class Real>
struct Side {
    typedef Real Numbers __attribute__((vector_size(32)));
    static constexpr std::size_t count = 32 / sizeof(Real);
    static void load(Numbers &some, const Real *from) { std::memcpy(&some, from, sizeof some); }
    static void store(Real *to, const Numbers &some) { std::memcpy(to, &some, sizeof some); }
};

// Rows that are taken together, so that the planes are read once for all of them, and the sums that registers hold.
constexpr std::size_t abreast = 4, sides = 3;

// out[r] = x_r W for R rows and N registers of planes.
template <std::size_t R, std::size_t N, class Real, class T>
void rows_times_planes(const DenseRow<T> *rows, const Real *W, std::size_t width, Real *out) {
    using S = Side<Real>;
    typename S::Numbers sum[R][N] = {};
    for (std::size_t j = 0; j < rows->d; ++j) {
        typename S::Numbers w[N];
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(w[c], W + j * width + c * S::count);
        LINSEP_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
            const Real x = static_cast<Real>(rows[r].x[j]);
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) sum[r][c] += x * w[c];
        }
    }
    LINSEP_UNROLL
    for (std::size_t r = 0; r < R; ++r)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::store(out + r * width + c * S::count, sum[r][c]);
}

// The same for sparse rows, one after the other; even and odd entries have sums of their own, because one would wait for
// the previous addition at every step.
template <std::size_t R, std::size_t N, class Real, class T, class I>
void rows_times_planes(const SparseRow<T, I> *rows, const Real *W, std::size_t width, Real *out) {
    using S = Side<Real>;
    for (std::size_t r = 0; r < R; ++r) {
        typename S::Numbers even[N] = {}, odd[N] = {};
        const auto &row = rows[r];
        const auto take = [&](std::size_t k, typename S::Numbers *sum) {
            const Real *w = W + row.column(k) * width, x = static_cast<Real>(row.x[k]);
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) {
                typename S::Numbers some;
                S::load(some, w + c * S::count);
                sum[c] += x * some;
            }
        };
        std::size_t k = 0;
        for (; k + 2 <= row.size; k += 2) take(k, even), take(k + 1, odd);
        if (k < row.size) take(k, even);
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::store(out + r * width + c * S::count, even[c] + odd[c]);
    }
}

// W += Σ_r x_r u_rᵀ for R rows and N registers of planes.
template <std::size_t R, std::size_t N, class Real, class T>
void spread_rows(const DenseRow<T> *rows, const Real *u, std::size_t width, Real *W) {
    using S = Side<Real>;
    typename S::Numbers own[R][N];
    LINSEP_UNROLL
    for (std::size_t r = 0; r < R; ++r)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(own[r][c], u + r * width + c * S::count);
    for (std::size_t j = 0; j < rows->d; ++j) {
        Real *to = W + j * width;
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) {
            typename S::Numbers sum;
            S::load(sum, to + c * S::count);
            LINSEP_UNROLL
            for (std::size_t r = 0; r < R; ++r) sum += static_cast<Real>(rows[r].x[j]) * own[r][c];
            S::store(to + c * S::count, sum);
        }
    }
}

template <std::size_t R, std::size_t N, class Real, class T, class I>
void spread_rows(const SparseRow<T, I> *rows, const Real *u, std::size_t width, Real *W) {
    using S = Side<Real>;
    for (std::size_t r = 0; r < R; ++r) {
        typename S::Numbers own[N];
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(own[c], u + r * width + c * S::count);
        for (std::size_t k = 0; k < rows[r].size; ++k) {
            Real *to = W + rows[r].column(k) * width;
            const Real x = static_cast<Real>(rows[r].x[k]);
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) {
                typename S::Numbers sum;
                S::load(sum, to + c * S::count);
                S::store(to + c * S::count, sum + x * own[c]);
            }
        }
    }
}

// Calls f(N, from) for sweeps of at most `sides` registers over the width.
template <class Real, class F>
void each_side(std::size_t width, F f) {
    constexpr std::size_t most = sides * Side<Real>::count;
    for (std::size_t from = 0; from < width; from += most)
        with_packs<sides>(std::min(most, width - from) / Side<Real>::count, [&](auto N) { f(N, from); });
}

// For the rows that `row_at` gives, in blocks that threads share: scores of some rows, what `turn` makes of them in
// their place, and the sum of that times the rows, with a last row for the intercept. `turn(block, first, count, u)`.
template <class Real, class Rows, class RowAt, class Turn>
void pass_over_planes(const Rows &X, std::size_t n, std::size_t stored, RowAt row_at, const Real *W, std::size_t width,
                      Turn turn, std::size_t blocks, double *out, std::size_t threads) {
    const std::size_t size = (X.d + 1) * width;
    std::vector<std::vector<Real>> parts(blocks);
    parallel_for(blocks, useful_threads(stored * width / lane, threads), [&](std::size_t block) {
        parts[block].assign(size, Real(0));
        Real *sum = parts[block].data(), *last = sum + X.d * width;
        const Real *b = W + X.d * width;
        std::vector<Real> u(abreast * width);
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += abreast) {
            const std::size_t count = std::min(abreast, end - first);
            decltype(X.row(0)) rows[abreast] = {row_at(first), row_at(std::min(first + 1, end - 1)),
                                                row_at(std::min(first + 2, end - 1)), row_at(std::min(first + 3, end - 1))};
            each_side<Real>(width, [&](auto N, std::size_t from) {
                if (count == abreast) rows_times_planes<abreast, N>(rows, W + from, width, u.data() + from);
                else
                    for (std::size_t r = 0; r < count; ++r)
                        rows_times_planes<1, N>(rows + r, W + from, width, u.data() + r * width + from);
            });
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < width; ++k) u[r * width + k] += b[k];
            turn(block, first, count, u.data());
            each_side<Real>(width, [&](auto N, std::size_t from) {
                if (count == abreast) spread_rows<abreast, N>(rows, u.data() + from, width, sum + from);
                else
                    for (std::size_t r = 0; r < count; ++r)
                        spread_rows<1, N>(rows + r, u.data() + r * width + from, width, sum + from);
            });
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < width; ++k) last[k] += u[r * width + k];
        }
    });
    std::fill_n(out, size, 0.0);
    for (const auto &part : parts)
        for (std::size_t j = 0; j < size; ++j) out[j] += static_cast<double>(part[j]);
}

// The number of blocks follows from the shape of the data: the same bits for any number of threads.
inline std::size_t class_blocks(std::size_t stored, std::size_t size, std::size_t width) {
    return std::min<std::size_t>(8, stored * width / (32 * size + worth_a_thread) + 1);
}

// What is said of some rows: −log p of the own class, 1 − p of the class with the highest, which that is, and the entropy.
struct Doubts {
    double loss[abreast], doubt[abreast], top[abreast], entropy[abreast];
};

// Of up to four examples with scores u, one in each lane of a register: p in their place. The largest score has
// probability 1 / (1 + rest), so that nothing is lost where the rest is tiny. `room` is for K · abreast numbers twice.
inline Doubts softmax_of(double *u, std::size_t count, std::size_t K, std::size_t width, const std::int64_t *own,
                         double *room) {
    double *less = room, *e = room + K * abreast, highest[abreast], rest[abreast] = {}, spread[abreast] = {}, total[abreast];
    Doubts found{};
    for (std::size_t k = 0; k < K; ++k)
        LINSEP_UNROLL
        for (std::size_t r = 0; r < abreast; ++r) less[k * abreast + r] = u[std::min(r, count - 1) * width + k];
    std::copy_n(less, abreast, highest);
    for (std::size_t k = 1; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < abreast; ++r) {
            const double g = less[k * abreast + r];
            found.top[r] = g > highest[r] ? static_cast<double>(k) : found.top[r];
            highest[r] = g > highest[r] ? g : highest[r];
        }
    for (std::size_t r = 0; r < abreast; ++r)
        found.loss[r] = highest[r] - less[static_cast<std::size_t>(own[std::min(r, count - 1)]) * abreast + r];
    for (std::size_t k = 0; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < abreast; ++r) {
            const double by = less[k * abreast + r] - highest[r];
            e[k * abreast + r] = exp_of_negative(by);
            less[k * abreast + r] = by < -1000.0 ? -1000.0 : by;  // times nothing, which that of −∞ would not be
        }
    for (std::size_t k = 0; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < abreast; ++r) {
            const double other = found.top[r] == static_cast<double>(k) ? 0.0 : e[k * abreast + r];
            rest[r] += other;
            spread[r] += other * less[k * abreast + r];
        }
#pragma omp simd
    for (std::size_t r = 0; r < abreast; ++r) {
        const double log_total = log_of_one_and_more(rest[r]);
        total[r] = 1.0 + rest[r];
        found.loss[r] += log_total;
        found.doubt[r] = rest[r] / total[r];
        found.entropy[r] = log_total - spread[r] / total[r];
    }
    for (std::size_t k = 0; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < abreast; ++r) e[k * abreast + r] /= total[r];
    for (std::size_t r = 0; r < count; ++r)
        for (std::size_t k = 0; k < K; ++k) u[r * width + k] = e[k * abreast + r];
    return found;
}

// In `sums`: Σ s (−log p_y), Σ s over the mistakes, Σ s times the entropy of p. In P each example's p, in `doubt` 1 − p of
// the class with the highest; in `out` Σ s p [x, 1]ᵀ.
template <class Rows>
void softmax_evaluate(const Rows &X, const std::int64_t *codes, const double *weight, const double *W, std::size_t K,
                      std::size_t width, double *P, double *doubt, double *sums, double *out, std::size_t threads) {
    const std::size_t blocks = class_blocks(X.stored(), (X.d + 1) * width, width);
    std::vector<double> parts(3 * blocks, 0.0), room(blocks * 2 * K * abreast);
    const auto turn = [&](std::size_t block, std::size_t first, std::size_t count, double *u) {
        const Doubts found =
            softmax_of(u, count, K, width, codes + first, room.data() + block * 2 * K * abreast);
        double *sum = parts.data() + 3 * block;
        for (std::size_t r = 0; r < count; ++r) {
            double *p = u + r * width;
            const double s = weight ? weight[first + r] : 1.0;
            doubt[first + r] = found.doubt[r];
            sum[0] += s * found.loss[r];
            sum[1] += found.top[r] == static_cast<double>(codes[first + r]) ? 0.0 : s;
            sum[2] += s * found.entropy[r];
            std::copy_n(p, K, P + (first + r) * K);
            if (weight)
                for (std::size_t k = 0; k < K; ++k) p[k] *= s;
        }
    };
    pass_over_planes<double>(X, X.n, X.stored(), [&](std::size_t i) { return X.row(i); }, W, width, turn, blocks, out,
                             threads);
    add_blocks(parts.data(), blocks, 3);
    std::copy_n(parts.data(), 3, sums);
}

// out = Σ s (p ∘ u − p (p·u)) [x, 1]ᵀ with u = [x, 1] V, over the rows `which`, whose p are those of P.
template <class Real, class Rows>
void softmax_product(const Rows &X, const std::int64_t *which, std::size_t count, const Real *P, const Real *s,
                     const Real *V, std::size_t width, double *out, std::size_t threads) {
    const auto turn = [&](std::size_t, std::size_t first, std::size_t some, Real *u) {
        for (std::size_t r = 0; r < some; ++r, u += width) {
            const Real *p = P + (first + r) * width;
            Real mean = 0;
#pragma omp simd reduction(+ : mean)
            for (std::size_t k = 0; k < width; ++k) mean += p[k] * u[k];
            const Real weight = s[first + r];
#pragma omp simd
            for (std::size_t k = 0; k < width; ++k) u[k] = weight * p[k] * (u[k] - mean);
        }
    };
    const std::size_t stored = X.stored() / std::max<std::size_t>(X.n, 1) * count;
    const std::size_t blocks = class_blocks(stored, (X.d + 1) * width, width);
    pass_over_planes<Real>(X, count, stored, [&](std::size_t k) { return X.row(static_cast<std::size_t>(which[k])); },
                           V, width, turn, blocks, out, threads);
}

}  // namespace linsep
