// A Cholesky factor of a small matrix, and what it solves.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace linsep {

// A = L Lᵀ in the lower triangle of A, whose rows have length m; false where A is not positive definite.
inline bool cholesky(double *A, std::size_t m) {
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = 0;
            const double *left = A + i * m, *right = A + j * m;
#pragma omp simd reduction(+ : sum)
            for (std::size_t k = 0; k < j; ++k) sum += left[k] * right[k];
            const double rest = A[i * m + j] - sum;
            if (j < i) A[i * m + j] = rest * A[j * m + j];  // the diagonal holds reciprocals
            else if (rest > 0) A[i * m + i] = 1.0 / std::sqrt(rest);
            else return false;
        }
    return true;
}

// x = (L Lᵀ)⁻¹ x, for what `cholesky` has left.
inline void cholesky_solve(const double *L, std::size_t m, double *x) {
    for (std::size_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < i; ++k) sum += L[i * m + k] * x[k];
        x[i] = (x[i] - sum) * L[i * m + i];
    }
    for (std::size_t i = m; i-- > 0;) {
        x[i] *= L[i * m + i];
        for (std::size_t k = 0; k < i; ++k) x[k] -= L[i * m + k] * x[i];
    }
}

// x = A⁻¹ x for A of which the lower triangle is filled. Its columns are brought to one scale first, and its diagonal
// is nudged as little as makes a factor possible; a column in which nothing bends counts as one that bends by one.
inline void solve_scaled(const double *A, std::size_t m, double *x) {
    std::vector<double> scale(m), L(m * m);
    for (std::size_t j = 0; j < m; ++j) scale[j] = A[j * m + j] > 0 ? 1.0 / std::sqrt(A[j * m + j]) : 1.0;
    double nudge = 1e-10;
    do {
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < i; ++j) L[i * m + j] = A[i * m + j] * scale[i] * scale[j];
            L[i * m + i] = 1.0 + nudge;
        }
        nudge *= 100;
    } while (!cholesky(L.data(), m) && nudge < 1e10);
    for (std::size_t j = 0; j < m; ++j) x[j] *= scale[j];
    cholesky_solve(L.data(), m, x);
    for (std::size_t j = 0; j < m; ++j) x[j] *= scale[j];
}

}  // namespace linsep
