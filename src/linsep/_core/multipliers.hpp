// The inner problem of the method of multipliers: losses with a spring that pulls each dual variable to a centre.
//
// Given agreements z, centres ᾱ and a width h, each dual variable is  a = argmin ½ (h/c)(a − ᾱ)² + z (a − ᾱ) + c ℓ*(−a/c).
// For a loss made of straight pieces, a falls with z at the rate c/h strictly between its bounds 0 and c, and stays where
// it is on them: only the examples in that band bend the inner problem.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "dual.hpp"
#include "parallel.hpp"

namespace linsep {

template <class Loss>
double sprung(const Loss &, double centre, double z, double width, double c) {
    return c > 0 ? Loss::dual_step(centre, z, width / c, c) : 0.0;
}
inline double sprung(const Hinge &, double centre, double z, double width, double c) {  // the same without c > 0
    return std::min(c, std::max(0.0, centre - (z - 1.0) * (c * (1.0 / width))));
}

// Replaces `a` by the dual variables at z and sets h = −da/dz. In `sums`: Σ c ℓ(z), Σ c ℓ*(−a/c), Σ a z, Σ c over the
// mistakes (z ≤ 0), Σ a over the positive and over the negative class, then what Σ a y x gains over the positive class
// and, if `split`, over the negative class; without `split` everything counts as positive. Only examples whose variable
// changed are read.
template <class Loss, class Rows>
void sprung_duals(const Rows &X, const double *y, const double *c, const Loss &loss, const double *centre,
                  const double *z, double width, bool split, double *a, double *h, double *sums, std::size_t threads) {
    const std::size_t size = 6 + (split ? 2 : 1) * X.d, blocks = block_count(X, size);
    std::vector<double> parts(blocks * size, 0.0);
    parallel_for(blocks, useful_threads(X.stored(), threads), [&](std::size_t block) {
        double *sum = parts.data() + block * size;
        double *side[2] = {sum + 6, sum + 6 + (split ? X.d : 0)};
        double value = 0, conjugate = 0, product = 0, mistakes = 0, total = 0, signed_total = 0;
        const std::size_t first = X.n * block / blocks, last = X.n * (block + 1) / blocks;
        std::vector<double> change(last - first);
#pragma omp simd reduction(+ : value, conjugate, product, mistakes, total, signed_total)
        for (std::size_t i = first; i < last; ++i) {
            const double now = sprung(loss, centre[i], z[i], width, c[i]);
            change[i - first] = (now - a[i]) * y[i];
            a[i] = now;
            h[i] = now > 0 && now < c[i] ? c[i] * (1.0 / width) : 0.0;
            mistakes += z[i] > 0 ? 0.0 : c[i];
            value += c[i] * Loss::value(z[i]);
            conjugate += c[i] > 0 ? c[i] * Loss::conjugate(-now / c[i]) : 0.0;
            product += now * z[i];
            total += now;
            signed_total += now * y[i];
        }
        for (std::size_t i = first; i < last; ++i)
            if (change[i - first] != 0) X.row(i).add_to(side[split && y[i] < 0], change[i - first]);
        sum[0] = value, sum[1] = conjugate, sum[2] = product, sum[3] = mistakes;
        sum[4] = split ? 0.5 * (total + signed_total) : total, sum[5] = split ? 0.5 * (total - signed_total) : 0.0;
    });
    add_blocks(parts.data(), blocks, size);
    std::copy(parts.begin(), parts.begin() + size, sums);
}

// The t that minimises  t linear + ½ t² quadratic + Σ (inner loss at z + t dz), to within `accuracy` of its slope at 0,
// which is `first`: Newton's method on the slope, kept inside the bracket that is known.
template <class Loss>
double sprung_line_search(const double *c, const Loss &loss, const double *centre, const double *z, const double *dz,
                          std::size_t n, double width, double first, double linear, double quadratic, double accuracy,
                          std::size_t threads) {
    const std::size_t blocks = std::min<std::size_t>(8, n / 100'000 + 1);
    std::vector<double> parts(2 * blocks);
    const auto slope_and_bend = [&](double t) {
        parallel_for(blocks, threads, [=, &loss, &parts](std::size_t block) {
            double slope = 0, bend = 0;
#pragma omp simd reduction(+ : slope, bend)
            for (std::size_t i = n * block / blocks; i < n * (block + 1) / blocks; ++i) {
                const double a = sprung(loss, centre[i], z[i] + t * dz[i], width, c[i]);
                slope -= a * dz[i];
                bend += a > 0 && a < c[i] ? c[i] * dz[i] * dz[i] : 0.0;
            }
            parts[2 * block] = slope, parts[2 * block + 1] = bend / width;
        });
        add_blocks(parts.data(), blocks, 2);
        parts[0] += linear + t * quadratic;
        parts[1] += quadratic;
    };
    if (!(first < 0)) return 0.0;
    double low = 0, high = 0, t = 1;
    for (int k = 0; k < 60; ++k) {
        slope_and_bend(t);
        const double slope = parts[0], newton = t - slope / parts[1];
        if (std::fabs(slope) <= accuracy * -first) break;
        (slope > 0 ? high : low) = t;
        if (high == 0) t = std::min(std::max(newton, 1.5 * t), 4.0 * t);
        else t = newton > low && newton < high ? newton : 0.5 * (low + high);
    }
    return t;
}

// −Σ a dz, the slope of the sum of inner losses along dz, at z + t dz for each of some lengths t.
template <class Loss>
void sprung_slopes(const double *c, const Loss &loss, const double *centre, const double *z, const double *dz,
                   std::size_t n, double width, const double *t, std::size_t count, double *slopes,
                   std::size_t threads) {
    constexpr std::size_t stretch = 1024;  // which stays in the cache for all lengths
    const std::size_t blocks = std::min<std::size_t>(8, n / 100'000 + 1);
    std::vector<double> parts(blocks * count, 0.0);
    parallel_for(blocks, threads, [&](std::size_t block) {
        const std::size_t end = n * (block + 1) / blocks;
        for (std::size_t first = n * block / blocks; first < end; first += stretch) {
            const std::size_t last = std::min(end, first + stretch);
            for (std::size_t k = 0; k < count; ++k) {
                double slope = 0;
                const double length = t[k];
#pragma omp simd reduction(+ : slope)
                for (std::size_t i = first; i < last; ++i)
                    slope -= sprung(loss, centre[i], z[i] + length * dz[i], width, c[i]) * dz[i];
                parts[block * count + k] += slope;
            }
        }
    });
    add_blocks(parts.data(), blocks, count);
    std::copy(parts.begin(), parts.begin() + count, slopes);
}

}  // namespace linsep
