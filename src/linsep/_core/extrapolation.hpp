// Anderson's extrapolation: of the points that a descent came by, the combination from which it would go on least.
#pragma once
#include <array>
#include <cstddef>

namespace linsep {

// Shares of the K points after the first, which add up to one, from the products of the K steps between all of them:
// the shortest combination of steps is that of c ∝ M⁻¹ 1. Where M is singular beyond repair they are no numbers.
template <std::size_t K>
std::array<double, K> anderson_shares(std::array<std::array<double, K>, K> M) {
    std::array<double, K> c;
    double trace = 0, total = 0;
    for (std::size_t a = 0; a < K; ++a) trace += M[a][a], c[a] = 1.0;
    for (std::size_t a = 0; a < K; ++a) M[a][a] += 1e-10 * trace;
    for (std::size_t a = 0; a < K; ++a)
        for (std::size_t r = a + 1; r < K; ++r) {
            const double factor = M[r][a] / M[a][a];
            for (std::size_t e = a; e < K; ++e) M[r][e] -= factor * M[a][e];
            c[r] -= factor * c[a];
        }
    for (std::size_t a = K; a-- > 0;) {
        for (std::size_t e = a + 1; e < K; ++e) c[a] -= M[a][e] * c[e];
        c[a] /= M[a][a], total += c[a];
    }
    for (double &share : c) share /= total;
    return c;
}

}  // namespace linsep
