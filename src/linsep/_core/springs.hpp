// The method of multipliers from beginning to end, for problems of few features: solvers/newton/augmented_lagrangian.py says how
// it works, and takes its steps one by one where a Hessian is a matter for a BLAS.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cholesky.hpp"
#include "hessian.hpp"
#include "multipliers.hpp"
#include "products.hpp"

namespace linsep {

// When a run ends: at a relative gap of `target`; no more than `more` steps after that of `tol`, which is larger or
// the same; after `most` steps. Springs give way by the factor `narrower`, down to the width `narrowest`.
struct Patience {
    double tol, target, narrower, narrowest;
    std::size_t more, most;
};

enum Ended : std::int64_t { proven, tired, stuck, full };
constexpr const char *ends[] = {"proven", "tired", "stuck", "full"};

// What a run changes: the point [w, b], its agreements z, the dual variables a, how they bend, their centres, the
// width; then the best point with its objective, and the best dual point with its bound. A row of the log for each
// point: the steps so far, P, Σ c ℓ(z), Σ c over the mistakes, and the least P so far.
struct Springs {
    double *point, *z, *a, *h, *centre, *width;
    double *best_point, *best_alpha, *proof;
    double *log;
    std::size_t room;
};

template <class Loss, class Rows>
class SprungNewton {
   public:
    SprungNewton(const Rows &X, const double *y, const double *c, const Loss &loss, double l2, bool intercept,
                 const Springs &at, std::size_t threads)
        : X(X), y(y), c(c), loss(loss), l2(l2), intercept(intercept), at(at), threads(threads),
          sides(intercept ? 2 : 1), size(X.d + intercept), v(sides * X.d), sums(6 + sides * X.d), dz(X.n) {}

    std::size_t steps = 0, notes = 0;
    // Whether z are the agreements of the best point, computed afresh.
    bool settled() const { return fresh && best_is_here; }

    Ended run(const Patience &patience) {
        refresh();
        std::size_t enough = patience.most;
        for (;;) {
            if (!measure(patience)) return full;
            if (gap() <= patience.target) return proven;
            if (gap() <= patience.tol && enough == patience.most) enough = std::min(enough, steps + patience.more);
            if (steps >= enough) return tired;
            if (!step()) return stuck;
        }
    }

   private:
    const Rows &X;
    const double *y, *c;
    const Loss &loss;
    double l2;
    bool intercept;
    Springs at;
    std::size_t threads, sides, size;
    std::vector<double> v, sums, dz;  // v: Σ a y x, by class if there is an intercept
    double totals[2] = {0, 0}, inner = 0, outer = 0;
    bool fresh = true, best_is_here = false;

    double gap() const {
        const double least = std::numeric_limits<double>::min();
        return (at.proof[0] - at.proof[1]) / std::max(std::fabs(at.proof[0]), least);
    }

    // Computes afresh what is otherwise kept up to date by adding to it, and drops what rested on that.
    void refresh() {
        matvec(X, at.point, 1, at.z, threads);
        for (std::size_t i = 0; i < X.n; ++i) at.z[i] = y[i] * (at.z[i] + at.point[X.d]);
        std::fill_n(at.a, X.n, 0.0);
        std::fill(v.begin(), v.end(), 0.0);
        at.proof[0] = std::numeric_limits<double>::infinity(), at.proof[1] = -at.proof[0];
        fresh = true, best_is_here = false;
    }

    // Notes the point; springs that hold more than all else give way. False where the log is full.
    bool measure(const Patience &patience) {
        for (;;) {
            if (!note()) return false;
            if (gap() <= patience.target) {
                if (fresh) return true;
                refresh();
            } else if (inner <= outer && *at.width > patience.narrowest) {
                std::copy_n(at.a, X.n, at.centre);
                *at.width *= patience.narrower;
            } else {
                return true;
            }
        }
    }

    bool note() {
        if (notes == at.room) return false;
        sprung_duals(X, y, c, loss, at.centre, at.z, *at.width, intercept, at.a, at.h, sums.data(), threads);
        for (std::size_t k = 0; k < v.size(); ++k) v[k] += sums[6 + k];
        totals[0] = sums[4], totals[1] = sums[5];
        double scale[2] = {1, 1};
        if (intercept) {  // the heavier class is scaled down until Σ a y = 0
            const bool both = totals[0] > 0 && totals[1] > 0;
            scale[0] = both ? std::min(1.0, totals[1] / totals[0]) : 0.0;
            scale[1] = both ? std::min(1.0, totals[0] / totals[1]) : 0.0;
        }
        const double value = sums[0], primal = 0.5 * l2 * square(at.point) + value;
        const double dual = -dual_square(scale) / (2.0 * l2) - (intercept ? conjugates(scale) : sums[1]);
        outer = value + sums[1] + sums[2];
        inner = primal - dual - outer;
        if (primal < at.proof[0]) {
            at.proof[0] = primal, best_is_here = true;
            std::copy_n(at.point, X.d + 1, at.best_point);
        }
        if (dual > at.proof[1]) {
            at.proof[1] = dual;
            for (std::size_t i = 0; i < X.n; ++i) at.best_alpha[i] = at.a[i] * scale[intercept && y[i] < 0];
        }
        const double line[5] = {static_cast<double>(steps), primal, value, sums[3], at.proof[0]};
        std::copy_n(line, 5, at.log + 5 * notes++);
        return true;
    }

    double square(const double *w) const {
        double sum = 0;
        for (std::size_t j = 0; j < X.d; ++j) sum += w[j] * w[j];
        return sum;
    }
    double dual_square(const double *scale) const {
        double sum = 0;
        for (std::size_t j = 0; j < X.d; ++j) {
            const double one = scale[0] * v[j] + (intercept ? scale[1] * v[X.d + j] : 0.0);
            sum += one * one;
        }
        return sum;
    }
    // Σ c ℓ*(−a/c) with the classes scaled.
    double conjugates(const double *scale) const {
        double sum = 0;
        for (std::size_t i = 0; i < X.n; ++i)
            if (c[i] > 0) sum += c[i] * Loss::conjugate(-at.a[i] * scale[y[i] < 0] / c[i]);
        return sum;
    }

    // One Newton step on the inner problem; false where it leads nowhere.
    bool step() {
        std::vector<double> gradient(size), way(X.d + 1, 0.0);
        for (std::size_t j = 0; j < X.d; ++j) gradient[j] = l2 * at.point[j] - v[j] - (intercept ? v[X.d + j] : 0.0);
        if (intercept) gradient[X.d] = totals[1] - totals[0];
        for (std::size_t j = 0; j < size; ++j) way[j] = -gradient[j];
        newton(way.data());
        matvec(X, way.data(), 1, dz.data(), threads);
        for (std::size_t i = 0; i < X.n; ++i) dz[i] = y[i] * (dz[i] + way[X.d]);
        double first = 0, linear = 0;
        for (std::size_t j = 0; j < size; ++j) first += gradient[j] * way[j];
        for (std::size_t j = 0; j < X.d; ++j) linear += at.point[j] * way[j];
        const double t = sprung_line_search(c, loss, at.centre, at.z, dz.data(), X.n, *at.width, first, l2 * linear,
                                            l2 * square(way.data()), 0.1, threads);
        ++steps;
        if (t == 0) return false;
        for (std::size_t j = 0; j <= X.d; ++j) at.point[j] += t * way[j];
        for (std::size_t i = 0; i < X.n; ++i) at.z[i] += t * dz[i];
        fresh = best_is_here = false;
        return true;
    }

    // x = H⁻¹ x for the Hessian of the inner problem, to which the examples in the band contribute.
    void newton(double *x) const {
        std::vector<std::int64_t> band;
        for (std::size_t i = 0; i < X.n; ++i)
            if (at.h[i] > 0) band.push_back(static_cast<std::int64_t>(i));
        const std::size_t width = X.d + 1;
        std::vector<double> H(width * width, 0.0);
        gram(X, at.h, band.data(), band.size(), H.data(), threads);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j <= i; ++j) H[i * size + j] = H[i * width + j];
            if (i < X.d) H[i * size + i] += l2;
        }
        solve_scaled(H.data(), size, x);
    }
};

}  // namespace linsep
