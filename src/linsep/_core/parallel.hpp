// Splitting a loop over rows among threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace linsep {

// Calls body(k) for k = 0 … tasks−1. Which thread takes which task never shows in the result: callers give every
// task its own output and combine the outputs in the order of the tasks.
template <class Body>
void parallel_for(std::size_t tasks, std::size_t threads, Body body) {
    threads = std::max<std::size_t>(1, std::min(threads, tasks));
    std::atomic<std::size_t> next{0};
    auto work = [&] {
        for (std::size_t k; (k = next++) < tasks;) body(k);
    };
    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    try {
        for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(work);
    } catch (const std::system_error &) {
        // The system gives no more threads: fewer do the same work.
    }
    work();
    for (auto &helper : helpers) helper.join();
}

// Below this many stored numbers a second thread costs more than it brings.
constexpr std::size_t worth_a_thread = 400'000;

inline std::size_t useful_threads(std::size_t stored, std::size_t threads) {
    return std::min(threads, 1 + stored / worth_a_thread);
}

// Sums over rows are taken over blocks whose number follows from the shape of the data, not from the number of
// threads, and the blocks' sums are added in order: the same bits for any number of threads.
template <class Rows>
std::size_t block_count(const Rows &X, std::size_t width) {
    return std::min<std::size_t>(8, X.stored() / (8 * width + worth_a_thread) + 1);
}

// Adds up `blocks` vectors of length `size` that lie one after the other, into the first.
inline void add_blocks(double *sums, std::size_t blocks, std::size_t size) {
    for (std::size_t block = 1; block < blocks; ++block)
        for (std::size_t j = 0; j < size; ++j) sums[j] += sums[block * size + j];
}

}  // namespace linsep
