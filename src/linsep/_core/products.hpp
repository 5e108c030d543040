// Products of the data with vectors, Xw and Xᵀu, and with matrices of a few columns, one column a class: XW and XᵀU.
// Every number is a sum over the same entries in the same order, however the work is split among threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"

// Loops over rows and packs whose sums must be in registers, which have no index: each turn is written out.
#define LINSEP_UNROLL _Pragma("GCC unroll 8")

namespace linsep {

// out[i, k] = x_i · w_k for `count` vectors, so that each row is read once however many there are.
template <class Rows>
void matvec(const Rows &X, const double *w, std::size_t count, double *out, std::size_t threads) {
    threads = useful_threads(X.stored() * count, threads);
    const std::size_t blocks = threads == 1 ? 1 : 4 * threads;
    parallel_for(blocks, threads, [&](std::size_t block) {
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i) {
            const auto row = X.row(i);
            for (std::size_t k = 0; k < count; ++k) out[i * count + k] = row.dot(w + k * X.d);
        }
    });
}

// out = Σ u_i x_i.
template <class Rows>
void rmatvec(const Rows &X, const double *u, double *out, std::size_t threads) {
    const std::size_t blocks = block_count(X, X.d);
    std::vector<double> parts(blocks * X.d, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        double *sum = parts.data() + block * X.d;
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i)
            if (u[i] != 0) X.row(i).add_to(sum, u[i]);
    });
    add_blocks(parts.data(), blocks, X.d);
    std::copy(parts.begin(), parts.begin() + X.d, out);
}

template <class Rows>
void squared_norms(const Rows &X, double *out, std::size_t threads) {
    threads = useful_threads(X.stored(), threads);
    parallel_for(threads, threads, [&](std::size_t block) {
        for (std::size_t i = X.n * block / threads; i < X.n * (block + 1) / threads; ++i)
            out[i] = X.row(i).squared_norm();
    });
}

// out[i] = [x_i, 1]ᵀ G [x_i, 1] for a symmetric G: of sparse rows as many products as pairs of entries.
template <class Rows>
void quadratic_forms(const Rows &X, const double *G, double *out, std::size_t threads) {
    const std::size_t width = X.d + 1;
    const double *last = G + X.d * width;
    threads = useful_threads(X.stored() * (X.stored() / std::max<std::size_t>(X.n, 1) + 1), threads);
    parallel_for(threads, threads, [&](std::size_t block) {
        for (std::size_t i = X.n * block / threads; i < X.n * (block + 1) / threads; ++i) {
            const auto row = X.row(i);
            double sum = last[X.d];
            for (std::size_t k = 0; k < row.count(); ++k) {
                const std::size_t j = row.column(k);
                sum += row.value(k) * (row.dot(G + j * width) + 2 * last[j]);
            }
            out[i] = sum;
        }
    });
}

// -- matrices ---------------------------------------------------------------------------------------------------------

// Columns are taken in packs of four doubles.
constexpr std::size_t lane = 4;
typedef double Pack __attribute__((vector_size(lane * sizeof(double))));

inline void load(Pack &pack, const double *from) { std::memcpy(&pack, from, sizeof pack); }
inline void store(double *to, const Pack &pack) { std::memcpy(to, &pack, sizeof pack); }

// As many numbers as one register holds: half as wide, twice as many.
template <class Real>
struct Side {
    typedef Real Numbers __attribute__((vector_size(32)));
    static constexpr std::size_t count = 32 / sizeof(Real);
    static void load(Numbers &some, const Real *from) { std::memcpy(&some, from, sizeof some); }
    static void store(Real *to, const Numbers &some) { std::memcpy(to, &some, sizeof some); }
};

// Calls f(N) with N, a compile-time constant, the number of packs: at most `most`.
template <std::size_t most, class F>
void with_packs(std::size_t packs, F f) {
    if constexpr (most > 1)
        if (packs < most) return with_packs<most - 1>(packs, f);
    f(std::integral_constant<std::size_t, most>{});
}

// A copy with the columns filled up with zeros to whole packs.
inline std::vector<double> filled_up(const double *W, std::size_t rows, std::size_t columns, std::size_t width) {
    std::vector<double> out(rows * width, 0.0);
    for (std::size_t j = 0; j < rows; ++j) std::copy_n(W + j * columns, columns, out.data() + j * width);
    return out;
}

// out[r] = x_r W for R neighbouring rows and N packs of columns: W's entries are read once for all of them.
template <std::size_t R, std::size_t N, class T>
void dense_product(const T *x, std::size_t d, const double *W, std::size_t width, double *out) {
    Pack sum[R][N] = {};
    for (std::size_t j = 0; j < d; ++j) {
        Pack w[N];
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) load(w[c], W + j * width + lane * c);
        LINSEP_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
            const double v = static_cast<double>(x[r * d + j]);
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) sum[r][c] += v * w[c];
        }
    }
    LINSEP_UNROLL
    for (std::size_t r = 0; r < R; ++r)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) store(out + (r * N + c) * lane, sum[r][c]);
}

constexpr std::size_t together = 4, dense_packs = 3;  // rows and packs whose sums fit into the registers

template <class T>
std::size_t filled_width(const Dense<T> &, std::size_t columns) {
    return (columns + lane - 1) / lane * lane;
}

// out = the rows from `first` to `last` times W, whose columns are filled up to whole packs.
template <class T>
void products(const Dense<T> &X, std::size_t first, std::size_t last, const double *W, std::size_t columns, double *out) {
    const std::size_t width = filled_width(X, columns), packs = width / lane;
    double sums[together * dense_packs * lane];
    for (std::size_t i = first; i < last; i += together, out += together * columns) {
        const std::size_t rows = std::min(together, last - i);
        for (std::size_t pack = 0; pack < packs; pack += dense_packs) {
            const std::size_t some = std::min(dense_packs, packs - pack), from = pack * lane;
            with_packs<dense_packs>(some, [&](auto N) {
                if (rows == together)
                    dense_product<together, N>(X.x + i * X.d, X.d, W + from, width, sums);
                else
                    for (std::size_t r = 0; r < rows; ++r)
                        dense_product<1, N>(X.x + (i + r) * X.d, X.d, W + from, width, sums + r * some * lane);
            });
            for (std::size_t r = 0; r < rows; ++r)
                std::copy_n(sums + r * some * lane, std::min(some * lane, columns - from), out + r * columns + from);
        }
    }
}

template <class T>
void matmat(const Dense<T> &X, const double *W, std::size_t columns, double *out, std::size_t threads) {
    const std::size_t width = filled_width(X, columns);
    const auto filled = filled_up(W, X.d, columns, width);
    const std::size_t groups = (X.n + together - 1) / together, tasks = std::min<std::size_t>(groups, 16);
    threads = useful_threads(X.stored() * width / lane, threads);
    parallel_for(tasks, threads, [&](std::size_t task) {
        const std::size_t first = groups * task / tasks * together;
        const std::size_t last = std::min(X.n, groups * (task + 1) / tasks * together);
        products(X, first, last, filled.data(), columns, out + first * columns);
    });
}

// sums[j] += Σ_r x_r[j] u_r for R neighbouring rows, over `count` columns of X and N packs of U.
template <std::size_t R, std::size_t N, class T>
void dense_spread(const T *x, std::size_t d, const double *u, std::size_t count, double *sums) {
    Pack own[R][N];
    LINSEP_UNROLL
    for (std::size_t r = 0; r < R; ++r)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) load(own[r][c], u + (r * N + c) * lane);
    for (std::size_t j = 0; j < count; ++j) {
        Pack sum[N];
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) load(sum[c], sums + (j * N + c) * lane);
        LINSEP_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
            const double v = static_cast<double>(x[r * d + j]);
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) sum[c] += v * own[r][c];
        }
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) store(sums + (j * N + c) * lane, sum[c]);
    }
}

constexpr std::size_t strip = 400;

// Tasks are strips of columns of X: two at least, and narrow enough for their sums to stay in a near cache.
template <class T>
void rmatmat(const Dense<T> &X, const double *U, std::size_t columns, double *out, std::size_t threads) {
    const std::size_t packs = (columns + lane - 1) / lane;
    const std::size_t strips = std::max<std::size_t>((X.d + strip - 1) / strip, X.d < 32 ? 1 : 2);
    threads = useful_threads(X.stored() * packs, threads);
    parallel_for(strips, threads, [&](std::size_t task) {
        const std::size_t start = X.d * task / strips, count = X.d * (task + 1) / strips - start;
        double sums[strip * dense_packs * lane], u[together * dense_packs * lane];
        for (std::size_t first = 0; first < packs; first += dense_packs) {
            const std::size_t some = std::min(dense_packs, packs - first), from = first * lane, width = some * lane;
            const std::size_t present = std::min(width, columns - from);
            std::fill_n(sums, count * width, 0.0);
            std::fill_n(u, together * width, 0.0);
            with_packs<dense_packs>(some, [&](auto N) {
                for (std::size_t i = 0; i < X.n; i += together) {
                    const std::size_t rows = std::min(together, X.n - i);
                    for (std::size_t r = 0; r < rows; ++r)
                        std::copy_n(U + (i + r) * columns + from, present, u + r * width);
                    const T *x = X.x + i * X.d + start;
                    if (rows == together)
                        dense_spread<together, N>(x, X.d, u, count, sums);
                    else
                        for (std::size_t r = 0; r < rows; ++r)
                            dense_spread<1, N>(x + r * X.d, X.d, u + r * width, count, sums);
                }
            });
            for (std::size_t j = 0; j < count; ++j)
                std::copy_n(sums + j * width, present, out + (start + j) * columns + from);
        }
    });
}

constexpr std::size_t sparse_packs = 6;

// How many packs of columns the next sweep takes, and how many columns over at the end that fill none.
struct Sweep {
    std::size_t packs, rest;
    Sweep(std::size_t columns_left)
        : packs(std::min(sparse_packs, columns_left / lane)),
          rest(columns_left - packs * lane < lane ? columns_left - packs * lane : 0) {}
    std::size_t columns() const { return packs * lane + rest; }
};

// Calls f(N) as with_packs does, for N = 0 too.
template <class F>
void with_some_packs(std::size_t packs, F f) {
    if (packs == 0) return f(std::integral_constant<std::size_t, 0>{});
    with_packs<sparse_packs>(packs, f);
}

template <class T, class I>
std::size_t filled_width(const Csr<T, I> &, std::size_t columns) {
    return columns;
}

template <class T, class I>
void products(const Csr<T, I> &X, std::size_t first, std::size_t last, const double *W, std::size_t columns, double *out) {
    for (std::size_t i = first; i < last; ++i, out += columns) {
        const auto row = X.row(i);
        for (std::size_t from = 0; from < columns;) {
            const Sweep sweep(columns - from);
            with_some_packs(sweep.packs, [&](auto N) {
                Pack sum[N + 1] = {};
                double rest[lane] = {};
                row.each_entry([&](std::size_t j, double v) {
                    const double *w = W + j * columns + from;
                    for (std::size_t c = 0; c < N; ++c) {
                        Pack some;
                        load(some, w + lane * c);
                        sum[c] += v * some;
                    }
                    for (std::size_t k = 0; k < sweep.rest; ++k) rest[k] += v * w[lane * N + k];
                });
                for (std::size_t c = 0; c < N; ++c) store(out + from + lane * c, sum[c]);
                std::copy_n(rest, sweep.rest, out + from + lane * N);
            });
            from += sweep.columns();
        }
    }
}

template <class T, class I>
void matmat(const Csr<T, I> &X, const double *W, std::size_t columns, double *out, std::size_t threads) {
    threads = useful_threads(X.stored() * columns, threads);
    const std::size_t tasks = std::min<std::size_t>(X.n, 16);
    parallel_for(tasks, threads, [&](std::size_t task) {
        const std::size_t first = X.n * task / tasks;
        products(X, first, X.n * (task + 1) / tasks, W, columns, out + first * columns);
    });
}

// Tasks are ranges of U's columns: no two threads write to the same place.
template <class T, class I>
void rmatmat(const Csr<T, I> &X, const double *U, std::size_t columns, double *out, std::size_t threads) {
    threads = useful_threads(X.stored() * columns, threads);
    const std::size_t packs = (columns + lane - 1) / lane, tasks = std::min(threads, packs);
    std::fill_n(out, X.d * columns, 0.0);
    parallel_for(tasks, threads, [&](std::size_t task) {
        const std::size_t end = std::min(columns, packs * (task + 1) / tasks * lane);
        for (std::size_t from = packs * task / tasks * lane; from < end;) {
            const Sweep sweep(end - from);
            with_some_packs(sweep.packs, [&](auto N) {
                for (std::size_t i = 0; i < X.n; ++i) {
                    const double *u = U + i * columns + from;
                    Pack own[N + 1];
                    for (std::size_t c = 0; c < N; ++c) load(own[c], u + lane * c);
                    X.row(i).each_entry([&](std::size_t j, double v) {
                        double *to = out + j * columns + from;
                        for (std::size_t c = 0; c < N; ++c) {
                            Pack sum;
                            load(sum, to + lane * c);
                            sum += v * own[c];
                            store(to + lane * c, sum);
                        }
                        for (std::size_t k = 0; k < sweep.rest; ++k) to[lane * N + k] += v * u[lane * N + k];
                    });
                }
            });
            from += sweep.columns();
        }
    });
}

}  // namespace linsep
