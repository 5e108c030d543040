// Stochastic (sub)gradient descent, one example a step: the loop of reference.py, made fast.
//
//     w ← S_{η l1}( max(0, 1 − η l2) w − η sᵢ ℓ'(zᵢ) yᵢ xᵢ ),      b ← b − η sᵢ ℓ'(zᵢ) yᵢ
//
// S_t is soft-thresholding by t. A step costs as much as the row has entries, although the penalty touches every
// weight: the iterate is kept as w = scale · v, so shrinking is one multiplication, and soft-thresholds of v that
// follow each other add up, so a weight takes its share only when a row next meets it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linsep {

inline double soft_threshold(double v, double t) { return std::copysign(std::max(std::fabs(v) - t, 0.0), v); }

// The iterate w = scale · v with the thresholds it still owes, and on request the sum of all iterates so far.
class LazyIterate {
   public:
    LazyIterate(double *w, std::size_t d, double l2, double l1, double *sum)
        : v_(w), d_(d), l2_(l2), l1_(l1), sum_(sum), paid_(l1 > 0 ? d : 0, 0.0), late_(sum ? d : 0, 0.0) {}

    // w·x; `later` is a row that will be asked for soon.
    template <class Row>
    double dot(const Row &row, const Row &later) {
        if (l1_ > 0) row.each_column([&](std::size_t j) { pay(j); });
        return scale_ * row.dot(v_, later);
    }
    // The penalty's half of a step, before the loss's half.
    void shrink(double eta) {
        if (l2_ == 0) return;
        scale_ *= std::max(0.0, 1.0 - eta * l2_);
        if (scale_ < 1e-9) settle();
    }
    template <class Row>
    void add(const Row &row, double c) {
        const double delta = c / scale_;
        row.add_to(v_, delta);
        if (sum_) row.add_to(late_.data(), delta * scales_);
    }
    void threshold(double eta) {
        if (l1_ > 0) owed_ += eta * l1_ / scale_;
    }
    // Counts the iterate as it now stands into the sum. Σₜ scaleₜ vₜ = (Σₜ scaleₜ) v − Σⱼ (Σ_{t<j} scaleₜ) δⱼ, where
    // δⱼ is what step j added to v: only the columns of that row change. Thresholds break the identity.
    void count() {
        if (!sum_) return;
        scales_ += scale_;
        if (l1_ > 0) settle();
    }
    // Makes v the iterate itself: everything owed is paid and the scale is one.
    void settle() {
        if (l1_ > 0) {
            for (std::size_t j = 0; j < d_; ++j) pay(j);
            std::fill(paid_.begin(), paid_.end(), owed_ = 0.0);
        }
        if (sum_) {
            for (std::size_t j = 0; j < d_; ++j) sum_[j] += scales_ * v_[j] - late_[j];
            std::fill(late_.begin(), late_.end(), scales_ = 0.0);
        }
        if (scale_ == 1.0) return;
        for (std::size_t j = 0; j < d_; ++j) v_[j] *= scale_;
        scale_ = 1.0;
    }

   private:
    void pay(std::size_t j) {
        v_[j] = soft_threshold(v_[j], owed_ - paid_[j]);
        paid_[j] = owed_;
    }

    double *v_;
    std::size_t d_;
    double l2_, l1_;
    double *sum_;
    std::vector<double> paid_;  // the part of owed_ that each weight has had
    std::vector<double> late_;
    double scale_ = 1.0, owed_ = 0.0, scales_ = 0.0;
};

// Takes one step for each entry of `order`. Writes to `updates` the positions in `order` whose loss had a slope,
// and returns how many there were. `sum_w` may be null: no average is wanted.
template <class Loss, class Rows>
std::size_t stochastic_steps(const Rows &X, const double *y, const double *weight, const std::int64_t *order,
                             const double *eta, std::size_t steps, double l2, double l1, bool intercept, double *w,
                             double *b, double *sum_w, double *sum_b, std::int64_t *updates) {
    LazyIterate iterate(w, X.d, l2, l1, sum_w);
    constexpr std::size_t ahead = 2;  // rows between asking for one and using it
    std::size_t count = 0;
    for (std::size_t k = 0; k < steps; ++k) {
        const auto i = static_cast<std::size_t>(order[k]);
        const auto row = X.row(i);
        const auto later = X.row(static_cast<std::size_t>(order[std::min(k + ahead, steps - 1)]));
        const double slope = Loss::slope(y[i] * (iterate.dot(row, later) + *b));
        iterate.shrink(eta[k]);
        if (slope != 0) {
            const double c = -eta[k] * (weight ? weight[i] : 1.0) * slope * y[i];
            iterate.add(row, c);
            if (intercept) *b += c;
            updates[count++] = static_cast<std::int64_t>(k);
        }
        iterate.threshold(eta[k]);
        iterate.count();
        if (sum_w) *sum_b += *b;
    }
    iterate.settle();
    return count;
}

}  // namespace linsep
