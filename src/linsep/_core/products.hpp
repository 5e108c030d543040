// Products of the data with vectors: Xw, Xᵀu, and the squared lengths of the rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

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

}  // namespace linsep
