// A dense matrix that is mostly zeros, as a sparse one; and a sparse one by its columns.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"

namespace linsep {

// start[i + 1] = how many entries of row i are not zero (not yet added up).
template <class T>
void count_entries(const Dense<T> &X, std::int64_t *start, std::size_t threads) {
    parallel_for(4 * threads, threads, [&](std::size_t block) {
        for (std::size_t i = X.n * block / (4 * threads); i < X.n * (block + 1) / (4 * threads); ++i) {
            const T *x = X.row(i).x;
            std::int64_t count = 0;
            for (std::size_t j = 0; j < X.d; ++j) count += x[j] != 0;
            start[i + 1] = count;
        }
    });
}

// Writes the entries of each row from start[i] on. Should numbers change between the counting and this, no row takes
// more than its room, and what is left of that is filled with zeros.
constexpr std::size_t together = 8;
template <class T, class I>
void compress(const Dense<T> &X, const I *start, T *data, I *indices, std::size_t threads) {
    parallel_for(4 * threads, threads, [&](std::size_t block) {
        std::vector<T> value(X.d);
        std::vector<I> column(X.d);
        T *const values = value.data();
        I *const columns = column.data();
        for (std::size_t i = X.n * block / (4 * threads); i < X.n * (block + 1) / (4 * threads); ++i) {
            const T *x = X.row(i).x;
            std::size_t k = 0;
            const auto take = [&](std::size_t j) {  // no branch: whether an entry is zero is hard to foresee
                values[k] = x[j], columns[k] = static_cast<I>(j);
                k += x[j] != 0;
            };
            std::size_t j = 0;
            for (; j + together <= X.d; j += together) {
                int some = 0;  // whether eight in a row are zeros is not: they come in runs
#pragma omp simd reduction(| : some)
                for (std::size_t l = 0; l < together; ++l) some |= x[j + l] != 0;
                if (some)
                    for (std::size_t l = 0; l < together; ++l) take(j + l);
            }
            for (; j < X.d; ++j) take(j);
            const auto room = static_cast<std::size_t>(start[i + 1] - start[i]);
            k = std::min(k, room);
            std::fill(std::copy_n(value.begin(), k, data + start[i]), data + start[i + 1], T{0});
            std::fill(std::copy_n(column.begin(), k, indices + start[i]), indices + start[i + 1], I{0});
        }
    });
}

// The columns of X as rows: those of column j begin at start[j], in the order of X's rows. Blocks of rows are counted
// and written side by side, each to places of its own.
template <class T, class I>
void turn(const Csr<T, I> &X, I *start, T *data, I *indices, std::size_t threads) {
    const std::size_t blocks = std::min<std::size_t>(threads, 1 + X.stored() / worth_a_thread);
    std::vector<I> next(blocks * X.d, 0);
    const auto each_entry = [&](std::size_t block, auto f) {
        for (std::size_t i = X.n * block / blocks; i < X.n * (block + 1) / blocks; ++i)
            for (I k = X.start[i]; k < X.start[i + 1]; ++k) f(static_cast<I>(i), k, next[block * X.d + X.j[k]]);
    };
    parallel_for(blocks, threads, [&](std::size_t block) { each_entry(block, [](I, I, I &count) { ++count; }); });
    I sum = 0;
    for (std::size_t j = 0; j < X.d; ++j) {
        start[j] = sum;
        for (std::size_t block = 0; block < blocks; ++block) {
            const I count = next[block * X.d + j];
            next[block * X.d + j] = sum;
            sum += count;
        }
    }
    start[X.d] = sum;
    parallel_for(blocks, threads, [&](std::size_t block) {
        each_entry(block, [&](I i, I k, I &at) { data[at] = X.x[k], indices[at] = i, ++at; });
    });
}

}  // namespace linsep
