// Dual coordinate descent: one example a step, each to the optimum of its own dual variable.
//
// With w = Σ αᵢ yᵢ xᵢ the dual is  D(α) = −½‖w‖² − Σ cᵢ ℓ*(−αᵢ/cᵢ), where cᵢ = C sᵢ. Along one αᵢ this is a function of
// z = yᵢ (w·xᵢ + b) and q = ‖xᵢ‖² alone, and each loss knows its maximiser (`dual_step`).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "compiler.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace linsep {

// xorshift128+: the order of visits must be cheap to draw and the same everywhere.
class Random {
   public:
    explicit Random(std::uint64_t seed) : a_(seed * 0x9E3779B97F4A7C15ull + 1), b_(~a_) {}
    std::size_t below(std::size_t n) {
        std::uint64_t x = a_;
        const std::uint64_t y = b_;
        a_ = y;
        x ^= x << 23;
        b_ = x ^ y ^ (x >> 17) ^ (y >> 26);
        return static_cast<std::size_t>((static_cast<unsigned __int128>(b_ + y) * n) >> 64);
    }

   private:
    std::uint64_t a_, b_;
};

// What the steps work on. The intercept moves as the weight of a column of constants whose square is `constant`; zero
// keeps it where it is.
template <class Loss, class Rows>
struct Dual {
    const Rows &X;
    const double *y, *c;
    const double *q;
    double constant;
    double *b, *alpha, *w;

    // Never zero: the variable of an example without features goes to its bound all the same.
    double bend(std::size_t i) const { return std::max(q[i] + constant, 1e-200); }
    double agreement(std::size_t i, std::size_t later) const {
        return y[i] * (X.row(i).dot(w, X.row(later)) + *b);
    }
    // What an example will be asked for, some steps ahead: visits are in random order.
    void fetch(std::size_t i) const {
        X.fetch(i);
        for (const double *of : {y, c, q, static_cast<const double *>(alpha)}) __builtin_prefetch(of + i);
    }
    // Moves αᵢ to its own optimum; returns by how much.
    LINSEP_WITHIN double step(std::size_t i, double z) const {
        const double a = c[i] > 0 ? Loss::dual_step(alpha[i], z, bend(i), c[i]) : alpha[i];
        const double change = a - alpha[i];
        if (change != 0) {
            X.row(i).add_to(w, change * y[i]);
            *b += constant * change * y[i];
            alpha[i] = a;
        }
        return change;
    }
};

inline void shuffle(std::int32_t *order, std::size_t count, Random &random) {
    for (std::size_t k = 0; k + 1 < count; ++k) std::swap(order[k], order[k + random.below(count - k)]);
}

// The examples that moved most, as few as hold `mostly` of the sum of all squared moves, up to a factor of two in a
// single one: moves are sorted by their exponents only. None, if they are more than one in `few`.
constexpr double mostly = 0.8;
constexpr std::size_t few = 4;

inline int exponent(double positive) {
    std::uint64_t bits;
    std::memcpy(&bits, &positive, sizeof bits);
    return static_cast<int>(bits >> 52);
}

inline std::vector<std::int32_t> restless(const std::int32_t *order, const std::vector<double> &moves, double total) {
    constexpr int range = 64;
    double sums[range] = {};
    const auto place = [top = exponent(total)](double move) { return std::min(top - exponent(move), range - 1); };
    for (const double move : moves)
        if (move > 0) sums[place(move)] += move;
    int last = 0;
    for (double sum = sums[0]; sum < mostly * total && last + 1 < range;) sum += sums[++last];
    std::vector<std::int32_t> chosen;
    for (std::size_t k = 0; k < moves.size(); ++k)
        if (moves[k] > 0 && place(moves[k]) <= last) chosen.push_back(order[k]);
    if (few * chosen.size() > moves.size()) chosen.clear();
    return chosen;
}

// Sweeps over the restless until they move no more than the others did, or have cost as much as those. Few examples
// that are much alike pass their weight to and fro for long, and all others have to follow them.
template <class Problem>
void settle(const Problem &dual, std::vector<std::int32_t> &which, std::size_t visits, double enough, Random &random) {
    double moved = std::numeric_limits<double>::infinity();
    for (std::size_t used = which.size(); moved > enough && used <= visits && which.size() > 1; used += which.size()) {
        shuffle(which.data(), which.size(), random);
        moved = 0;
        for (std::size_t k = 0; k < which.size(); ++k) {
            const auto i = static_cast<std::size_t>(which[k]);
            const auto later = static_cast<std::size_t>(which[std::min(k + 2, which.size() - 1)]);
            const double change = dual.step(i, dual.agreement(i, later));
            moved += dual.bend(i) * change * change;
        }
    }
}

// c ℓ(z) + c ℓ*(−α/c) + α z, an example's share of the duality gap when it was met, before α became a.
template <class Loss>
double gap_met(const Loss &, double alpha, double, double z, double, double c) {
    return c * (Loss::value(z) + Loss::conjugate(-alpha / c)) + alpha * z;
}
// To second order, from the step it took: two logarithms an example would take as long as the rest.
inline double gap_met(const Logistic &, double alpha, double a, double, double q, double c) {
    const double h = a * (1.0 - a / c), way = (1.0 + q * h) * (a - alpha);
    return h > 0 ? 0.5 * way * way / h : 0.0;
}

// One pass over the first `active` entries of `order`, in random order, then further ones over those that moved most
// of all. Examples that have settled are moved behind the active ones; returns how many are still active. `slopes` holds
// the lowest and highest slope of the last pass (what counts as settled) and is replaced by those of this one; its third
// entry becomes an estimate of the duality gap, the sum of c ℓ(z) + c ℓ*(−α/c) + α z as the examples were met.
template <class Loss, class Rows>
std::size_t dual_pass(const Dual<Loss, Rows> &dual, std::int32_t *order, std::size_t active, std::uint64_t seed,
                      double *slopes) {
    const double *c = dual.c, *alpha = dual.alpha;
    Random random(seed);
    shuffle(order, active, random);
    const double low = slopes[0], high = slopes[1];
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest, gap = 0, total = 0;
    std::vector<double> moves(active);
    for (std::size_t k = 0; k < active;) {
        const auto i = static_cast<std::size_t>(order[k]);
        dual.fetch(static_cast<std::size_t>(order[std::min(k + 6, active - 1)]));
        const double z = dual.agreement(i, static_cast<std::size_t>(order[std::min(k + 2, active - 1)]));
        if (Loss::settled(alpha[i], z, c[i], low, high)) {
            std::swap(order[k], order[--active]);
            continue;
        }
        const double before = alpha[i], change = dual.step(i, z);
        const double slope = dual.bend(i) * change;  // the projected slope, up to sign
        if (c[i] > 0) gap += gap_met(Loss{}, before, alpha[i], z, dual.bend(i), c[i]);
        lowest = std::min(lowest, -slope), highest = std::max(highest, -slope);
        total += moves[k] = slope * change;
        ++k;
    }
    slopes[0] = lowest, slopes[1] = highest, slopes[2] = gap;
    moves.resize(active);
    if (total > 0) {
        auto which = restless(order, moves, total);
        settle(dual, which, active, (1.0 - mostly) * total, random);
    }
    return active;
}

// -- by two halves of the examples at once, for smooth losses ---------------------------------------------------------
//
// Each half works on its own copy of the weights and counts its own moves twice, as if the other half made the same
// ones: then their sum cannot overshoot, D rises at every pass (Ma et al., "Adding vs. averaging in distributed
// primal-dual optimization", 2015, with σ' = 2). The halves are drawn anew for every pass. There are always two of them,
// so the result is the same for any number of threads.

struct Half {
    double b, gap;
};

template <class Loss, class Rows>
Half dual_half(const Rows &X, const double *y, const double *c, const Loss &loss, const double *q, double constant,
               double b, const std::int32_t *order, std::size_t count, double *alpha, double *w) {
    double gap = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(order[k]), next = static_cast<std::size_t>(order[std::min(k + 2, count - 1)]);
        __builtin_prefetch(alpha + next, 1), __builtin_prefetch(q + next), __builtin_prefetch(y + next);
        const auto row = X.row(i);
        const double z = y[i] * (row.dot(w, X.row(next)) + b), bend = 2.0 * (q[i] + constant);
        if (!(bend > 0 && c[i] > 0)) continue;
        const double a = Loss::dual_step(alpha[i], z, bend, c[i]), move = 2.0 * (a - alpha[i]) * y[i];
        gap += gap_met(loss, alpha[i], a, z, bend, c[i]);
        if (move == 0) continue;
        row.add_to(w, move);
        b += constant * move;
        alpha[i] = a;
    }
    return {b, gap};
}

// A visit waits for its own step, which takes as long as so many stored numbers in a pass that steps nowhere.
constexpr std::size_t visit_in_numbers = 30;

// One pass over all entries of `order`, which it shuffles; `other` is room for another copy of the weights. Returns an
// estimate of the duality gap: the sum of the examples' shares as they were met.
template <class Loss, class Rows>
double dual_halves(const Rows &X, const double *y, const double *c, const Loss &loss, const double *q, double constant,
                   double *b, std::int32_t *order, std::size_t count, std::uint64_t seed, double *alpha, double *w,
                   double *other, std::size_t threads) {
    Random random(seed);
    shuffle(order, count, random);
    std::copy_n(w, X.d, other);
    double *own[2] = {w, other};
    Half half[2];
    threads = useful_threads(X.stored() + visit_in_numbers * count, threads);
    parallel_for(2, threads, [&](std::size_t k) {
        const std::size_t first = count * k / 2, end = count * (k + 1) / 2;
        half[k] = dual_half(X, y, c, loss, q, constant, *b, order + first, end - first, alpha, own[k]);
    });
    for (std::size_t j = 0; j < X.d; ++j) w[j] = 0.5 * (w[j] + other[j]);  // w₀ + ½ (2 move₁ + 2 move₂)
    *b = 0.5 * (half[0].b + half[1].b);
    return half[0].gap + half[1].gap;
}

}  // namespace linsep
