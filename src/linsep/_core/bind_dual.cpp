// Dual coordinate descent.
#include "bindings.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include "dual.hpp"
#include "halves.hpp"
#include "losses.hpp"

namespace linsep {
namespace {

std::size_t bind_dual_pass(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                           Vector<const double> q, double constant, Vector<double> b, Vector<std::int32_t> order,
                           std::size_t active,
                           std::uint64_t seed, Vector<double> alpha, Vector<double> w, Vector<double> slopes) {
    return X.visit([&](const auto &rows) {
        require(y.shape(0) == rows.n && c.shape(0) == rows.n && q.shape(0) == rows.n && alpha.shape(0) == rows.n &&
                    w.shape(0) == rows.d && b.shape(0) == 1 && active <= order.shape(0) && slopes.shape(0) == 3,
                "shapes do not match");
        require_rows(order.data(), active, rows.n);
        return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            const Dual<decltype(chosen), std::decay_t<decltype(rows)>> dual{
                rows, y.data(), c.data(), q.data(), constant, b.data(), alpha.data(), w.data()};
            return dual_pass(dual, order.data(), active, seed, slopes.data());
        });
    });
}

double bind_dual_halves(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                        Vector<const double> q, double constant, Vector<double> b, Vector<std::int32_t> order,
                        std::uint64_t seed, Vector<double> alpha, Vector<double> w, Vector<double> other,
                        std::size_t threads) {
    return X.visit([&](const auto &rows) {
        require(y.shape(0) == rows.n && c.shape(0) == rows.n && q.shape(0) == rows.n && alpha.shape(0) == rows.n &&
                    w.shape(0) == rows.d && other.shape(0) == rows.d && b.shape(0) == 1 && order.shape(0) <= rows.n,
                "shapes do not match");
        require_rows(order.data(), order.shape(0), rows.n);
        return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            return dual_halves(rows, y.data(), c.data(), chosen, q.data(), constant, b.data(), order.data(),
                               order.shape(0), seed, alpha.data(), w.data(), other.data(), threads);
        });
    });
}

}  // namespace

void bind_dual(nb::module_ &m) {
    m.def("dual_pass", &bind_dual_pass, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "q"_a.noconvert(), "constant"_a,
          "b"_a.noconvert(), "order"_a.noconvert(), "active"_a, "seed"_a, "alpha"_a.noconvert(), "w"_a.noconvert(), "slopes"_a.noconvert());
    m.def("dual_halves", &bind_dual_halves, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "q"_a.noconvert(),
          "constant"_a, "b"_a.noconvert(), "order"_a.noconvert(), "seed"_a, "alpha"_a.noconvert(), "w"_a.noconvert(),
          "other"_a.noconvert(), "threads"_a);
}

}  // namespace linsep
