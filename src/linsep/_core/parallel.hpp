// Splitting a loop over rows among threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace linsep {

// Tasks 0 … tasks−1, which those who call it take one after the other. What a task does is behind a pointer: its code
// is there once, whoever calls it, where a template would be compiled into each caller.
class Work {
   public:
    template <class Body>
    Work(std::size_t tasks, Body &body)
        : tasks_(tasks), body_(&body), call_([](void *it, std::size_t k) { (*static_cast<Body *>(it))(k); }) {}

    void operator()() const {
        for (std::size_t k; (k = next_++) < tasks_;) call_(body_, k);
    }

   private:
    std::size_t tasks_;
    void *body_;
    void (*call_)(void *, std::size_t);
    mutable std::atomic<std::size_t> next_{0};
};

// Threads that stay: a solver asks for them every few milliseconds, and a new thread may begin its life on the busy
// core beside its maker. After their work they look out for more a little while before they sleep.
class Crew {
   public:
    static Crew &ours() {
        static std::atomic<Crew *> crew{nullptr};
        static std::once_flag once;
        std::call_once(once, [] {
            crew = new Crew;  // never deleted: a sleeping thread must not outlive what it sleeps on
#if defined(__unix__) || defined(__APPLE__)
            pthread_atfork(nullptr, nullptr, [] { crew = new Crew; });  // threads do not follow into a child
#endif
        });
        return *crew;
    }

    // Lets up to `helpers` threads call work() beside the caller; false if they serve another caller already.
    bool share(std::size_t helpers, const Work &work) {
        std::unique_lock<std::mutex> mine(busy_, std::try_to_lock);
        if (!mine) return false;
        hire(helpers);
        {
            std::lock_guard<std::mutex> lock(door_);
            work_ = &work;
            seats_ = std::min(helpers, hired_);
        }
        bell_.notify_all();
        work();
        {
            std::lock_guard<std::mutex> lock(door_);
            seats_ = 0;  // who has not come by now need not
        }
        while (inside_ > 0) std::this_thread::yield();
        return true;
    }

   private:
    void hire(std::size_t helpers) {
        try {
            for (; hired_ < helpers; ++hired_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error &) {
            // The system gives no more threads: fewer do the same work.
        }
    }

    [[noreturn]] void serve() {
        for (;;) {
            look_out();
            std::unique_lock<std::mutex> lock(door_);
            bell_.wait(lock, [this] { return seats_ > 0; });
            --seats_;
            ++inside_;
            const Work &work = *work_;
            lock.unlock();
            work();
            --inside_;
        }
    }

    void look_out() const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
        while (seats_ == 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    }

    std::mutex busy_, door_;
    std::condition_variable bell_;
    std::atomic<std::size_t> seats_{0}, inside_{0};
    std::size_t hired_ = 0;
    const Work *work_ = nullptr;
};

// Calls body(k) for k = 0 … tasks−1. Which thread takes which task never shows in the result: callers give every
// task its own output and combine the outputs in the order of the tasks.
template <class Body>
void parallel_for(std::size_t tasks, std::size_t threads, Body body) {
    threads = std::max<std::size_t>(1, std::min(threads, tasks));
    const Work work(tasks, body);
    if (threads == 1 || !Crew::ours().share(threads - 1, work)) work();
}

// Below this many stored numbers a second thread costs more than it brings.
constexpr std::size_t worth_a_thread = 100'000;
// Below this many examples a sum of one number each is taken in one piece.
constexpr std::size_t in_one_piece = 20'000;

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
