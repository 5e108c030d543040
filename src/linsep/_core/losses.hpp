// The losses of linsep/losses.py, one struct each, for use inside the loops.
//
// z is the agreement y g(x). `slope` is ℓ'(z), at a kink the one-sided value that losses.py takes.
// tests/test_core.py ties every struct to its Python twin.
#pragma once
#include <cmath>

namespace linsep {

struct Perceptron {
    static constexpr const char *name = "perceptron";
    static double slope(double z) { return z <= 0 ? -1.0 : 0.0; }
};

struct Hinge {
    static constexpr const char *name = "hinge";
    static double slope(double z) { return z <= 1 ? -1.0 : 0.0; }
};

struct SquaredHinge {
    static constexpr const char *name = "squared_hinge";
    static double slope(double z) { return z < 1 ? -2.0 * (1.0 - z) : 0.0; }
};

struct Logistic {
    static constexpr const char *name = "logistic";
    static double slope(double z) { return -1.0 / (1.0 + std::exp(z)); }
};

struct Square {
    static constexpr const char *name = "square";
    static double slope(double z) { return -2.0 * (1.0 - z); }
};

}  // namespace linsep
