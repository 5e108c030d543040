// The softmax of several planes: its losses, their gradient, and their Hessian's products.
#include "bindings.hpp"

#include <cstdint>

#include "softmax.hpp"

namespace linsep {
namespace {

void bind_softmax_evaluate(const Handle &X, Vector<const std::int64_t> codes, Optional weight, Table<const double> W,
                           Table<double> P, Vector<double> sums, Table<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        const std::size_t K = P.shape(1), width = W.shape(1);
        require(codes.shape(0) == rows.n && (!weight || weight->shape(0) == rows.n) && W.shape(0) == rows.d + 1 &&
                    P.shape(0) == rows.n && K <= width && width % Side<double>::count == 0 && sums.shape(0) == 3 &&
                    out.shape(0) == rows.d + 1 && out.shape(1) == width,
                "shapes do not match");
        require_rows(codes.data(), rows.n, K);
        nb::gil_scoped_release release;
        softmax_evaluate(rows, codes.data(), pointer(weight), W.data(), K, width, P.data(), sums.data(), out.data(),
                         threads);
    });
}

template <class Real>
void bind_softmax_product(const Handle &X, Vector<const std::int64_t> which, Table<const Real> P, Vector<const Real> s,
                          Table<const Real> V, Table<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        const std::size_t width = V.shape(1), count = which.shape(0);
        require(P.shape(0) == count && P.shape(1) == width && s.shape(0) == count && V.shape(0) == rows.d + 1 &&
                    width % Side<Real>::count == 0 && out.shape(0) == rows.d + 1 && out.shape(1) == width,
                "shapes do not match");
        require_rows(which.data(), count, rows.n);
        nb::gil_scoped_release release;
        softmax_product<Real>(rows, which.data(), count, P.data(), s.data(), V.data(), width, out.data(), threads);
    });
}

}  // namespace

void bind_softmax(nb::module_ &m) {
    m.def("softmax_evaluate", &bind_softmax_evaluate, "X"_a, "codes"_a.noconvert(), "weight"_a.none(),
          "W"_a.noconvert(), "P"_a.noconvert(), "sums"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    const auto product = [&](auto real) {
        m.def("softmax_product", &bind_softmax_product<decltype(real)>, "X"_a, "which"_a.noconvert(), "P"_a.noconvert(),
              "s"_a.noconvert(), "V"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    };
    product(float{}), product(double{});
}

}  // namespace linsep
