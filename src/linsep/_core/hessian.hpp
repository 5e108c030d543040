// The Hessian of the sum of losses, Σ h [x, 1][x, 1]ᵀ: its products with vectors, and the matrix itself.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "products.hpp"
#include "parallel.hpp"

namespace linsep {

// out[0…d) = Σ h (x·v + c) x and out[d] = Σ h (x·v + c): the Hessian of the sum of losses times (v, c).
template <class Rows>
void hessian_product(const Rows &X, const double *h, const double *v, double c, double *out, std::size_t threads) {
    const std::size_t size = X.d + 1, blocks = block_count(X, size);
    std::vector<double> parts(blocks * size, 0.0);
    parallel_for(blocks, useful_threads(X.stored(), threads), [&](std::size_t block) {
        double *sum = parts.data() + block * size;
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i) {
            if (h[i] == 0) continue;
            const auto row = X.row(i);
            const double t = h[i] * (row.dot(v) + c);
            row.add_to(sum, t);
            sum[X.d] += t;
        }
    });
    add_blocks(parts.data(), blocks, size);
    std::copy(parts.begin(), parts.begin() + size, out);
}

// Up to so many columns, of which at least half are filled, the rows are spread out before they are multiplied.
constexpr std::size_t narrow_columns = 64;

template <class Rows>
bool is_narrow(const Rows &X) {
    return X.d <= narrow_columns && 2 * X.stored() >= X.n * X.d;
}

constexpr std::size_t rows_at_once = 32, tile_packs = 3;  // what stays in the nearest cache; sums that fit into registers

// sum[j, l] += Σ B[r, j] B[r, l] over `count` rows, for four columns j and N registers of columns l.
template <std::size_t N, class Real>
void add_tile(const Real *B, std::size_t width, std::size_t count, std::size_t j, std::size_t l, Real *sum) {
    using S = Side<Real>;
    typename S::Numbers own[lane][N] = {};
    for (std::size_t r = 0; r < count; ++r) {
        const Real *row = B + r * width;
        typename S::Numbers right[N];
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) S::load(right[c], row + l + S::count * c);
        LINSEP_UNROLL
        for (std::size_t q = 0; q < lane; ++q)
            LINSEP_UNROLL
            for (std::size_t c = 0; c < N; ++c) own[q][c] += row[j + q] * right[c];
    }
    LINSEP_UNROLL
    for (std::size_t q = 0; q < lane; ++q)
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) {
            Real *to = sum + (j + q) * width + l + S::count * c;
            typename S::Numbers before;
            S::load(before, to);
            S::store(to, before + own[q][c]);
        }
}

// Adds BᵀB to the lower triangle of `sum`, by tiles; the width is whole registers.
template <class Real>
void add_square(const Real *B, std::size_t width, std::size_t count, Real *sum) {
    constexpr std::size_t wide = Side<Real>::count;
    for (std::size_t j = 0; j < width; j += lane)
        for (std::size_t l = 0; l <= j; l += tile_packs * wide)
            with_packs<tile_packs>(std::min(tile_packs, (j - l) / wide + 1),
                                   [&](auto N) { add_tile<N>(B, width, count, j, l, sum); });
}

// Adds Σ h [x, 1][x, 1]ᵀ over the listed rows to the lower triangle of `sum`, whose width is whole packs.
template <class Rows>
void add_narrow(const Rows &X, const double *h, const std::int64_t *rows, std::size_t count, std::size_t width,
                double *sum) {
    double B[rows_at_once * (narrow_columns + lane)];
    for (std::size_t first = 0; first < count; first += rows_at_once) {
        const std::size_t some = std::min(rows_at_once, count - first);
        std::fill_n(B, some * width, 0.0);
        for (std::size_t r = 0; r < some; ++r) {
            const auto i = static_cast<std::size_t>(rows[first + r]);
            const double root = std::sqrt(h[i]);
            X.row(i).add_to(B + r * width, root);
            B[r * width + X.d] = root;
        }
        add_square(B, width, some, sum);
    }
}

template <class Rows>
void narrow_gram(const Rows &X, const double *h, const std::int64_t *rows, std::size_t count, double *out,
                 std::size_t threads) {
    const std::size_t size = X.d + 1, width = (size + lane - 1) / lane * lane, work = count * width * width / 8;
    const std::size_t blocks = std::min<std::size_t>(8, work / worth_a_thread + 1);
    std::vector<double> parts(blocks * width * width, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        const std::size_t first = count * block / blocks, end = count * (block + 1) / blocks;
        add_narrow(X, h, rows + first, end - first, width, parts.data() + block * width * width);
    });
    add_blocks(parts.data(), blocks, width * width);
    for (std::size_t j = 0; j < size; ++j)
        for (std::size_t l = 0; l <= j; ++l) out[j * size + l] += parts[j * width + l];
}

// Adds Σ h [x, 1][x, 1]ᵀ over the listed rows to the lower triangle of `out`, (d+1) × (d+1). For narrow or sparse rows:
// other dense ones are the business of a BLAS.
template <class Rows>
void gram(const Rows &X, const double *h, const std::int64_t *rows, std::size_t count, double *out,
          std::size_t threads) {
    if (is_narrow(X)) return narrow_gram(X, h, rows, count, out, threads);
    const std::size_t width = X.d + 1, size = width * width, mean = X.stored() / X.n + 1;
    const std::size_t blocks = std::min<std::size_t>(2, count * mean * mean / (8 * size) + 1);
    std::vector<double> other(size * (blocks - 1), 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        double *sum = block == 0 ? out : other.data() + (block - 1) * size;
        for (std::size_t k = count * block / blocks; k < count * (block + 1) / blocks; ++k) {
            const auto i = static_cast<std::size_t>(rows[k]);
            if (h[i] == 0) continue;
            const auto row = X.row(i);
            row.add_square_to(sum, width, h[i]);
            row.add_to(sum + X.d * width, h[i]);
            sum[X.d * width + X.d] += h[i];
        }
    });
    for (std::size_t block = 1; block < blocks; ++block)
        for (std::size_t j = 0; j < size; ++j) out[j] += other[(block - 1) * size + j];
}

}  // namespace linsep
