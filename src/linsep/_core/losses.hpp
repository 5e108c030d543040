// The losses of linsep/losses.py, one struct each, for use inside the loops.
//
// z is the agreement y g(x). `slope` is ℓ'(z), at a kink the one-sided value that losses.py takes; `conjugate` is ℓ*(a)
// for a that is a slope of the loss. tests/test_core.py ties every struct to its Python
// twin.
#pragma once
#include <algorithm>
#include <cmath>

#include "elementary.hpp"

namespace linsep {

struct Perceptron {
    static constexpr const char *name = "perceptron";
    static double value(double z) { return z >= 0 ? 0.0 : -z; }  // not max: NaN must stay NaN
    static double slope(double z) { return z <= 0 ? -1.0 : 0.0; }
    static double curvature(double) { return 0.0; }
    static double conjugate(double) { return 0.0; }
};

struct Hinge {
    static constexpr const char *name = "hinge";
    static double value(double z) { return z >= 1 ? 0.0 : 1.0 - z; }
    static double slope(double z) { return z <= 1 ? -1.0 : 0.0; }
    static double curvature(double) { return 0.0; }
    static double conjugate(double a) { return a; }
};

struct SquaredHinge {
    static constexpr const char *name = "squared_hinge";
    static double value(double z) { return z >= 1 ? 0.0 : (1.0 - z) * (1.0 - z); }
    static double slope(double z) { return z < 1 ? -2.0 * (1.0 - z) : 0.0; }
    static double curvature(double z) { return z < 1 ? 2.0 : 0.0; }
    static double conjugate(double a) { return a + 0.25 * a * a; }
};

struct Logistic {
    static constexpr const char *name = "logistic";
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
};

struct Square {
    static constexpr const char *name = "square";
    static double value(double z) { return (1.0 - z) * (1.0 - z); }
    static double slope(double z) { return -2.0 * (1.0 - z); }
    static double curvature(double) { return 2.0; }
    static double conjugate(double a) { return a + 0.25 * a * a; }
};

}  // namespace linsep
