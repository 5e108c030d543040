// The losses of linsep/losses.py, one struct each, for use inside the loops.
//
// z is the agreement y g(x). `slope` is ℓ'(z), at a kink the one-sided value that losses.py takes; `conjugate` is ℓ*(a)
// for a that is a slope of the loss. A loss may carry a parameter. tests/test_core.py ties every struct to its Python
// twin.
#pragma once
#include <algorithm>
#include <cmath>

namespace linsep {

struct Perceptron {
    static constexpr const char *name = "perceptron";
    explicit Perceptron(double = 0) {}
    double value(double z) const { return std::max(0.0, -z); }
    double slope(double z) const { return z <= 0 ? -1.0 : 0.0; }
    double curvature(double) const { return 0.0; }
    double conjugate(double) const { return 0.0; }
};

struct Hinge {
    static constexpr const char *name = "hinge";
    explicit Hinge(double = 0) {}
    double value(double z) const { return std::max(0.0, 1.0 - z); }
    double slope(double z) const { return z <= 1 ? -1.0 : 0.0; }
    double curvature(double) const { return 0.0; }
    double conjugate(double a) const { return a; }
};

// The hinge with its corner rounded off: a parabola between 1 − width and 1.
struct SmoothedHinge {
    static constexpr const char *name = "smoothed_hinge";
    double width;
    explicit SmoothedHinge(double h) : width(h) {}
    double value(double z) const {
        const double t = 1.0 - z;
        return t <= 0 ? 0.0 : t >= width ? t - 0.5 * width : t * t / (2.0 * width);
    }
    double slope(double z) const { return -std::min(1.0, std::max(0.0, (1.0 - z) / width)); }
    double curvature(double z) const { return z < 1.0 && z > 1.0 - width ? 1.0 / width : 0.0; }
    double conjugate(double a) const { return a + 0.5 * width * a * a; }
};

struct SquaredHinge {
    static constexpr const char *name = "squared_hinge";
    explicit SquaredHinge(double = 0) {}
    double value(double z) const { return z < 1 ? (1.0 - z) * (1.0 - z) : 0.0; }
    double slope(double z) const { return z < 1 ? -2.0 * (1.0 - z) : 0.0; }
    double curvature(double z) const { return z < 1 ? 2.0 : 0.0; }
    double conjugate(double a) const { return a + 0.25 * a * a; }
};

struct Logistic {
    static constexpr const char *name = "logistic";
    explicit Logistic(double = 0) {}
    double value(double z) const { return std::max(0.0, -z) + std::log1p(std::exp(-std::fabs(z))); }
    double slope(double z) const { return -1.0 / (1.0 + std::exp(z)); }
    double curvature(double z) const {
        const double e = std::exp(-std::fabs(z));
        return e / ((1.0 + e) * (1.0 + e));
    }
    double conjugate(double a) const {
        const double p = -a, q = 1.0 + a;
        return (p > 0 ? p * std::log(p) : 0.0) + (q > 0 ? q * std::log(q) : 0.0);
    }
};

struct Square {
    static constexpr const char *name = "square";
    explicit Square(double = 0) {}
    double value(double z) const { return (1.0 - z) * (1.0 - z); }
    double slope(double z) const { return -2.0 * (1.0 - z); }
    double curvature(double) const { return 2.0; }
    double conjugate(double a) const { return a + 0.25 * a * a; }
};

}  // namespace linsep
