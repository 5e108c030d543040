// The sum of losses over all examples with its gradient, and the sum of their conjugates, each in one pass over the data.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "compiler.hpp"
#include "mixtures.hpp"
#include "parallel.hpp"

namespace linsep {

// What the losses at agreements z with weights s give: u and h, and what is added to the sums.
template <class Loss>
LINSEP_APART void losses_at(const double *z, const double *s, const double *y, std::size_t count, double *u, double *h,
               double &value, double &mistakes) {
    double losses = 0, wrong = 0;
#pragma omp simd reduction(+ : losses, wrong)
    for (std::size_t k = 0; k < count; ++k) {
        losses += s[k] * Loss::value(z[k]);
        wrong += z[k] > 0 ? 0.0 : s[k];
        u[k] = s[k] * Loss::slope(z[k]) * y[k];
        h[k] = s[k] * Loss::curvature(z[k]);
    }
    value += losses, mistakes += wrong;
}

// Rows are taken so many at a time: first their products with the weights, then their losses, in one loop that
// becomes one over packs of them, then the gradient; which comes last of all where weights and gradient together
// overflow a core's cache.
constexpr std::size_t chunk = 64, wide = 32'768;

// For each example u = s ℓ'(z) y and, unless `h` is null, h = s ℓ''(z). In `sums`: Σ u over the positive and over the
// negative class, Σ s ℓ(z), Σ s over the mistakes (z ≤ 0), then, if asked for its `gradient`, Σ u x over the positive
// class and, if `split`, over the negative class; without `split` everything counts as positive.
template <class Loss, class Rows>
void evaluate(const Rows &X, const double *y, const double *weight, const double *w, double b,
              bool split, bool gradient, double *u, double *h, double *sums, std::size_t threads) {
    const std::size_t size = 4 + (gradient ? (split ? 2 : 1) * X.d : 0), blocks = block_count(X, size);
    std::vector<double> parts((blocks - 1) * size, 0.0);
    std::fill_n(sums, size, 0.0);
    parallel_for(blocks, useful_threads(X.stored(), threads), [&](std::size_t block) {
        double *sum = block == 0 ? sums : parts.data() + (block - 1) * size;
        double *side[2] = {sum + 4, sum + 4 + (split ? X.d : 0)};
        double total[2] = {0, 0}, value = 0, mistakes = 0, z[chunk], ones[chunk], bends[chunk];
        std::fill_n(ones, chunk, 1.0);
        const auto add_gradient = [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i)
                if (u[i] != 0) X.row(i).add_to(side[split && y[i] < 0], u[i]);
        };
        const std::size_t begin = X.n * block / blocks, end = X.n * (block + 1) / blocks;
        for (std::size_t first = begin; first < end; first += chunk) {
            const std::size_t count = std::min(chunk, end - first);
            for (std::size_t k = 0; k < count; ++k) z[k] = y[first + k] * (X.row(first + k).dot(w) + b);
            losses_at<Loss>(z, weight ? weight + first : ones, y + first, count, u + first, h ? h + first : bends,
                            value, mistakes);
            for (std::size_t i = first; i < first + count; ++i) total[split && y[i] < 0] += u[i];
            if (gradient && X.d < wide) add_gradient(first, first + count);
        }
        if (gradient && X.d >= wide) add_gradient(begin, end);
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
    const std::size_t blocks = std::min<std::size_t>(8, n / in_one_piece + 1);
    std::vector<double> parts(blocks, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        double sum = 0, shares[chunk], scaled[chunk];
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += chunk) {
            const std::size_t count = std::min(chunk, end - first);
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t i = first + k;
                const double s = weight ? weight[i] : 1.0;
                shares[k] = s;
                scaled[k] = s > 0 ? -u[i] * y[i] / s * scale[y[i] < 0] : 0.0;
            }
            sum += conjugates_of<Loss>(scaled, shares, count);
        }
        parts[block] = sum;
    });
    add_blocks(parts.data(), blocks, 1);
    return parts[0];
}

}  // namespace linsep
