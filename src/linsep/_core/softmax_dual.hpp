// Dual coordinate ascent for the softmax of K planes: one example a step, its K probabilities at once.
//
// With w_k = Σ cᵢ ([yᵢ = k] − πᵢₖ) xᵢ, cᵢ = C sᵢ, the dual is  D(π) = −½ Σ ‖w_k‖² + Σ cᵢ H(πᵢ). Along one πᵢ its maximiser
// has  log π_k + a π_k + ν = g_k + a π_k(before),  where a = cᵢ‖xᵢ‖², g = xᵢW and ν is such that Σ π = 1.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "elementary.hpp"
#include "softmax.hpp"

namespace linsep {

// How near to its optimum an example's π is brought, and Newton's steps for that at the most: others move it again.
constexpr double settled_share = 1e-4;
constexpr int own_steps = 40;

// The dual variables of one example, as they are computed: whole packs, those beyond K without any weight.
struct OwnDual {
    std::size_t K, width;
    std::vector<double> before, logs, pi, wanted;
    explicit OwnDual(std::size_t classes)
        : K(classes), width((classes + lane - 1) / lane * lane), before(width), logs(width), pi(width), wanted(width) {}

    // Of scores g and log π (floats): sets `before`, and `logs` and `pi` to log p and p. Returns KL(π ‖ p), the share of
    // the duality gap, and −log p of the example's class.
    void meet(const float *g, const float *log_pi, std::size_t own, double &gap, double &loss) {
        double highest = g[0], rest = 0;
        for (std::size_t k = 1; k < K; ++k) highest = std::max(highest, static_cast<double>(g[k]));
        for (std::size_t k = 0; k < width; ++k) {
            logs[k] = k < K ? g[k] - highest : -std::numeric_limits<double>::infinity();
            before[k] = k < K ? log_pi[k] : -std::numeric_limits<double>::infinity();
        }
        exponentials(logs.data(), pi.data());
        exponentials(before.data(), before.data());
        for (std::size_t k = 0; k < width; ++k) rest += pi[k];
        const double total = std::log(rest);
        gap = 0;
        for (std::size_t k = 0; k < K; ++k) {
            logs[k] -= total, pi[k] /= rest;
            if (before[k] > 0) gap += before[k] * (log_pi[k] - logs[k]);
        }
        loss = -logs[own];
    }

    // Newton's method on log π and ν, from near p where a is small and from near `before` where it is large, for neither is
    // the other then far from the optimum. A step that lowers the dual after all is not taken. What is beyond K stays at −∞.
    void solve(double a, const float *log_pi) {
        for (std::size_t k = 0; k < K; ++k) wanted[k] = logs[k] + a * before[k];
        if (a > 1)
            for (std::size_t k = 0; k < K; ++k) pi[k] = (pi[k] + a * before[k]) / (1.0 + a), logs[k] = std::log(pi[k]);
        for (int step = 0; step < own_steps; ++step) {
            double slope = 0, missing = 0, sum = 0, moved = 0;
            for (std::size_t k = 0; k < K; ++k) {
                const double share = pi[k] / (1.0 + a * pi[k]);
                slope += share, sum += pi[k], missing += share * (wanted[k] - logs[k] - a * pi[k]);
            }
            const double nu = (missing - (1.0 - sum)) / slope;
            for (std::size_t k = 0; k < K; ++k) {
                const double change = (wanted[k] - logs[k] - a * pi[k] - nu) / (1.0 + a * pi[k]);
                logs[k] = std::min(logs[k] + change, 0.0);
                moved += pi[k] * std::fabs(change);
            }
            exponentials(logs.data(), pi.data());
            if (moved <= settled_share) break;
        }
        double sum = 0, gain = 0;
        for (std::size_t k = 0; k < K; ++k) sum += pi[k];
        const double less = std::log(sum);
        for (std::size_t k = 0; k < K; ++k) {
            pi[k] /= sum, logs[k] -= less;
            gain += pi[k] * (wanted[k] - logs[k] - 0.5 * a * pi[k]);
            if (before[k] > 0) gain -= before[k] * (wanted[k] - log_pi[k] - 0.5 * a * before[k]);
        }
        if (gain > 0) return;
        for (std::size_t k = 0; k < K; ++k) pi[k] = before[k], logs[k] = log_pi[k];
    }

   private:
    void exponentials(const double *of, double *out) const {
        for (std::size_t c = 0; c < width; c += lane)
#pragma omp simd
            for (std::size_t k = c; k < c + lane; ++k) out[k] = exp_of_negative(of[k]);
    }
};

// One pass over the examples in this order. `W` has the planes side by side, its last row the intercepts, which move as
// the weights of a column whose square is `constant`; `logs` is log π of each example, `moved` takes up Σ of all moves of
// c ([y = k] − π). In `sums`: the duality gap and Σ c (−log p_y), each example's share as it was met.
template <class Rows>
void softmax_dual_pass(const Rows &X, const std::int64_t *order, std::size_t count, const std::int64_t *codes,
                       const double *c, const double *squares, double constant, std::size_t K, std::size_t width,
                       float *logs, float *W, double *moved, double *sums) {
    std::vector<float> g(width, 0.0f), change(width, 0.0f);
    OwnDual own(K);
    float *b = W + X.d * width;
    sums[0] = sums[1] = 0;
    for (std::size_t visit = 0; visit < count; ++visit) {
        const auto i = static_cast<std::size_t>(order[visit]);
        X.fetch(static_cast<std::size_t>(order[std::min(visit + 2, count - 1)]));
        const auto row = X.row(i);
        each_side<float>(width, [&](auto N, std::size_t from) {
            rows_times_planes<1, N>(&row, b + from, W + from, width, g.data() + from);
        });
        double gap, loss;
        own.meet(g.data(), logs + i * width, static_cast<std::size_t>(codes[i]), gap, loss);
        sums[0] += c[i] * gap, sums[1] += c[i] * loss;
        own.solve(c[i] * (squares[i] + constant), logs + i * width);
        for (std::size_t k = 0; k < K; ++k) {
            const double step = c[i] * (own.before[k] - own.pi[k]);
            change[k] = static_cast<float>(step);
            moved[k] += step;
            b[k] += static_cast<float>(constant * step);
            logs[i * width + k] = static_cast<float>(own.logs[k]);
        }
        each_side<float>(width, [&](auto N, std::size_t from) {
            spread_rows<1, N>(&row, change.data() + from, width, W + from);
        });
    }
}

}  // namespace linsep
