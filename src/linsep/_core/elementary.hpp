// exp and log for losses, without branches or calls: a loop over many examples becomes one over packs of them.
//
// Both are within two units in the last place (tests/core/test_objective.py); the C library's are within one, one at a time.
#pragma once
#include <cstdint>
#include <cstring>

namespace linsep {

// A polynomial, its highest coefficient first.
template <class... Double>
inline double horner(double x, double p, Double... coefficients) {
    ((p = p * x + coefficients), ...);
    return p;
}

// e^x for x ≤ 0; 0 from −708 on, where the numbers that come next have fewer digits. NaN stays NaN.
//
// With k the whole number nearest x / log 2, e^x = 2^k e^r, |r| ≤ ½ log 2: Taylor's series to r¹³. A sum with 1.5 · 2⁵²
// has no room for a fraction, so that k stands in its last bits.
inline double exp_of_negative(double x) {
    constexpr double shift = 0x1.8p52, high = 0x1.62e42fefa3800p-1, low = 0x1.ef35793c76730p-45;  // high + low = log 2
    const double limited = x < -708.0 ? -708.0 : x, sum = limited * 0x1.71547652b82fep+0 + shift, k = sum - shift;
    const double r = (limited - k * high) - k * low;
    double p = horner(r, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
                      1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5);
    p = p * r * r + r + 1.0;
    std::uint64_t bits, exponent;
    std::memcpy(&exponent, &sum, sizeof bits);
    std::memcpy(&bits, &p, sizeof bits);
    bits += exponent << 52;
    std::memcpy(&p, &bits, sizeof p);
    return x < -708.0 ? 0.0 : p;
}

// log(1 + e) for 0 ≤ e ≤ 1: twice the series of artanh(s), s = e / (2 + e) ≤ ⅓.
inline double log_of_one_and(double e) {
    const double s = e / (2.0 + e), t = s * s;
    const double p = horner(t, 1.0 / 33.0, 1.0 / 31.0, 1.0 / 29.0, 1.0 / 27.0, 1.0 / 25.0, 1.0 / 23.0, 1.0 / 21.0,
                            1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0,
                            1.0 / 3.0);
    return 2.0 * (s * t * p + s);
}

// log(1 + e) for any e ≥ 0: of 1 + e = 2^k m, 1 ≤ m < 2, where k > 0 the sum has all the digits that its log needs.
inline double log_of_one_and_more(double e) {
    const double sum = 1.0 + e;
    std::uint64_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    const std::uint64_t exponent = (bits >> 52) - 1023;
    bits -= exponent << 52;
    double m, k;
    std::memcpy(&m, &bits, sizeof m);
    bits = exponent + 0x4330000000000000;  // 2⁵² + k as a float
    std::memcpy(&k, &bits, sizeof k);
    k -= 0x1p52;
    return k * 0x1.62e42fefa39efp-1 + log_of_one_and(k > 0 ? m - 1.0 : e);
}

// -- as close as the first guess of an iteration needs to be, and sooner: short chains of products -----------------------

// e^x to eight digits for |x| ≤ 700, beyond which it stays what it is there: Taylor's series to r⁷, its halves side by side.
inline double rough_exp(double x) {
    constexpr double shift = 0x1.8p52;
    const double limited = x < -700.0 ? -700.0 : x > 700.0 ? 700.0 : x;
    const double sum = limited * 0x1.71547652b82fep+0 + shift, r = limited - (sum - shift) * 0x1.62e42fefa39efp-1;
    const double r2 = r * r, low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    const double high = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    double p = low + (r2 * r2) * high;
    std::uint64_t bits, exponent;
    std::memcpy(&exponent, &sum, sizeof bits);
    std::memcpy(&bits, &p, sizeof bits);
    bits += exponent << 52;
    std::memcpy(&p, &bits, sizeof p);
    return p;
}

// log x to within .0001 for x > 0: the exponent and, of what is left, m between √½ and √2, four powers of m − 1.
inline double rough_log(double x) {
    constexpr std::uint64_t half_root = 0x3FE6A09E667F3BCD;  // the bits of √½
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto exponent = static_cast<std::int64_t>(bits - half_root) >> 52;
    bits -= static_cast<std::uint64_t>(exponent) << 52;
    double f;
    std::memcpy(&f, &bits, sizeof f);
    f -= 1.0;
    const double p = (0.99927381 - 0.50249902 * f) + (f * f) * (0.35948028 - 0.22879209 * f);
    return static_cast<double>(exponent) * 0x1.62e42fefa39efp-1 + f * p;
}

}  // namespace linsep
