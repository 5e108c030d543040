// Masses of examples on several classes, on springs: for each example the nearest point of a simplex.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mixtures.hpp"
#include "parallel.hpp"

namespace linsep {

// Replaces u by the nearest masses ≥ 0 that sum to c; returns how many are not zero. What cannot have a mass, given the
// mean of the others, is left out until nothing more is (Michelot 1986). `left` has room for K numbers.
inline std::size_t nearest_masses(double *u, std::size_t K, double c, std::size_t *left) {
    const double highest = *std::max_element(u, u + K);
    double sum = 0;
    for (std::size_t k = 0; k < K; ++k) sum += u[k] -= highest, left[k] = k;
    std::size_t count = K;
    double level = 0;
    for (;;) {
        level = (sum - c) / static_cast<double>(count);
        std::size_t kept = 0;
        sum = 0;
        for (std::size_t m = 0; m < count; ++m)
            if (u[left[m]] > level || (kept == 0 && m + 1 == count)) sum += u[left[m]], left[kept++] = left[m];
        if (kept == count) break;
        count = kept;
    }
    for (std::size_t k = 0; k < K; ++k) u[k] = std::max(u[k] - level, 0.0);
    return count;
}

// Sets masses nearest to centre + (c/width)(g + t·change + [k ≠ y]), and of each example how many are not zero; returns
// Σ masses · change.
inline double simplex_masses(const double *G, const double *change, double t, const std::int64_t *codes, const double *c,
                             const double *centre, double width, std::size_t n, std::size_t K, double *masses,
                             double *count, std::size_t threads) {
    const std::size_t blocks = pieces(n * K);
    std::vector<double> parts(blocks, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        std::vector<std::size_t> left(K);
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t i = n * block / blocks; i < end; ++i) {
            const double *g = G + i * K, *step = change + i * K, *middle = centre + i * K;
            const double stiff = c[i] / width;
            double *mass = masses + i * K;
            for (std::size_t k = 0; k < K; ++k)
                mass[k] = middle[k] + stiff * (g[k] + t * step[k] + (static_cast<std::int64_t>(k) != codes[i]));
            count[i] = static_cast<double>(nearest_masses(mass, K, c[i], left.data()));
            for (std::size_t k = 0; k < K; ++k) parts[block] += mass[k] * step[k];
        }
    });
    add_blocks(parts.data(), blocks, 1);
    return parts[0];
}

}  // namespace linsep
