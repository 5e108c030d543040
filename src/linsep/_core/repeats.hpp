// What occurs more than once: rows, found by hashing and then compared entry by entry, and columns within a row.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"

namespace linsep {

// Numbers things by their hashes, from 0 in the order in which they come: open addressing, at most half full.
class Numbering {
   public:
    std::size_t count = 0;

    Numbering() : slots_(1 << 12) {}

    // The number of that hash; a new one is `count`.
    std::size_t of(std::uint64_t hash) {
        Slot *slot = find(hash);
        if (slot->number >= 0) return static_cast<std::size_t>(slot->number);
        *slot = {hash, static_cast<std::int64_t>(count)};
        if (2 * ++count > slots_.size()) grow();
        return count - 1;
    }

   private:
    struct Slot {
        std::uint64_t hash = 0;
        std::int64_t number = -1;
    };

    Slot *find(std::uint64_t hash) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t k = hash & mask;
        while (slots_[k].number >= 0 && slots_[k].hash != hash) k = (k + 1) & mask;
        return &slots_[k];
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot &slot : old)
            if (slot.number >= 0) *find(slot.hash) = slot;
    }

    std::vector<Slot> slots_;
};

// group[i] = the number of row i among the different pairs of row and code, and first[g] = where pair g comes first.
// Returns how many there are; 0 if they are more than `most`, or if two of them have the same hash.
template <class Rows>
std::size_t group_rows(const Rows &X, const std::int64_t *codes, std::int64_t *group, std::int64_t *first, std::size_t most,
                       std::size_t threads) {
    threads = useful_threads(X.stored(), threads);
    const std::size_t tasks = 8 * threads;
    std::vector<std::uint64_t> hashes(X.n);
    const auto in_parts = [&](auto body) {
        parallel_for(tasks, threads, [&](std::size_t k) {
            for (std::size_t i = X.n * k / tasks; i < X.n * (k + 1) / tasks; ++i) body(i, k);
        });
    };
    in_parts([&](std::size_t i, std::size_t) { hashes[i] = X.row(i).hash(static_cast<std::uint64_t>(codes[i])); });
    Numbering numbers;
    for (std::size_t i = 0; i < X.n; ++i) {
        const std::size_t before = numbers.count, g = numbers.of(hashes[i]);
        if (g == before) {
            if (g == most) return 0;
            first[g] = static_cast<std::int64_t>(i);
        }
        group[i] = static_cast<std::int64_t>(g);
    }
    std::vector<char> different(tasks, 0);
    in_parts([&](std::size_t i, std::size_t k) {
        const auto one = static_cast<std::size_t>(first[group[i]]);
        different[k] |= codes[i] != codes[one] || !X.row(i).same(X.row(one));
    });
    return std::any_of(different.begin(), different.end(), [](char found) { return found != 0; }) ? 0 : numbers.count;
}

// Whether every row names its columns in increasing order, as most matrices do: then none is named twice. Columns fall
// from one entry to the next only where a row ends, so that it takes no more than to count.
template <class T, class I>
bool columns_increase(const Csr<T, I> &rows, std::size_t threads) {
    std::vector<std::size_t> within(threads, 0);
    parallel_for(threads, threads, [&](std::size_t part) {
        const std::size_t first = rows.n * part / threads, last = rows.n * (part + 1) / threads;
        const auto begin = static_cast<std::size_t>(rows.start[first]), end = static_cast<std::size_t>(rows.start[last]);
        std::size_t falls = 0, between = 0;
#pragma omp simd reduction(+ : falls)
        for (std::size_t k = begin + 1; k < end; ++k) falls += rows.j[k] <= rows.j[k - 1];
        for (std::size_t i = first; i < last; ++i) {
            const auto k = static_cast<std::size_t>(rows.start[i]);
            between += k > begin && rows.start[i] < rows.start[i + 1] && rows.j[k] <= rows.j[k - 1];
        }
        within[part] = falls - between;
    });
    return std::all_of(within.begin(), within.end(), [](std::size_t falls) { return falls == 0; });
}
template <class T>
bool columns_increase(const Dense<T> &, std::size_t) {
    return true;
}

// Whether some row names a column twice: its entries would have to be added before they are squared.
template <class Rows>
bool has_repeated_entries(const Rows &X, std::size_t threads) {
    threads = useful_threads(X.stored(), threads);
    if (columns_increase(X, threads)) return false;
    std::vector<char> found(threads, 0);
    parallel_for(threads, threads, [&](std::size_t part) {
        std::vector<std::uint8_t> last(X.d, 0);  // which row named a column, in one byte: that much more of it is near
        std::uint8_t mark = 0;
        const std::size_t end = X.n * (part + 1) / threads;
        for (std::size_t i = X.n * part / threads; i < end && !found[part]; ++i) {
            if (++mark == 0) {
                std::fill(last.begin(), last.end(), std::uint8_t{0});
                mark = 1;
            }
            int repeated = 0;
            X.row(i).each_column([&repeated, mark, named = last.data()](std::size_t j) {
                repeated |= named[j] == mark;
                named[j] = mark;
            });
            found[part] = repeated != 0;
        }
    });
    return std::any_of(found.begin(), found.end(), [](char one) { return one != 0; });
}

}  // namespace linsep
