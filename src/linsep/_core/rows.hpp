// A matrix as a sequence of rows. Dense or sparse, float or double, is settled here and nowhere else:
// a kernel asks a row for its product with a vector and adds a multiple of it to a vector.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "compiler.hpp"

namespace linsep {

// One step of a row's hash: every bit of what comes in reaches the high bits by the product, and the low ones by the shift.
template <class T>
std::uint64_t mixed(std::uint64_t hash, std::uint64_t column, T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    hash = (hash ^ bits ^ (column * 0xD6E8FEB86659FD93)) * 0x9E3779B97F4A7C15;
    return hash ^ (hash >> 32);
}

// Vectors that meet a row are double whatever the row holds, so that float data lose nothing in the sums.
template <class T>
struct DenseRow {
    const T *x;
    std::size_t d;

    static constexpr std::size_t line = 64 / sizeof(T), block = 8 * line;

    double dot(const double *w) const {
        double sum = 0;
        std::size_t j = 0;
        for (; j + block <= d; j += block) sum += block_dot(x + j, w + j);
        return sum + short_dot(j, w);
    }
    void add_to(double *w, double c) const {
#pragma omp simd
        for (std::size_t j = 0; j < d; ++j) w[j] += c * static_cast<double>(x[j]);
    }
    double squared_norm() const {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < d; ++j) sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
        return sum;
    }
    template <class F>
    void each_column(F f) const {
        for (std::size_t j = 0; j < d; ++j) f(j);
    }
    std::size_t count() const { return d; }
    std::size_t column(std::size_t k) const { return k; }
    double value(std::size_t k) const { return static_cast<double>(x[k]); }
    LINSEP_WITHIN void fetch() const {
        for (std::size_t k = 0; k < d; k += line) __builtin_prefetch(x + k, 0, 2);
    }
    std::uint64_t hash(std::uint64_t seed) const {
        for (std::size_t j = 0; j < d; ++j) seed = mixed(seed, 0, x[j]);
        return seed;
    }
    bool same(const DenseRow &other) const { return std::equal(x, x + d, other.x); }
    // Adds c x xᵀ to the lower triangle of a matrix with rows of that width.
    void add_square_to(double *sum, std::size_t width, double c) const {
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t l = 0; l <= j; ++l) sum[j * width + l] += c * static_cast<double>(x[j]) * static_cast<double>(x[l]);
    }
    // The product, while a row that comes later is fetched beside it: rows in random order are strangers to the
    // hardware's own prefetching, which gives up at every page.
    double dot(const double *w, const DenseRow &later) const {
        double sum = 0;
        std::size_t j = 0;
        for (; j + block <= d; j += block) {
            for (std::size_t k = 0; k < block; k += line) __builtin_prefetch(later.x + j + k, 0, 2);
            sum += block_dot(x + j, w + j);
        }
        for (std::size_t k = j; k < d; k += line) __builtin_prefetch(later.x + k, 0, 2);
        return sum + short_dot(j, w);
    }

   private:
    // A length the compiler knows: it unrolls the loop into several independent sums.
    static double block_dot(const T *x, const double *w) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < block; ++j) sum += static_cast<double>(x[j]) * w[j];
        return sum;
    }
    double short_dot(std::size_t from, const double *w) const {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = from; j < d; ++j) sum += static_cast<double>(x[j]) * w[j];
        return sum;
    }
};

template <class T, class I>
struct SparseRow {
    const T *x;
    const I *j;
    std::size_t size;

    double dot(const double *w) const { return dot_by<false>(w); }
    // Four sums, because one would wait for the previous addition at every step. Where rows of many lengths are visited in
    // any order (`jumping`), what is left over takes no loop of its own: the processor would guess its end wrong, at the
    // price of a dozen entries.
    template <bool jumping>
    LINSEP_WITHIN double dot_by(const double *w) const {
        const auto product = [&](std::size_t k) { return static_cast<double>(x[k]) * w[j[k]]; };
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        std::size_t k = 0;
        for (; k + 4 <= size; k += 4) {
            s0 += product(k);
            s1 += product(k + 1);
            s2 += product(k + 2);
            s3 += product(k + 3);
        }
        if constexpr (!jumping) {
            for (; k < size; ++k) s0 += product(k);
        } else if (size > 0) {
            const std::size_t last = size - 1, rest = size % 4;
            const double p0 = product(std::min(k, last)), p1 = product(std::min(k + 1, last)), p2 = product(std::min(k + 2, last));
            s0 += rest > 0 ? p0 : 0.0, s1 += rest > 1 ? p1 : 0.0, s2 += rest > 2 ? p2 : 0.0;
        }
        return (s0 + s1) + (s2 + s3);
    }
    void add_to(double *w, double c) const {
        for (std::size_t k = 0; k < size; ++k) w[j[k]] += c * static_cast<double>(x[k]);
    }
    double squared_norm() const {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = 0; k < size; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(x[k]);
        return sum;
    }
    template <class F>
    void each_column(F f) const {
        for (std::size_t k = 0; k < size; ++k) f(static_cast<std::size_t>(j[k]));
    }
    template <class F>
    void each_entry(F f) const {
        for (std::size_t k = 0; k < size; ++k) f(column(k), value(k));
    }
    std::size_t count() const { return size; }
    std::size_t column(std::size_t k) const { return static_cast<std::size_t>(j[k]); }
    double value(std::size_t k) const { return static_cast<double>(x[k]); }
    std::uint64_t hash(std::uint64_t seed) const {
        for (std::size_t k = 0; k < size; ++k) seed = mixed(seed, static_cast<std::uint64_t>(j[k]) + 1, x[k]);
        return seed;
    }
    bool same(const SparseRow &other) const {
        return size == other.size && std::equal(j, j + size, other.j) && std::equal(x, x + size, other.x);
    }
    // Two rows of the matrix at a time, which share what is read of this one.
    void add_square_to(double *sum, std::size_t width, double c) const {
        if (!increases()) return add_unsorted_square_to(sum, width, c);
        const auto into = [&](std::size_t k) { return sum + column(k) * width; };
        std::size_t k = 0;
        for (; k + 1 < size; k += 2) {
            double *first = into(k), *second = into(k + 1);
            const double c0 = c * value(k), c1 = c * value(k + 1);
            for (std::size_t l = 0; l <= k; ++l) {
                const std::size_t at = column(l);
                first[at] += c0 * value(l);
                second[at] += c1 * value(l);
            }
            second[column(k + 1)] += c1 * value(k + 1);
        }
        if (k < size)
            for (std::size_t l = 0; l <= k; ++l) into(k)[column(l)] += c * value(k) * value(l);
    }
    bool increases() const {
        int falls = 0;
#pragma omp simd reduction(| : falls)
        for (std::size_t k = 1; k < size; ++k) falls |= j[k] <= j[k - 1];
        return falls == 0;
    }
    LINSEP_APART void add_unsorted_square_to(double *sum, std::size_t width, double c) const {
        for (std::size_t k = 0; k < size; ++k)
            for (std::size_t l = 0; l < size; ++l)
                if (j[l] <= j[k]) sum[column(k) * width + column(l)] += c * value(k) * value(l);
    }
    // The product, while a row that comes later is brought near: into the second cache, since asking the first one for more
    // than it can wait for at a time would hold up what is read meanwhile.
    LINSEP_APART double dot(const double *w, const SparseRow &later) const {
        later.fetch();
        return dot_by<true>(w);
    }
    // Thirty-two entries at a time, or what lies behind the row's end, which does no harm: of short rows no loop ends early.
    // Within its caller: a compiler that sees a function do nothing but fetch leaves out the call.
    LINSEP_WITHIN void fetch() const {
        fetch_block(0);
        for (std::size_t k = 32; k < size; k += 32) fetch_block(k);
    }
    LINSEP_WITHIN void fetch_block(std::size_t from) const {
        for (std::size_t k = 0; k < 32; k += 64 / sizeof(I)) __builtin_prefetch(j + from + k, 0, 2);
        for (std::size_t k = 0; k < 32; k += 64 / sizeof(T)) __builtin_prefetch(x + from + k, 0, 2);
    }
};

template <class T>
struct Dense {
    const T *x;
    std::size_t n, d;
    DenseRow<T> row(std::size_t i) const { return {x + i * d, d}; }
    void fetch(std::size_t) const {}  // where a row begins needs no look-up
    std::size_t stored() const { return n * d; }
};

template <class T, class I>
struct Csr {
    const T *x;
    const I *j;
    const I *start;
    std::size_t n, d, held;  // how many entries there are: the caller's start[n] may change
    SparseRow<T, I> row(std::size_t i) const {
        const auto first = static_cast<std::size_t>(start[i]);
        return {x + first, j + first, static_cast<std::size_t>(start[i + 1]) - first};
    }
    void fetch(std::size_t i) const { __builtin_prefetch(start + i); }
    std::size_t stored() const { return held; }
    // Whether the rows from `first` to `last` lie one after the other within the data and name columns that exist.
    bool sound(std::size_t first, std::size_t last) const {
        int falls = start[first] < 0 || static_cast<std::size_t>(start[last]) > held;
#pragma omp simd reduction(| : falls)
        for (std::size_t i = first; i < last; ++i) falls |= start[i] > start[i + 1];
        if (falls) return false;
        using Unsigned = std::make_unsigned_t<I>;  // in which a negative index is a large one
        Unsigned highest = 0;
#pragma omp simd reduction(max : highest)
        for (std::size_t k = static_cast<std::size_t>(start[first]); k < static_cast<std::size_t>(start[last]); ++k)
            highest = std::max(highest, static_cast<Unsigned>(j[k]));
        return start[first] == start[last] || highest < d;
    }
};

using Matrix = std::variant<Dense<float>, Dense<double>, Csr<float, std::int32_t>, Csr<double, std::int32_t>,
                            Csr<float, std::int64_t>, Csr<double, std::int64_t>>;

}  // namespace linsep
