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

// Rows whose scores are made, turned and spread in one go, so that several exponentials are under way at any time; and the
// registers of planes that are swept over at a time.
constexpr std::size_t group = 16, sides = 3;

// Rows that share what is read of N registers of planes: their sums fill the registers, or keep the adders busy.
constexpr std::size_t abreast(std::size_t N) { return N == 1 ? 8 : 4; }

// out[r] = b + x_r W for R rows and N registers of planes.
template <std::size_t R, std::size_t N, class Real, class T>
void rows_times_planes(const DenseRow<T> *rows, const Real *b, const Real *W, std::size_t width, Real *out) {
    using S = Side<Real>;
    typename S::Numbers sum[R][N];
    LINSEP_UNROLL
    for (std::size_t r = 0; r < R; ++r)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(sum[r][c], b + c * S::count);
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
void rows_times_planes(const SparseRow<T, I> *rows, const Real *b, const Real *W, std::size_t width, Real *out) {
    using S = Side<Real>;
    for (std::size_t r = 0; r < R; ++r) {
        typename S::Numbers even[N], odd[N] = {};
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(even[c], b + c * S::count);
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

// Calls f(R, r) for R rows at a time, the first of which is r, and for what is left of them one by one.
template <std::size_t R, class F>
void each_few(std::size_t count, F f) {
    std::size_t r = 0;
    for (; r + R <= count; r += R) f(std::integral_constant<std::size_t, R>{}, r);
    for (; r < count; ++r) f(std::integral_constant<std::size_t, 1>{}, r);
}

// sum += Σ_r u_r, one register of planes after the other.
template <class Real>
void add_up(const Real *u, std::size_t count, std::size_t width, Real *sum) {
    using S = Side<Real>;
    for (std::size_t c = 0; c < width; c += S::count) {
        typename S::Numbers all, one;
        S::load(all, sum + c);
        for (std::size_t r = 0; r < count; ++r) S::load(one, u + r * width + c), all += one;
        S::store(sum + c, all);
    }
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
        Real *sum = parts[block].data();
        const Real *b = W + X.d * width;
        std::vector<Real> scores(group * width);
        Real *u = scores.data();
        decltype(X.row(0)) rows[group];
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += group) {
            const std::size_t count = std::min(group, end - first);
            for (std::size_t r = 0; r < count; ++r) rows[r] = row_at(first + r);
            each_side<Real>(width, [&](auto N, std::size_t from) {
                each_few<abreast(N)>(count, [&](auto R, std::size_t r) {
                    rows_times_planes<R, N>(rows + r, b + from, W + from, width, u + r * width + from);
                });
            });
            turn(block, first, count, u);
            each_side<Real>(width, [&](auto N, std::size_t from) {
                each_few<abreast(N)>(count, [&](auto R, std::size_t r) {
                    spread_rows<R, N>(rows + r, u + r * width + from, width, sum + from);
                });
            });
            add_up(u, count, width, sum + X.d * width);
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

// What is said of a group of rows: the highest score, of which class it is, the log of Σ e^(scores less that), one over this
// sum, 1 − p of that class, and the entropy of p.
struct Doubts {
    double highest[group], top[group], log_total[group], share[group], doubt[group], entropy[group];
};

// Of a group of examples with scores u, one in each lane of a register: e^(score less the highest), a class after the
// other, and what is said of them. The class with the highest has probability 1 / (1 + rest), so that nothing is lost where
// the rest is tiny. Where the group is not full, what the other lanes say means nothing.
inline void softmax_of(const double *u, std::size_t K, std::size_t width, double *e, Doubts &found) {
    double rest[group], spread[group];
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t r = 0; r < group; ++r) e[k * group + r] = u[r * width + k];
    for (std::size_t r = 0; r < group; ++r) found.highest[r] = e[r], found.top[r] = rest[r] = spread[r] = 0.0;
    for (std::size_t k = 1; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < group; ++r) {
            const double g = e[k * group + r];
            found.top[r] = g > found.highest[r] ? static_cast<double>(k) : found.top[r];
            found.highest[r] = g > found.highest[r] ? g : found.highest[r];
        }
    for (std::size_t k = 0; k < K; ++k)
#pragma omp simd
        for (std::size_t r = 0; r < group; ++r) {
            const double less = e[k * group + r] - found.highest[r], power = exp_of_negative(less);
            const double other = found.top[r] == static_cast<double>(k) ? 0.0 : power;
            e[k * group + r] = power;
            rest[r] += other;
            spread[r] += other * (less < -1000.0 ? -1000.0 : less);  // times nothing, which that of −∞ would not be
        }
#pragma omp simd
    for (std::size_t r = 0; r < group; ++r) {
        found.log_total[r] = log_of_one_and_more(rest[r]);
        found.share[r] = 1.0 / (1.0 + rest[r]);
        found.doubt[r] = rest[r] * found.share[r];
        found.entropy[r] = found.log_total[r] - spread[r] * found.share[r];
    }
}

// In `sums`: Σ s (−log p_y), Σ s over the mistakes, Σ s times the entropy of p. In P each example's p, in `doubt` 1 − p of
// the class with the highest; in `out` Σ s p [x, 1]ᵀ.
template <class Rows>
void softmax_evaluate(const Rows &X, const std::int64_t *codes, const double *weight, const double *W, std::size_t K,
                      std::size_t width, double *P, double *doubt, double *sums, double *out, std::size_t threads) {
    const std::size_t blocks = class_blocks(X.stored(), (X.d + 1) * width, width);
    std::vector<double> parts(3 * blocks, 0.0), room(blocks * K * group);
    const auto turn = [&](std::size_t block, std::size_t first, std::size_t count, double *u) {
        double *e = room.data() + block * K * group, s[group], value = 0, mistakes = 0, entropy = 0;
        Doubts found;
        softmax_of(u, K, width, e, found);
        for (std::size_t r = 0; r < count; ++r) {
            const auto own = static_cast<std::size_t>(codes[first + r]);
            s[r] = weight ? weight[first + r] : 1.0;
            value += s[r] * (found.highest[r] - u[r * width + own] + found.log_total[r]);
            mistakes += s[r] * static_cast<double>(found.top[r] != static_cast<double>(own));
            entropy += s[r] * found.entropy[r];
        }
        std::copy_n(found.doubt, count, doubt + first);
        double *sum = parts.data() + 3 * block, *p = P + first * K;
        sum[0] += value, sum[1] += mistakes, sum[2] += entropy;
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t r = 0; r < count; ++r) {
                p[r * K + k] = e[k * group + r] * found.share[r];
                u[r * width + k] = s[r] * p[r * K + k];
            }
    };
    pass_over_planes<double>(X, X.n, X.stored(), [&](std::size_t i) { return X.row(i); }, W, width, turn, blocks, out,
                             threads);
    add_blocks(parts.data(), blocks, 3);
    std::copy_n(parts.data(), 3, sums);
}

// out[k] = Σ s x over the examples of each class.
template <class Rows>
void class_sums(const Rows &X, const std::int64_t *codes, const double *s, std::size_t K, double *out,
                std::size_t threads) {
    const std::size_t blocks = block_count(X, K * X.d), size = K * X.d;
    std::vector<double> parts(blocks * size, 0.0);
    parallel_for(blocks, useful_threads(X.stored(), threads), [&](std::size_t block) {
        double *sum = parts.data() + block * size;
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i)
            X.row(i).add_to(sum + static_cast<std::size_t>(codes[i]) * X.d, s[i]);
    });
    add_blocks(parts.data(), blocks, size);
    std::copy_n(parts.data(), size, out);
}

// Dense rows in single precision.
template <class Rows>
void round_rows(const Rows &X, float *out, std::size_t threads) {
    threads = useful_threads(2 * X.stored(), threads);
    const std::size_t blocks = threads == 1 ? 1 : 4 * threads;
    parallel_for(blocks, threads, [&](std::size_t block) {
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i) {
            const auto row = X.row(i);
            float *to = out + i * X.d;
            row.each_column([&](std::size_t j) { to[j] = static_cast<float>(row.value(j)); });
        }
    });
}

// Σ s times the entropy of t_p p + t_q q + t_y e_y, e_y all on the own class: of probabilities P that are mixed with one row
// q for all. No log of nothing: −p log p = p log(1 + (1/p − 1)), and that of 1/0 is taken for a large number.
inline double mixed_entropy(const double *P, std::size_t n, std::size_t K, const std::int64_t *codes, const double *s,
                            double t_p, double t_q, const double *q, double t_y, std::size_t threads) {
    const std::size_t blocks = std::min<std::size_t>(8, 8 * n * K / worth_a_thread + 1);
    std::vector<double> parts(blocks, 0.0), fixed(K);
    for (std::size_t k = 0; k < K; ++k) fixed[k] = t_q * q[k];
    parallel_for(blocks, useful_threads(8 * n * K, threads), [&](std::size_t block) {
        std::vector<double> mixed(group * K);
        double total = 0;
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += group) {
            const std::size_t count = std::min(group, end - first);
            for (std::size_t r = 0; r < count; ++r) {
                for (std::size_t k = 0; k < K; ++k) mixed[r * K + k] = t_p * P[(first + r) * K + k] + fixed[k];
                mixed[r * K + static_cast<std::size_t>(codes[first + r])] += t_y;
            }
#pragma omp simd
            for (std::size_t k = 0; k < count * K; ++k) mixed[k] *= log_of_one_and_more(1.0 / mixed[k] - 1.0);
            for (std::size_t r = 0; r < count; ++r) {
                double entropy = 0;
                for (std::size_t k = 0; k < K; ++k) entropy += mixed[r * K + k];
                total += s[first + r] * entropy;
            }
        }
        parts[block] = total;
    });
    add_blocks(parts.data(), blocks, 1);
    return parts[0];
}

// out = Σ s (p ∘ u − p (p·u)) [x, 1]ᵀ with u = [x, 1] V, over the rows `which`; P has p of all rows, one row of K each.
template <class Real, class Rows>
void softmax_product(const Rows &X, const std::int64_t *which, std::size_t count, const double *P, std::size_t K,
                     const double *s, const Real *V, std::size_t width, double *out, std::size_t threads) {
    const auto turn = [&](std::size_t, std::size_t first, std::size_t some, Real *u) {
        for (std::size_t r = 0; r < some; ++r, u += width) {
            const auto i = static_cast<std::size_t>(which[first + r]);
            const double *p = P + i * K;
            Real mean = 0;
#pragma omp simd reduction(+ : mean)
            for (std::size_t k = 0; k < K; ++k) mean += static_cast<Real>(p[k]) * u[k];
            const Real weight = static_cast<Real>(s[i]);
#pragma omp simd
            for (std::size_t k = 0; k < K; ++k) u[k] = weight * static_cast<Real>(p[k]) * (u[k] - mean);
        }
    };
    const std::size_t stored = X.stored() / std::max<std::size_t>(X.n, 1) * count;
    const std::size_t blocks = class_blocks(stored, (X.d + 1) * width, width);
    pass_over_planes<Real>(X, count, stored, [&](std::size_t k) { return X.row(static_cast<std::size_t>(which[k])); },
                           V, width, turn, blocks, out, threads);
}

}  // namespace linsep
