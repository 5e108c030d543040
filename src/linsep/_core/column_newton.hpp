// Rough proximal Newton steps on examples held by their columns: smooth losses of one plane with an L1 penalty.
//
// A step minimises  Σ (uᵢ tᵢ + ½ hᵢ tᵢ²) + l2 (w·δ + ½ ‖δ‖²) + l1 ‖w + δ‖₁,  t = Xδ + δ_b,  by coordinate descent, no
// further than pays: far from the optimum one pass over the columns, which finds slopes and curvatures on its way. Of
// many passes every few are extrapolated (Bertrand and Massias 2021, *Anderson acceleration of coordinate descent*).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "coordinate.hpp"
#include "extrapolation.hpp"
#include "objective.hpp"

namespace linsep {

// What `losses_at` is for one of the losses.
using LossesAt = void (*)(const double *, const double *, const double *, std::size_t, double *, double *, double &,
                          double &);

// What is minimised: labels, weights c = C s and losses of the examples, and the penalty.
struct Regularised {
    const double *y, *c;
    LossesAt losses;
    double l1, l2;
    bool intercept;
};

// A run ends after so many steps, or where slopes are off by a share `enough` of what they first were. Of the fall that
// a step's slope promises it must make the share `armijo`, or else half of it is tried, down to the length `shortest`.
struct Pace {
    std::size_t steps, passes;
    double enough, armijo, shortest;
};

// What the next model is like: exact to a `share` of what slopes were `first` off by (0: not known yet), to a quarter of
// that share where a single pass was enough; and with curvatures that lie `caution` times the way to a parabola above
// the loss, the further the less the steps before could be taken as they were. And how many entries of columns all
// passes have `visited`.
struct Manner {
    double first, share, caution, visited;

    void adapt(double length) {
        if (length < 1) caution = length > 0 ? std::min(1.0, std::max(0.25, 2.0 * caution)) : 1.0;
        else caution = caution < 0.5 ? 0.0 : 0.25 * caution;
    }
};

// `Real` is what models are kept in: single where looking up slopes is most of the work, double where these must be exact.
template <class Real, class Columns>
class ColumnNewton {
   public:
    ColumnNewton(const Columns &A, const Regularised &of, double *w, double &b, double *scores)
        : A(A), of(of), w(w), b(b), scores(scores), n(A.d), left(A.n), delta(A.n), bend(A.n), first(A.n), z(n), u(n),
          h(n), t(n), ahead(n), across(n), slopes(n) {
        std::iota(left.begin(), left.end(), std::size_t{0});
    }

    // Steps from w, b and the scores Xw + b, which it changes; returns how many. The last model's columns that are zero
    // and want to stay so are left out of later steps.
    std::size_t run(const Pace &pace, Manner &manner) {
        double objective = look(0.0);
        std::size_t steps = 0;
        while (steps < pace.steps && model(pace, manner)) {
            const double length = search(pace, objective);
            if (length == 0 && manner.caution == 1) break;
            if (length == 0) look(0.0);
            else ++steps;
            manner.adapt(length);
        }
        return steps;
    }

   private:
    const Columns &A;
    const Regularised &of;
    double *w, &b, *scores;
    std::size_t n;
    std::vector<std::size_t> left, moving;
    std::vector<double> delta, bend, first;  // of each column: δ, how the model bends along it, Σ h x
    std::vector<double> z, u, h, t, ahead, across;
    // The model's slope u + h t of each example, and h: side by side, because looking them up is most of the work.
    struct Slope {
        Real now, bend;
    };
    std::vector<Slope> slopes;
    double slope_b = 0, bend_b = 0;  // Σ of the slopes, and Σ h

    // Where the passes over a model have led: δ of the moving columns, t, and Σ of the slopes. Three steps between four
    // such points are extrapolated: more say little more, and come later.
    struct Stop {
        std::vector<double> delta, t;
        double slope_b = 0;
    };
    static constexpr std::size_t depth = 3;
    std::array<Stop, depth + 1> path;
    std::size_t stops = 0;

    bool centred() const { return of.intercept && bend_b > 0; }

    // P at that length of the step, where u and h are known then.
    double look(double length) {
        double value = 0, mistakes = 0;
        for (std::size_t i = 0; i < n; ++i) ahead[i] = scores[i] + length * t[i], z[i] = of.y[i] * ahead[i];
        of.losses(z.data(), of.c, of.y, n, u.data(), h.data(), value, mistakes);
        for (std::size_t j = 0; j < A.n; ++j) {
            const double at = w[j] + length * delta[j];
            value += of.l1 * std::fabs(at) + 0.5 * of.l2 * at * at;
        }
        return value;
    }

    // Takes curvatures that share of the way to those of a parabola that touches the loss at z and, if that is even but
    // for its slope, at −z.
    void widen(double share) {
        double value = 0, mistakes = 0;
        for (std::size_t i = 0; i < n; ++i) ahead[i] = -z[i];
        of.losses(ahead.data(), of.c, of.y, n, across.data(), t.data(), value, mistakes);
        for (std::size_t i = 0; i < n; ++i)
            if (const double size = std::fabs(z[i]); size > 1e-8)
                h[i] += share * std::max(0.0, std::fabs(u[i] - across[i]) / (2.0 * size) - h[i]);
    }

    // Minimises the model; false where the slopes are as they should be.
    bool model(const Pace &pace, Manner &manner) {
        if (manner.caution > 0) widen(manner.caution);
        slope_b = bend_b = 0;
        for (std::size_t i = 0; i < n; ++i) {
            slopes[i] = {static_cast<Real>(u[i]), static_cast<Real>(h[i])};
            slope_b += u[i], bend_b += h[i], t[i] = 0;
        }
        std::fill(delta.begin(), delta.end(), 0.0);
        double off = of.intercept ? std::fabs(slope_b) : 0.0;
        moving.clear();
        for (const std::size_t j : left) {
            manner.visited += static_cast<double>(A.row(j).count());
            off += first_move(j);
            if (w[j] != 0 || delta[j] != 0) moving.push_back(j);
        }
        if (manner.first == 0) manner.first = off;
        else left = moving;
        if (!(off > pace.enough * manner.first)) return false;
        std::size_t pass = 1;
        stops = 0;
        for (; off > manner.share * manner.first && pass < pace.passes; ++pass) {
            keep();
            if (stops == path.size()) extrapolate();
            off = 0;
            for (const std::size_t j : moving) {
                const auto row = A.row(j);
                manner.visited += static_cast<double>(row.count());
                off += move(j, row, slope_of(row));
            }
        }
        if (pass == 1) manner.share *= 0.25;
        return true;
    }

    // The first move along a column finds out how the model bends there; how much it changes the slope.
    double first_move(std::size_t j) {
        const auto row = A.row(j);
        double slope[2] = {0, 0}, one[2] = {0, 0}, two[2] = {0, 0};
        const auto add = [&](std::size_t k, std::size_t side) {
            const Slope at = slopes[row.column(k)];
            const double x = row.value(k), hx = at.bend * x;
            slope[side] += at.now * x, one[side] += hx, two[side] += hx * x;
        };
        std::size_t k = 0;
        for (; k + 2 <= row.count(); k += 2) add(k, 0), add(k + 1, 1);  // neither sum waits for the other
        if (k < row.count()) add(k, 0);
        const double squares = two[0] + two[1];
        first[j] = one[0] + one[1];
        bend[j] = squares - (centred() ? std::min(squares, first[j] * first[j] / bend_b) : 0.0) + of.l2;
        bend[j] += 1e-14 * squares + std::numeric_limits<double>::min();
        return move(j, row, slope[0] + slope[1]);
    }

    template <class Row>
    double slope_of(const Row &row) const {
        double slope[2] = {0, 0};
        std::size_t k = 0;
        for (; k + 2 <= row.count(); k += 2)
            for (std::size_t side = 0; side < 2; ++side)
                slope[side] += slopes[row.column(k + side)].now * row.value(k + side);
        if (k < row.count()) slope[0] += slopes[row.column(k)].now * row.value(k);
        return slope[0] + slope[1];
    }

    // Moves one weight to the model's minimum along it, the intercept always at its own.
    template <class Row>
    double move(std::size_t j, const Row &row, double slope) {
        const double now = w[j] + delta[j];
        slope += of.l2 * now - (centred() ? first[j] * slope_b / bend_b : 0.0);
        const double change = soft_step(now, slope, bend[j], of.l1) - now;
        if (change == 0) return 0.0;
        delta[j] += change, slope_b += change * first[j];
        for (std::size_t k = 0; k < row.count(); ++k) {
            const std::size_t i = row.column(k);
            const double by = change * row.value(k);
            t[i] += by, slopes[i].now += static_cast<Real>(by) * slopes[i].bend;
        }
        return std::fabs(change) * bend[j];
    }

    void keep() {
        Stop &now = path[stops++];
        now.delta.clear();
        for (const std::size_t j : moving) now.delta.push_back(delta[j]);
        now.t = t, now.slope_b = slope_b;
    }

    // Goes to where the last passes lead, all at once, if the model is lower there.
    void extrapolate() {
        std::array<std::array<double, depth>, depth> products;
        for (std::size_t a = 0; a < depth; ++a)
            for (std::size_t e = 0; e <= a; ++e) {
                double sum = 0;
                for (std::size_t k = 0; k < moving.size(); ++k)
                    sum += bend[moving[k]] * (path[a + 1].delta[k] - path[a].delta[k]) *
                           (path[e + 1].delta[k] - path[e].delta[k]);
                products[a][e] = products[e][a] = sum;
            }
        Stop &to = path[0], &last = path[depth];
        const auto shares = anderson_shares(products);
        const auto combine = [&](std::vector<double> Stop::*of) {
            auto &into = to.*of;
            for (std::size_t k = 0; k < into.size(); ++k) {
                double sum = 0;
                for (std::size_t a = 0; a < depth; ++a) sum += shares[a] * (path[a + 1].*of)[k];
                into[k] = sum;
            }
        };
        combine(&Stop::delta), combine(&Stop::t);
        to.slope_b = 0;
        for (std::size_t a = 0; a < depth; ++a) to.slope_b += shares[a] * path[a + 1].slope_b;
        stops = 1;
        if (model_at(to) < model_at(last)) go_to(to);
        else std::swap(to, last);
    }

    // The model's value there, with the intercept at its best.
    double model_at(const Stop &at) const {
        double sum = centred() ? -0.5 * at.slope_b * at.slope_b / bend_b : 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += at.t[i] * (u[i] + 0.5 * h[i] * at.t[i]);
        for (std::size_t k = 0; k < moving.size(); ++k) {
            const double now = w[moving[k]] + at.delta[k];
            sum += of.l1 * std::fabs(now) + 0.5 * of.l2 * now * now;
        }
        return sum;
    }

    void go_to(const Stop &to) {
        for (std::size_t k = 0; k < moving.size(); ++k) delta[moving[k]] = to.delta[k];
        t = to.t, slope_b = to.slope_b;
        for (std::size_t i = 0; i < n; ++i) slopes[i].now = static_cast<Real>(u[i] + h[i] * t[i]);
    }

    // Goes along the step, halving it, until P falls enough; returns how far, 0 where it never does.
    double search(const Pace &pace, double &objective) {
        const double step_b = centred() ? -slope_b / bend_b : 0.0;
        double slope = 0;
        for (std::size_t i = 0; i < n; ++i) t[i] += step_b, slope += u[i] * t[i];
        for (std::size_t j = 0; j < A.n; ++j)
            slope += of.l2 * w[j] * delta[j] + of.l1 * (std::fabs(w[j] + delta[j]) - std::fabs(w[j]));
        for (double length = 1.0; length >= pace.shortest; length *= 0.5) {
            const double there = look(length);
            if (!(there <= objective + pace.armijo * length * slope)) continue;
            for (std::size_t j = 0; j < A.n; ++j) w[j] += length * delta[j];
            std::copy(ahead.begin(), ahead.end(), scores);
            b += length * step_b, objective = there;
            return length;
        }
        return 0.0;
    }
};

}  // namespace linsep
