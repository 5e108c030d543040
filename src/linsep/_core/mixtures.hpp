// Sums over points that are mixtures of others: agreements, or dual shares, of which several known ones are weighed and added.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "compiler.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace linsep {

// Rows of a table with a number for each example, and how they are weighed.
struct Mixture {
    const double *table;
    std::size_t rows, n;

    // out = Σ shares · rows, of the examples from `first` on.
    void add_up(const double *shares, std::size_t first, std::size_t count, double *out) const {
        std::fill_n(out, count, 0.0);
        for (std::size_t r = 0; r < rows; ++r) {
            const double share = shares[r], *row = table + r * n + first;
            for (std::size_t k = 0; k < count; ++k) out[k] += share * row[k];
        }
    }
};

constexpr std::size_t mixed_at_once = 256;

template <class Loss>
LINSEP_APART double values_of(const double *z, const double *s, std::size_t count) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < count; ++k) sum += s[k] * Loss::value(z[k]);
    return sum;
}

template <class Loss>
LINSEP_APART double conjugates_of(const double *u, const double *s, std::size_t count) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < count; ++k) {
        const double each = Loss::conjugate_among_many(-u[k]);
        sum += s[k] > 0 ? s[k] * each : 0.0;
    }
    return sum;
}

// Whether all of some numbers lie between two others.
LINSEP_APART inline bool lie_between(const double *u, std::size_t count, double low, double high) {
    int beyond = 0;
#pragma omp simd reduction(+ : beyond)
    for (std::size_t k = 0; k < count; ++k) beyond += !(u[k] >= low && u[k] <= high);
    return beyond == 0;
}

// How much of a safe mixture, between `low` and `high`, another one needs to lie there too: at most all of it.
inline double needed(const double *u, const double *safe, std::size_t count, double low, double high) {
    double most = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const double beyond = std::max(low - u[k], u[k] - high);
        if (beyond > 0) most = std::max(most, beyond / std::max(std::max(safe[k] - u[k], u[k] - safe[k]), beyond));
    }
    return most;
}

// Calls task(block, first, count, s) for pieces of the examples, by blocks that do not depend on the number of threads.
template <class Task>
void in_pieces(std::size_t n, std::size_t blocks, const double *weight, std::size_t threads, Task task) {
    parallel_for(blocks, threads, [&](std::size_t block) {
        double ones[mixed_at_once];
        std::fill_n(ones, mixed_at_once, 1.0);
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += mixed_at_once)
            task(block, first, std::min(mixed_at_once, end - first), weight ? weight + first : ones);
    });
}

inline std::size_t pieces(std::size_t n) { return std::min<std::size_t>(8, n / in_one_piece + 1); }

// Σ s ℓ(z) of each mixture z of agreements; `shares` has a row for each.
template <class Loss>
void mixed_values(const Mixture &Z, const double *weight, const double *shares, std::size_t mixtures, double *out,
                  std::size_t threads) {
    const std::size_t blocks = pieces(Z.n);
    std::vector<double> parts(blocks * mixtures, 0.0);
    in_pieces(Z.n, blocks, weight, threads,
              [&](std::size_t block, std::size_t first, std::size_t count, const double *s) {
                  double z[mixed_at_once];
                  for (std::size_t m = 0; m < mixtures; ++m) {
                      Z.add_up(shares + m * Z.rows, first, count, z);
                      parts[block * mixtures + m] += values_of<Loss>(z, s, count);
                  }
              });
    add_blocks(parts.data(), blocks, mixtures);
    std::copy_n(parts.data(), mixtures, out);
}

// Σ s ℓ*(−u) of each mixture u of dual shares, brought between `low` and `high` by as much as that needs of the `safe`
// one; `needs` is how much that was.
template <class Loss>
void mixed_conjugates(const Mixture &U, const double *weight, const double *shares, const double *safe,
                      std::size_t mixtures, double low, double high, double *needs, double *out, std::size_t threads) {
    const std::size_t blocks = pieces(U.n);
    std::vector<double> parts(blocks * mixtures, 0.0), brought(mixtures * U.rows);
    in_pieces(U.n, blocks, nullptr, threads,
              [&](std::size_t block, std::size_t first, std::size_t count, const double *) {
                  double u[mixed_at_once], there[mixed_at_once];
                  for (std::size_t m = 0; m < mixtures; ++m) {
                      U.add_up(shares + m * U.rows, first, count, u);
                      if (lie_between(u, count, low, high)) continue;
                      U.add_up(safe + m * U.rows, first, count, there);
                      double &most = parts[block * mixtures + m];
                      most = std::max(most, needed(u, there, count, low, high));
                  }
              });
    for (std::size_t m = 0; m < mixtures; ++m) {
        needs[m] = 0;
        for (std::size_t block = 0; block < blocks; ++block) needs[m] = std::max(needs[m], parts[block * mixtures + m]);
        for (std::size_t r = m * U.rows; r < (m + 1) * U.rows; ++r)
            brought[r] = (1.0 - needs[m]) * shares[r] + needs[m] * safe[r];
    }
    std::fill(parts.begin(), parts.end(), 0.0);
    in_pieces(U.n, blocks, weight, threads,
              [&](std::size_t block, std::size_t first, std::size_t count, const double *s) {
                  double u[mixed_at_once];
                  for (std::size_t m = 0; m < mixtures; ++m) {
                      U.add_up(brought.data() + m * U.rows, first, count, u);
                      for (std::size_t k = 0; k < count; ++k) u[k] = std::min(high, std::max(low, u[k]));
                      parts[block * mixtures + m] += conjugates_of<Loss>(u, s, count);
                  }
              });
    add_blocks(parts.data(), blocks, mixtures);
    std::copy_n(parts.data(), mixtures, out);
}

}  // namespace linsep
