// Splitting a loop over rows among threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace linsep {

// Calls body(k) for k = 0 … tasks−1. Which thread takes which task never shows in the result: callers give every
// task its own output and combine the outputs in the order of the tasks.
template <class Body>
void parallel_for(std::size_t tasks, std::size_t threads, Body body) {
    threads = std::max<std::size_t>(1, std::min(threads, tasks));
    auto work = [&](std::size_t t) {
        for (std::size_t k = t; k < tasks; k += threads) body(k);
    };
    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(work, t);
    work(0);
    for (auto &helper : helpers) helper.join();
}

// Below this many stored numbers a second thread costs more than it brings.
constexpr std::size_t worth_a_thread = 400'000;

inline std::size_t useful_threads(std::size_t stored, std::size_t threads) {
    return std::min(threads, 1 + stored / worth_a_thread);
}

}  // namespace linsep
