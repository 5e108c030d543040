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

// out = Σ u_i x_i. The rows are cut into as many blocks as the shape of the data says, not the number of threads,
// and the blocks' sums are added in order: the same bits on any machine with these kernels.
template <class Rows>
void rmatvec(const Rows &X, const double *u, double *out, std::size_t threads) {
    auto sum_block = [&](std::size_t first, std::size_t last, double *sum) {
        for (std::size_t i = first; i < last; ++i)
            if (u[i] != 0) X.row(i).add_to(sum, u[i]);
    };
    std::fill(out, out + X.d, 0.0);
    const std::size_t blocks = std::min<std::size_t>(8, X.stored() / (8 * X.d + worth_a_thread) + 1);
    std::vector<double> sums((blocks - 1) * X.d, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        double *sum = block == 0 ? out : sums.data() + (block - 1) * X.d;
        sum_block(X.n * block / blocks, X.n * (block + 1) / blocks, sum);
    });
    for (std::size_t block = 1; block < blocks; ++block)
        for (std::size_t j = 0; j < X.d; ++j) out[j] += sums[(block - 1) * X.d + j];
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
