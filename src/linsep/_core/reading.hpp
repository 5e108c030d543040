// What planes say of rows, in one pass over the data: scores, labels, probabilities.
// A score is not finite unless every entry of its row is, so that nobody need look at the data for that beforehand.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "products.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace linsep {

struct Discriminants {
    const double *W, *b;  // W has one plane in each of its `count` rows
    std::size_t count;
};

// What is made of the scores g of row i.
struct Scores {
    double *out;
    void operator()(std::size_t i, const double *g, std::size_t count) const { std::copy_n(g, count, out + i * count); }
};

// One entry of `table`: the second where g > 0, else the first; of more planes than one, that of the highest.
struct Labels {
    const std::int64_t *table;
    std::int64_t *out;
    void operator()(std::size_t i, const double *g, std::size_t count) const {
        out[i] = table[count == 1 ? static_cast<std::size_t>(g[0] > 0) : std::max_element(g, g + count) - g];
    }
};

// σ(−g) and σ(g) for one plane, e^(g_k) / Σ e^(g_j) for more.
struct Probabilities {
    double *out;
    void operator()(std::size_t i, const double *g, std::size_t count) const {
        if (count == 1) {
            const double e = std::exp(-std::abs(g[0])), larger = 1 / (1 + e), smaller = e * larger;
            out[2 * i] = g[0] >= 0 ? smaller : larger;
            out[2 * i + 1] = g[0] >= 0 ? larger : smaller;
            return;
        }
        double *p = out + i * count, highest = *std::max_element(g, g + count), sum = 0;
        for (std::size_t k = 0; k < count; ++k) sum += p[k] = std::exp(g[k] - highest);
        for (std::size_t k = 0; k < count; ++k) p[k] /= sum;
    }
};

enum class Outcome { finite, not_finite, damaged };

// Planes beside each other (d × count, filled up), unless they are so many numbers that turning them is the larger part.
template <class Rows>
std::vector<double> side_by_side(const Rows &X, const Discriminants &planes) {
    if (planes.count == 1 || X.stored() < X.d) return {};
    const std::size_t width = filled_width(X, planes.count);
    std::vector<double> turned(X.d * width, 0.0);
    for (std::size_t k = 0; k < planes.count; ++k)
        for (std::size_t j = 0; j < X.d; ++j) turned[j * width + k] = planes.W[k * X.d + j];
    return turned;
}

// One plane, whose rows' scores follow from each other: in one loop, with nothing that is not known at compile time.
template <class Rows, class End>
bool read_chunk(const Rows &X, const double *w, double b, std::size_t first, std::size_t last, const End &end) {
    double off = 0;
    for (std::size_t i = first; i < last; ++i) {
        const double g = X.row(i).dot(w) + b;
        off += g - g;  // 0, or NaN
        end(i, &g, std::integral_constant<std::size_t, 1>{});
    }
    return off == 0;
}

template <class Rows, class End>
bool read_chunk(const Rows &X, const Discriminants &planes, const double *turned, std::size_t first, std::size_t last,
                const End &end) {
    const std::size_t K = planes.count;
    std::vector<double> room((last - first) * K);
    double *g = room.data(), off = 0;
    if (turned)
        products(X, first, last, turned, K, g);
    else
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t k = 0; k < K; ++k) g[(i - first) * K + k] = X.row(i).dot(planes.W + k * X.d);
    for (std::size_t i = first; i < last; ++i, g += K) {
        for (std::size_t k = 0; k < K; ++k) {
            g[k] += planes.b[k];
            off += g[k] - g[k];
        }
        end(i, g, K);
    }
    return off == 0;
}

// Rows as they were at one moment, piece by piece: what is looked at is what is read. Dense rows are, as they are.
template <class T, class F>
bool each_piece(const Dense<T> &X, std::size_t first, std::size_t last, const F &f) {
    f(X, first, last, std::size_t{0});
    return true;
}

// Of sparse ones the structure is copied before it is checked, since its owner may be writing into it meanwhile.
template <class T, class I, class F>
bool each_piece(const Csr<T, I> &X, std::size_t first, std::size_t last, const F &f) {
    constexpr std::size_t nearby = 1 << 14;  // entries of a piece, unless one row has more: they stay in the nearest caches
    std::vector<I> start(X.start + first, X.start + last + 1), columns;
    if (start.front() < 0 || static_cast<std::size_t>(start.back()) > X.held || !std::is_sorted(start.begin(), start.end()))
        return false;
    for (std::size_t from = 0, to, n = last - first; from < n; from = to) {
        const auto begin = static_cast<std::size_t>(start[from]);
        for (to = from + 1; to < n && static_cast<std::size_t>(start[to + 1]) - begin <= nearby;) ++to;
        const auto size = static_cast<std::size_t>(start[to]) - begin;
        columns.assign(X.j + begin, X.j + begin + size);
        for (std::size_t i = from; i < to; ++i) start[i] -= static_cast<I>(begin);
        const I end = start[to];
        start[to] = static_cast<I>(size);
        const Csr<T, I> piece{X.x + begin, columns.data(), start.data() + from, to - from, X.d, size};
        if (!piece.sound(0, piece.n)) return false;
        f(piece, std::size_t{0}, piece.n, first + from);
        start[to] = end;  // where the next piece begins
    }
    return true;
}

template <class Rows, class End>
Outcome read(const Rows &X, const Discriminants &planes, const End &end, std::size_t threads) {
    constexpr std::size_t chunk = 256;  // rows of a task
    const auto turned = side_by_side(X, planes);
    std::atomic<bool> finite{true}, sound{true};
    parallel_for((X.n + chunk - 1) / chunk, useful_threads(X.stored() * planes.count, threads), [&](std::size_t task) {
        const std::size_t first = task * chunk, last = std::min(X.n, first + chunk);
        const auto read_piece = [&](const auto &piece, std::size_t from, std::size_t to, std::size_t before) {
            const auto at = [&](std::size_t i, const double *g, auto count) { end(before + i, g, count); };
            if (!(planes.count == 1 ? read_chunk(piece, planes.W, planes.b[0], from, to, at)
                                    : read_chunk(piece, planes, turned.empty() ? nullptr : turned.data(), from, to, at)))
                finite = false;
        };
        if (!each_piece(X, first, last, read_piece)) sound = false;
    });
    return !sound ? Outcome::damaged : finite ? Outcome::finite : Outcome::not_finite;
}

}  // namespace linsep
