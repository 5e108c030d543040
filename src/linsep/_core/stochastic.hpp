// Stochastic (sub)gradient descent, one example a step: the loop of reference/stochastic.py, made fast.
//
//     w ← S( max(0, 1 − η l2) w − η sᵢ ℓ'(zᵢ) yᵢ xᵢ ),      b ← b − η sᵢ ℓ'(zᵢ) yᵢ
//
// S is the cumulative L1 penalty: every weight owes Σ η l1, pays towards zero what it has not yet paid, and goes on owing
// at zero what it could not pay. So the noise of single examples does not lift it off, and zeros are exact. Several planes
// may walk side by side, one for each class against the rest: they visit the same examples in the same order, and each
// example is read once for all of them.
//
// A step costs as much as the row has entries, although the penalty touches every weight: the iterates are kept as
// w = scale · v, so shrinking is one multiplication (of what is owed, too), and a weight pays when a row next meets it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler.hpp"
#include "planes.hpp"

namespace linsep {

// What the L1 penalty has cost so far: what every weight owes, and how far each was moved for it (d × width). Null where
// there is none.
struct Debt {
    double *owed, *paid;
};

// The iterates w = scale · v with what they still owe, and on request the sum of all iterates so far.
class LazyIterate {
   public:
    LazyIterate(Planes planes, std::size_t d, double l2, double l1, double *sum, Debt debt)
        : v_(planes), size_(d * planes.width), l2_(l2), l1_(l1), sum_(sum), debt_(debt),
          late_(sum ? size_ : 0, 0.0), delta_(planes.width) {}

    // w·x of every plane.
    template <class Row>
    LINSEP_WITHIN void dot(const Row &row, const Row &later, double *out) {
        if (l1_ > 0) row.each_column([&](std::size_t j) { pay(j); });
        v_.dot(row, later, out);
        for (std::size_t k = 0; k < v_.width; ++k) out[k] *= scale_;
    }
    // The penalty's half of a step, before the loss's half.
    LINSEP_WITHIN void shrink(double eta) {
        if (l2_ == 0) return;
        scale_ *= std::max(0.0, 1.0 - eta * l2_);
        if (scale_ < 1e-9) settle();
    }
    template <class Row>
    void add(const Row &row, const double *c) {
        for (std::size_t k = 0; k < v_.width; ++k) delta_[k] = c[k] / scale_;
        v_.add(row, delta_.data());
        if (!sum_) return;
        for (double &delta : delta_) delta *= scales_;
        Planes{late_.data(), v_.width}.add(row, delta_.data());
    }
    void threshold(double eta) {
        if (l1_ > 0) *debt_.owed += eta * l1_ / scale_;
    }
    // Counts the iterate as it now stands into the sum. Σₜ scaleₜ vₜ = (Σₜ scaleₜ) v − Σⱼ (Σ_{t<j} scaleₜ) δⱼ, where
    // δⱼ is what step j added to v: only the columns of that row change. Thresholds break the identity.
    void count() {
        if (!sum_) return;
        scales_ += scale_;
        if (l1_ > 0) settle();
    }
    // Writes the iterate as it now stands; nothing is changed by having looked.
    void write(double *out) const {
        for (std::size_t at = 0; at < size_; ++at)
            out[at] = scale_ * (l1_ > 0 ? paid_off(v_.W[at], debt_.paid[at]) : v_.W[at]);
    }
    // Makes v the iterate itself: everything owed is paid and the scale is one.
    void settle() {
        if (l1_ > 0)
            for (std::size_t j = 0; j < size_ / v_.width; ++j) pay(j);
        if (sum_) {
            for (std::size_t j = 0; j < size_; ++j) sum_[j] += scales_ * v_.W[j] - late_[j];
            std::fill(late_.begin(), late_.end(), scales_ = 0.0);
        }
        if (scale_ == 1.0) return;
        for (std::size_t j = 0; j < size_; ++j) v_.W[j] *= scale_;
        if (l1_ > 0) {
            for (std::size_t j = 0; j < size_; ++j) debt_.paid[j] *= scale_;
            *debt_.owed *= scale_;
        }
        scale_ = 1.0;
    }

   private:
    void pay(std::size_t j) {
        for (std::size_t at = j * v_.width; at < (j + 1) * v_.width; ++at) {
            const double before = v_.W[at];
            v_.W[at] = paid_off(before, debt_.paid[at]);
            debt_.paid[at] += v_.W[at] - before;
        }
    }
    double paid_off(double v, double paid) const {
        if (v > 0) return std::max(0.0, v - (*debt_.owed + paid));
        return v < 0 ? std::min(0.0, v + (*debt_.owed - paid)) : v;
    }

    Planes v_;
    std::size_t size_;
    double l2_, l1_;
    double *sum_;
    Debt debt_;
    std::vector<double> late_, delta_;
    double scale_ = 1.0, scales_ = 0.0;
};

// What a walk may be asked to note: the sums of all iterates, how often each example moved each plane (n × width), and
// which steps did (steps × width). Null where nobody asked.
struct Notes {
    double *sum_W, *sum_b;
    std::int64_t *counts;
    std::uint8_t *moved;
};

// The pocket: of the iterates that stood for so many visits, of each plane the one with the fewest mistakes (z ≤ 0), and
// of as many the lowest objective. `stood` counts visits since a plane last moved; below zero, it never has.
struct Pocket {
    std::int64_t patience, *stood;
    const double *weight;  // what the mistakes count, which is not always what the steps are multiplied by
    double total, *mistakes, *objective, *W, *b;

    // Notes which planes an example moved; returns whether one of them is to be looked at.
    LINSEP_WITHIN bool note(std::size_t width, const double *c) {
        bool due = false;
        for (std::size_t k = 0; k < width; ++k) {
            if (c[k] != 0) stood[k] = 0;
            else if (stood[k] >= 0) ++stood[k];
            due |= stood[k] == patience;
        }
        return due;
    }
    // Compares the planes that are due with those that are kept; no further than it takes to see that none is better.
    template <class Loss, class Rows>
    LINSEP_APART void look(const Rows &X, const double *y, const LazyIterate &iterate, double l2, double l1,
                           std::size_t width, const double *now_b) {
        std::vector<double> now(X.d * width), g(width), wrong(width), value(width);
        iterate.write(now.data());
        const Planes planes{now.data(), width};
        const auto lost = [&](std::size_t k) { return stood[k] != patience || wrong[k] > mistakes[k]; };
        for (std::size_t i = 0; i < X.n; ++i) {
            planes.dot(X.row(i), g.data());
            const double s = weight ? weight[i] : 1.0;
            bool going = false;
            for (std::size_t k = 0; k < width; ++k) {
                const double z = y[i * width + k] * (g[k] + now_b[k]);
                wrong[k] += z > 0 ? 0.0 : s;
                value[k] += s * Loss::value(z);
                going |= !lost(k);
            }
            if (!going) return;
        }
        for (std::size_t k = 0; k < width; ++k) {
            if (lost(k)) continue;
            double squares = 0, sizes = 0;
            for (std::size_t j = k; j < X.d * width; j += width) squares += now[j] * now[j], sizes += std::fabs(now[j]);
            value[k] = value[k] / total + 0.5 * l2 * squares + l1 * sizes;
            if (!(wrong[k] < mistakes[k] || value[k] < objective[k])) continue;
            mistakes[k] = wrong[k], objective[k] = value[k], b[k] = now_b[k];
            for (std::size_t j = k; j < X.d * width; j += width) W[j] = now[j];
        }
    }
};

// What an example makes of the planes: b moves, c is what each plane adds of the row, and what was asked for is noted.
// Returns how many planes move.
template <class Loss>
LINSEP_WITHIN std::size_t turn(std::size_t width, const double *label, const double *g, double length, bool intercept, double *b,
                        double *c, std::int64_t *counts, std::uint8_t *noted) {
    std::size_t moves = 0;
    for (std::size_t k = 0; k < width; ++k) {
        const double slope = Loss::slope(label[k] * (g[k] + b[k]));
        const bool moved = slope != 0 && label[k] != 0;
        c[k] = moved ? -length * slope * label[k] : 0.0;
        if (intercept) b[k] += c[k];
        if (counts) counts[k] += moved;
        if (noted) noted[k] = moved;
        moves += moved;
    }
    return moves;
}

template <class Loss>
LINSEP_APART std::size_t turn_all(std::size_t width, const double *label, const double *g, double length, bool intercept,
                                  double *b, double *c, std::int64_t *counts, std::uint8_t *noted) {
    return turn<Loss>(width, label, g, length, intercept, b, c, counts, noted);
}

// Takes one step for each entry of `order`, with `width` planes side by side: `y` is n × width, and a plane whose label is
// zero does not move. Returns how many moves there were, of all planes together.
template <class Loss, class Rows>
std::size_t stochastic_steps(const Rows &X, const double *y, const double *weight, const std::int64_t *order,
                             const double *eta, std::size_t steps, double l2, double l1, bool intercept,
                             std::size_t width, double *W, double *b, Debt debt, Notes notes, Pocket *pocket) {
    LazyIterate iterate({W, width}, X.d, l2, l1, notes.sum_W, debt);
    constexpr std::size_t ahead = 4;  // rows between asking for one and using it
    std::vector<double> g(width), c(width);
    std::size_t total = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        const auto i = static_cast<std::size_t>(order[step]);
        const auto row = X.row(i);
        const double *label = y + i * width, length = eta[step] * (weight ? weight[i] : 1.0);
        iterate.dot(row, X.row(static_cast<std::size_t>(order[std::min(step + ahead, steps - 1)])), g.data());
        iterate.shrink(eta[step]);
        const auto counts = notes.counts ? notes.counts + i * width : nullptr;
        const auto noted = notes.moved ? notes.moved + step * width : nullptr;
        const std::size_t moves =
            width == 1 ? turn<Loss>(1, label, g.data(), length, intercept, b, c.data(), counts, noted)
                       : turn_all<Loss>(width, label, g.data(), length, intercept, b, c.data(), counts, noted);
        if (moves > 0) iterate.add(row, c.data());
        total += moves;
        iterate.threshold(eta[step]);
        iterate.count();
        if (pocket && pocket->note(width, c.data()))
            pocket->look<Loss>(X, y, iterate, l2, l1, width, b);
        if (notes.sum_W)
            for (std::size_t k = 0; k < width; ++k) notes.sum_b[k] += b[k];
    }
    iterate.settle();
    return total;
}

}  // namespace linsep
