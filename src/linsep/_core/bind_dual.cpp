// Dual coordinate descent.
#include "bindings.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include "dual.hpp"
#include "losses.hpp"

namespace linsep {

void bind_dual(nb::module_ &m) {
    def_loop(m, "dual_pass",
             {"X", "y", "c", "loss", "q", "constant", "b", "order", "active", "seed", "alpha", "w", "slopes"},
             [](const auto &X, In y, In c, const std::string &loss, In q, double constant, Out b,
                Vector<std::int32_t> order, std::size_t active, std::uint64_t seed, Out alpha, Out w, Out slopes) {
                 require(fits(X.n, y, c, q, alpha) && fits(X.d, w) && fits(1, b) && fits(3, slopes) &&
                             active <= order.shape(0), mismatch);
                 require_rows(order.data(), active, X.n);
                 return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     const Dual<decltype(chosen), std::decay_t<decltype(X)>> dual{
                         X, y.data(), c.data(), q.data(), constant, b.data(), alpha.data(), w.data()};
                     return dual_pass(dual, order.data(), active, seed, slopes.data());
                 });
             });
    def_loop(m, "dual_halves",
             {"X", "y", "c", "loss", "q", "constant", "b", "order", "seed", "alpha", "w", "other", "threads"},
             [](const auto &X, In y, In c, const std::string &loss, In q, double constant, Out b,
                Vector<std::int32_t> order, std::uint64_t seed, Out alpha, Out w, Out other, std::size_t threads) {
                 require(fits(X.n, y, c, q, alpha) && fits(X.d, w, other) && fits(1, b) && order.shape(0) <= X.n,
                         mismatch);
                 require_rows(order.data(), order.shape(0), X.n);
                 return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     return dual_halves(X, y.data(), c.data(), chosen, q.data(), constant, b.data(), order.data(),
                                        order.shape(0), seed, alpha.data(), w.data(), other.data(), threads);
                 });
             });
}

}  // namespace linsep
