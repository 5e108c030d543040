// The sum of losses over all examples, its gradient and its Hessian, each in one pass over the data.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace linsep {

// As many columns as fit twice into a core's cache.
constexpr std::size_t wide = 32'768;

// For each example u = s ℓ'(z) y and, unless `h` is null, h = s ℓ''(z). In `sums`: Σ u over the positive and over the
// negative class, Σ s ℓ(z), Σ s over the mistakes (z ≤ 0), then, if asked for its `gradient`, Σ u x over the positive
// class and, if `split`, over the negative class; without `split` everything counts as positive.
template <class Loss, class Rows>
void evaluate(const Rows &X, const double *y, const double *weight, const double *w, double b,
              bool split, bool gradient, double *u, double *h, double *sums, std::size_t threads) {
    const std::size_t size = 4 + (gradient ? (split ? 2 : 1) * X.d : 0), blocks = block_count(X, size);
    // Rows whose slopes are taken before their sum is: one, unless weights and gradient together overflow a core's cache.
    const std::size_t run = X.d < wide ? 1 : X.n;
    std::vector<double> parts((blocks - 1) * size, 0.0);
    std::fill_n(sums, size, 0.0);
    parallel_for(blocks, useful_threads(X.stored(), threads), [&](std::size_t block) {
        double *sum = block == 0 ? sums : parts.data() + (block - 1) * size;
        double *side[2] = {sum + 4, sum + 4 + (split ? X.d : 0)};
        double total[2] = {0, 0}, value = 0, mistakes = 0;
        const std::size_t end = X.n * (block + 1) / blocks;
        for (std::size_t first = X.n * block / blocks; first < end; first += run) {
            const std::size_t last = std::min(end, first + run);
            for (std::size_t i = first; i < last; ++i) {
                const double z = y[i] * (X.row(i).dot(w) + b), s = weight ? weight[i] : 1.0;
                value += s * Loss::value(z);
                mistakes += z > 0 ? 0.0 : s;
                u[i] = s * Loss::slope(z) * y[i];
                if (h) h[i] = s * Loss::curvature(z);
                total[split && y[i] < 0] += u[i];
            }
            for (std::size_t i = first; gradient && i < last; ++i)
                if (u[i] != 0) X.row(i).add_to(side[split && y[i] < 0], u[i]);
        }
        sum[0] = total[0], sum[1] = total[1], sum[2] = value, sum[3] = mistakes;
    });
    for (std::size_t block = 1; block < blocks; ++block)
        for (std::size_t j = 0; j < size; ++j) sums[j] += parts[(block - 1) * size + j];
}

// Σ s ℓ*(a) over all examples, where a = u y / s is scaled by `scale[0]` in the positive and `scale[1]` in the
// negative class.
template <class Loss>
double conjugate_sum(const double *y, const double *weight, const double *u, const double *scale,
                     std::size_t n, std::size_t threads) {
    const std::size_t blocks = std::min<std::size_t>(8, n / 20'000 + 1);
    std::vector<double> parts(blocks, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        double sum = 0;
        for (std::size_t i = n * block / blocks; i < n * (block + 1) / blocks; ++i) {
            const double s = weight ? weight[i] : 1.0;
            if (s > 0) sum += s * Loss::conjugate(u[i] * y[i] / s * scale[y[i] < 0]);
        }
        parts[block] = sum;
    });
    add_blocks(parts.data(), blocks, 1);
    return parts[0];
}

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

// Adds Σ h [x, 1][x, 1]ᵀ over the listed rows to the lower triangle of `out`, (d+1) × (d+1). For sparse rows only:
// dense ones are the business of a BLAS.
template <class Rows>
void gram(const Rows &X, const double *h, const std::int64_t *rows, std::size_t count, double *out,
          std::size_t threads) {
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
