// The losses of linsep/losses.py, one struct each, for use inside the loops.
//
// z is the agreement y g(x). `slope` is ℓ'(z), at a kink the one-sided value that losses.py takes; `conjugate` is ℓ*(a)
// for a that is a slope of the loss. A loss that dual descent can use has a `dual_step`, the new α:
// argmin ½ q (a − α)² + z (a − α) + c ℓ*(−a/c); it may say that α is `settled`: on a bound that it will not leave soon,
// since its slope points outward by more than what has been seen. A new loss is a struct here, a class in losses.py that
// names it, and a place in the table at the end of this file; tests tie every struct to its Python twin.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "elementary.hpp"

namespace linsep {

// What holds of a loss unless it says otherwise.
template <class Loss>
struct Plain {
    static constexpr bool has_dual_step = false, straight = false;  // straight: made of straight pieces
    static bool settled(double, double, double, double, double) { return false; }
    // ℓ*(a), for loops over many examples: by packs of them, where the loss can be had so.
    static double conjugate_among_many(double a) { return Loss::conjugate(a); }
};

struct Perceptron : Plain<Perceptron> {
    static constexpr const char *name = "perceptron";
    static constexpr bool straight = true;
    static double value(double z) { return z >= 0 ? 0.0 : -z; }  // not max: NaN must stay NaN
    static double slope(double z) { return z <= 0 ? -1.0 : 0.0; }
    static double curvature(double) { return 0.0; }
    static double conjugate(double) { return 0.0; }
};

struct Hinge : Plain<Hinge> {
    static constexpr const char *name = "hinge";
    static constexpr bool has_dual_step = true, straight = true;
    static double value(double z) { return z >= 1 ? 0.0 : 1.0 - z; }
    static double slope(double z) { return z <= 1 ? -1.0 : 0.0; }
    static double curvature(double) { return 0.0; }
    static double conjugate(double a) { return a; }
    static double dual_step(double alpha, double z, double q, double c) {
        return std::min(c, std::max(0.0, alpha - (z - 1.0) / q));
    }
    static bool settled(double alpha, double z, double c, double low, double high) {
        return (alpha == 0 && z - 1.0 > high) || (alpha == c && z - 1.0 < low);
    }
};

struct SquaredHinge : Plain<SquaredHinge> {
    static constexpr const char *name = "squared_hinge";
    static constexpr bool has_dual_step = true;
    static double value(double z) { return z >= 1 ? 0.0 : (1.0 - z) * (1.0 - z); }
    static double slope(double z) { return z < 1 ? -2.0 * (1.0 - z) : 0.0; }
    static double curvature(double z) { return z < 1 ? 2.0 : 0.0; }
    static double conjugate(double a) { return a + 0.25 * a * a; }
    static double dual_step(double alpha, double z, double q, double c) {
        return std::max(0.0, (q * alpha + 1.0 - z) / (q + 0.5 / c));
    }
    static bool settled(double alpha, double z, double, double, double high) { return alpha == 0 && z - 1.0 > high; }
};

struct ModifiedHuber : Plain<ModifiedHuber> {
    static constexpr const char *name = "modified_huber";
    static constexpr bool has_dual_step = true;
    static double value(double z) { return z < -1 ? -4.0 * z : SquaredHinge::value(z); }
    static double slope(double z) { return z < -1 ? -4.0 : SquaredHinge::slope(z); }
    static double curvature(double z) { return z < -1 ? 0.0 : SquaredHinge::curvature(z); }
    static double conjugate(double a) { return a + 0.25 * a * a; }
    static double dual_step(double alpha, double z, double q, double c) {
        return std::min(4.0 * c, SquaredHinge::dual_step(alpha, z, q, c));
    }
    static bool settled(double alpha, double z, double c, double low, double high) {
        return (alpha == 0 && z - 1.0 > high) || (alpha == 4.0 * c && z + 1.0 < low);
    }
};

struct Logistic : Plain<Logistic> {
    static constexpr const char *name = "logistic";
    static constexpr bool has_dual_step = true;
    static double value(double z) {
        return (z < 0 ? -z : 0.0) + log_of_one_and(exp_of_negative(-std::fabs(z)));  // not max: NaN must stay NaN
    }
    static double slope(double z) {
        const double e = exp_of_negative(-std::fabs(z));
        return -(z < 0 ? 1.0 : e) / (1.0 + e);
    }
    static double curvature(double z) {
        const double e = exp_of_negative(-std::fabs(z));
        return e / ((1.0 + e) * (1.0 + e));
    }
    static double conjugate(double a) {
        const double p = -a, q = 1.0 + a;
        return (p > 0 ? p * std::log(p) : 0.0) + (q > 0 ? q * std::log(q) : 0.0);
    }
    // The same without a branch or a call, for loops over many: with m the smaller and M the larger of p and q, which add up
    // to one, m log(1 + M/m) + M log(1 + m/M). One at a time the C library's logarithm is sooner there.
    static double conjugate_among_many(double a) {
        const double p = -a, q = 1.0 + a, m = p < q ? p : q, M = p < q ? q : p, some = m > 0 ? m : 1.0;
        const double sum = m * log_of_one_and_more(M / some) + M * log_of_one_and(some / M);
        return m > 0 ? -sum : 0.0;
    }
    // a = c σ(t), where t solves t + z + q (c σ(t) − α) = 0. The left side rises with t and is bent by σ only, so Halley's
    // method converges; its first step is Newton's from α itself, whose σ is α/c, or else from the undamped guess t = −z. A
    // step longer than half the bracket goes to its middle instead: two long ones could go to and fro. The last step is taken to second order: its error is
    // the cube of something below a fiftieth.
    static double dual_step(double alpha, double z, double q, double c) {
        double low = -z - q * (c - alpha), high = -z + q * alpha, t = -z, a = 0;
        if (alpha > 0 && alpha < c) {
            t = rough_log(alpha) - rough_log(c - alpha);
            t -= (t + z) / (1.0 + q * alpha * (1.0 - alpha / c));
        }
        t = std::min(high, std::max(low, t));
        for (int k = 0; k < 50; ++k) {
            const double sigma = 1.0 / (1.0 + rough_exp(-t)), bend = c * sigma * (1.0 - sigma), twist = 0.5 - sigma;
            a = c * sigma;
            const double f = t + z + q * (a - alpha), rise = 1.0 + q * bend, most = 0.5 * rise * rise;
            const double turn = std::min(most, std::max(-most, f * q * bend * twist)), step = f * rise / (2.0 * most - turn);
            if (std::fabs(step) <= 0.02) return std::min(c, std::max(0.0, a - bend * step * (1.0 - twist * step)));
            (f > 0 ? high : low) = t;
            t = std::fabs(step) < 0.5 * (high - low) ? t - step : 0.5 * (low + high);
        }
        return a;
    }
};

struct Square : Plain<Square> {
    static constexpr const char *name = "square";
    static constexpr bool has_dual_step = true;
    static double value(double z) { return (1.0 - z) * (1.0 - z); }
    static double slope(double z) { return -2.0 * (1.0 - z); }
    static double curvature(double) { return 2.0; }
    static double conjugate(double a) { return a + 0.25 * a * a; }
    static double dual_step(double alpha, double z, double q, double c) {
        return (q * alpha + 1.0 - z) / (q + 0.5 / c);
    }
};

// Every compiled loss, once.
template <class... Loss>
struct LossTable {};
using Losses = LossTable<Perceptron, Hinge, SquaredHinge, ModifiedHuber, Logistic, Square>;

// What a loop needs of a loss beside its formulas.
enum class Needs { nothing, dual_step, dual_step_and_straight_pieces };

template <class Loss>
constexpr bool offers(Needs needs) {
    return needs == Needs::nothing || (Loss::has_dual_step && (needs == Needs::dual_step || Loss::straight));
}

// Calls f with the loss of that name, if it offers what the loop needs.
template <Needs needs = Needs::nothing, class F, class First, class... Rest>
auto with_loss(const std::string &name, F f, LossTable<First, Rest...>) -> decltype(f(Hinge{})) {
    if constexpr (offers<First>(needs))
        if (name == First::name) return f(First{});
    if constexpr (sizeof...(Rest) > 0) return with_loss<needs>(name, f, LossTable<Rest...>{});
    else throw std::invalid_argument("no compiled loss that can be used here is called '" + name + "'");
}
template <Needs needs = Needs::nothing, class F>
auto with_loss(const std::string &name, F f) {
    return with_loss<needs>(name, f, Losses{});
}

}  // namespace linsep
