// Several planes on the same examples, side by side, so that each row is read once for all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "compiler.hpp"
#include "products.hpp"

namespace linsep {

// out = x W for N packs of planes. Even and odd entries have sums of their own, because one would wait for the
// previous addition at every step. A plane's sum is the same whichever planes are beside it.
template <std::size_t N, class Row>
void pack_products(const Row &row, const double *W, std::size_t width, double *out) {
    Pack even[N] = {}, odd[N] = {};
    const std::size_t count = row.count();
    std::size_t k = 0;
    const auto take = [&](std::size_t entry, Pack *sum) {
        const double *w = W + row.column(entry) * width;
        const double x = row.value(entry);
        LINSEP_UNROLL
        for (std::size_t c = 0; c < N; ++c) {
            Pack some;
            load(some, w + lane * c);
            sum[c] += x * some;
        }
    };
    for (; k + 2 <= count; k += 2) take(k, even), take(k + 1, odd);
    if (k < count) take(k, even);
    LINSEP_UNROLL
    for (std::size_t c = 0; c < N; ++c) store(out + lane * c, even[c] + odd[c]);
}

// W += x cᵀ for N packs of planes.
template <std::size_t N, class Row>
void pack_spread(const Row &row, double *W, std::size_t width, const double *c) {
    Pack own[N];
    LINSEP_UNROLL
    for (std::size_t p = 0; p < N; ++p) load(own[p], c + lane * p);
    for (std::size_t k = 0; k < row.count(); ++k) {
        double *w = W + row.column(k) * width;
        const double x = row.value(k);
        LINSEP_UNROLL
        for (std::size_t p = 0; p < N; ++p) {
            Pack some;
            load(some, w + lane * p);
            some += x * own[p];
            store(w + lane * p, some);
        }
    }
}

constexpr std::size_t step_packs = 6;  // two sums for each fit into the registers

// The weights of `width` planes, interleaved so that an entry of a row meets all of them at one place: weight j of plane
// k is W[j · width + k]. The width is one, or whole packs.
struct Planes {
    double *W;  // fastest where a pack does not lie across two lines of the cache
    std::size_t width;

    // x W; `later` is a row that will be asked for soon.
    template <class Row>
    LINSEP_WITHIN void dot(const Row &row, const Row &later, double *out) const {
        if (width == 1) {
            *out = row.dot(W, later);
            return;
        }
        later.fetch();
        dot_packs(row, out);
    }
    template <class Row>
    LINSEP_WITHIN void dot(const Row &row, double *out) const {
        if (width == 1) *out = row.dot(W);
        else dot_packs(row, out);
    }
    // W += x cᵀ
    template <class Row>
    LINSEP_WITHIN void add(const Row &row, const double *c) const {
        if (width == 1) row.add_to(W, *c);
        else add_packs(row, c);
    }

   private:
    template <class Row>
    LINSEP_APART void dot_packs(const Row &row, double *out) const {
        each_sweep([&](auto N, std::size_t from) { pack_products<N>(row, W + from, width, out + from); });
    }
    template <class Row>
    LINSEP_APART void add_packs(const Row &row, const double *c) const {
        each_sweep([&](auto N, std::size_t from) { pack_spread<N>(row, W + from, width, c + from); });
    }
    template <class F>
    void each_sweep(F f) const {
        for (std::size_t from = 0; from < width; from += step_packs * lane)
            with_packs<step_packs>(std::min(step_packs, (width - from) / lane), [&](auto N) { f(N, from); });
    }
};

// Adds what an example of weight s says of each plane to the sums, and sets u; returns whether nothing pulls.
template <class Loss>
LINSEP_APART bool tally(std::size_t width, const double *label, const double *g, const double *b, double s,
                        double *value, double *mistakes, double *slopes, double *errors, double *least, double *u) {
    bool flat = true;
    for (std::size_t k = 0; k < width; ++k) {
        const double z = label[k] * (g[k] + b[k]);
        value[k] += s * Loss::value(z);
        mistakes[k] += z > 0 ? 0.0 : s;
        errors[k] += z > 0 || (z == 0 && label[k] < 0) ? 0.0 : s;
        least[k] = z < least[k] || z != z ? z : least[k];
        u[k] = s * Loss::slope(z) * label[k];
        slopes[k] += u[k];
        flat &= u[k] == 0;
    }
    return flat;
}

// Adds the squared slopes of all weights of each plane, the squared weights, and their sizes.
LINSEP_APART inline void tally_weights(std::size_t d, std::size_t width, const double *W, const double *G, double total,
                                       double l2, double l1, double *steep, double *squares, double *sizes) {
    for (std::size_t j = 0; j < d * width; j += width)
        for (std::size_t k = 0; k < width; ++k) {
            const double w = W[j + k], slope = G[j + k] / total + l2 * w + (w == 0 ? 0.0 : std::copysign(l1, w));
            steep[k] += slope * slope;
            squares[k] += w * w;
            sizes[k] += std::fabs(w);
        }
}

// What is measured of every plane, each `width` numbers in `out`, one after the other:
//
//     Σ s ℓ(z),   Σ s over the mistakes (z ≤ 0),   Σ u,   ‖Σ u x / total + l2 w + l1 sign(w)‖²,   ‖w‖²,   ‖w‖₁,
//     Σ s over the wrong labels (as z ≤ 0, but a score of zero is for −1),   the least z
//
// with u = s ℓ'(z) y. `G` is room for Σ u x, d × width.
template <class Loss, class Rows>
void measure(const Rows &X, const double *y, const double *weight, const double *W, const double *b, std::size_t width,
             double total, double l2, double l1, double *G, double *out) {
    const Planes planes{const_cast<double *>(W), width}, gradient{G, width};
    std::vector<double> g(width), u(width);
    std::fill_n(G, X.d * width, 0.0);
    std::fill_n(out, 7 * width, 0.0);
    std::fill_n(out + 7 * width, width, std::numeric_limits<double>::infinity());
    double *value = out, *mistakes = out + width, *slopes = out + 2 * width, *errors = out + 6 * width,
           *least = out + 7 * width;
    // Where most runs begin: all products are zero.
    const bool nothing = std::all_of(W, W + X.d * width, [](double w) { return w == 0; });
    for (std::size_t i = 0; i < X.n; ++i) {
        const auto row = X.row(i);
        if (!nothing) planes.dot(row, g.data());
        const double s = weight ? weight[i] : 1.0, *label = y + i * width;
        if (!tally<Loss>(width, label, g.data(), b, s, value, mistakes, slopes, errors, least, u.data()))
            gradient.add(row, u.data());
    }
    tally_weights(X.d, width, W, G, total, l2, l1, out + 3 * width, out + 4 * width, out + 5 * width);
}

}  // namespace linsep
