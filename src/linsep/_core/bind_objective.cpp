// The sum of losses, its gradient and its Hessian, and descents on a quadratic model of it.
#include "bindings.hpp"

#include <cstdint>
#include <string>

#include "coordinate.hpp"
#include "hessian.hpp"
#include "losses.hpp"
#include "objective.hpp"

namespace linsep {
namespace {

void bind_evaluate(const Handle &X, Vector<const double> y, Optional weight, const std::string &loss,
                   Vector<const double> w, double b, bool split, Vector<double> u, std::optional<Vector<double>> h,
                   Vector<double> sums, std::size_t threads) {
    X.visit([&](const auto &rows) {
        const bool gradient = sums.shape(0) > 4;
        require(y.shape(0) == rows.n && w.shape(0) == rows.d && u.shape(0) == rows.n && (!h || h->shape(0) == rows.n) &&
                    (!gradient || sums.shape(0) == 4 + (split ? 2 : 1) * rows.d) && sums.shape(0) >= 4 && (!weight || weight->shape(0) == rows.n),
                "shapes do not match");
        with_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            evaluate<decltype(chosen)>(rows, y.data(), pointer(weight), w.data(), b, split, gradient, u.data(),
                     h ? h->data() : nullptr, sums.data(), threads);
        });
    });
}

double bind_conjugate_sum(Vector<const double> y, Optional weight, const std::string &loss,
                          Vector<const double> u, double positive, double negative, std::size_t threads) {
    require(u.shape(0) == y.shape(0) && (!weight || weight->shape(0) == y.shape(0)), "shapes do not match");
    const double scale[2] = {positive, negative};
    return with_loss(loss, [&](auto chosen) {
        nb::gil_scoped_release release;
        return conjugate_sum<decltype(chosen)>(y.data(), pointer(weight), u.data(), scale, y.shape(0), threads);
    });
}

void bind_hessian_product(const Handle &X, Vector<const double> h, Vector<const double> v, double c, Vector<double> out,
                          std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(h.shape(0) == rows.n && v.shape(0) == rows.d && out.shape(0) == rows.d + 1, "shapes do not match");
        nb::gil_scoped_release release;
        hessian_product(rows, h.data(), v.data(), c, out.data(), threads);
    });
}

void bind_gram(const Handle &X, Vector<const double> h, Vector<const std::int64_t> which, Table<double> out,
               std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(h.shape(0) == rows.n && out.shape(0) == rows.d + 1 && out.shape(1) == rows.d + 1, "shapes do not match");
        require_rows(which.data(), which.shape(0), rows.n);
        nb::gil_scoped_release release;
        gram(rows, h.data(), which.data(), which.shape(0), out.data(), threads);
    });
}

double bind_gram_descent(Table<const double> H, double l1, double accuracy, std::size_t passes, Vector<double> q,
                         Vector<double> w) {
    const std::size_t m = w.shape(0);
    require(H.shape(0) == m && H.shape(1) == m && q.shape(0) == m, "shapes do not match");
    nb::gil_scoped_release release;
    return gram_descent(H.data(), m, l1, accuracy, passes, q.data(), w.data());
}

double bind_column_descent(const Handle &A, Vector<const double> c, Vector<const double> bend, Vector<const double> q,
                           Vector<const double> w, double l1, double l2, double accuracy, std::size_t passes,
                           Vector<double> delta, Vector<double> t, Vector<double> along) {
    return A.visit([&](const auto &rows) {
        const std::size_t m = rows.n;
        require(c.shape(0) == m && bend.shape(0) == m && q.shape(0) == m && w.shape(0) == m && delta.shape(0) == m &&
                    t.shape(0) == rows.d && along.shape(0) == 1,
                "shapes do not match");
        nb::gil_scoped_release release;
        return column_descent(rows, c.data(), bend.data(), q.data(), w.data(), l1, l2, accuracy, passes, delta.data(),
                              t.data(), along.data());
    });
}

}  // namespace

void bind_objective(nb::module_ &m) {
    m.def("evaluate", &bind_evaluate, "X"_a, "y"_a.noconvert(), "weight"_a.none(), "loss"_a,
          "w"_a.noconvert(), "b"_a, "split"_a, "u"_a.noconvert(), "h"_a.none(), "sums"_a.noconvert(), "threads"_a);
    m.def("conjugate_sum", &bind_conjugate_sum, "y"_a.noconvert(), "weight"_a.none(), "loss"_a,
          "u"_a.noconvert(), "positive"_a, "negative"_a, "threads"_a);
    m.def("hessian_product", &bind_hessian_product, "X"_a, "h"_a.noconvert(), "v"_a.noconvert(), "c"_a,
          "out"_a.noconvert(), "threads"_a);
    m.def("gram", &bind_gram, "X"_a, "h"_a.noconvert(), "rows"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("gram_descent", &bind_gram_descent, "H"_a.noconvert(), "l1"_a, "accuracy"_a, "passes"_a, "q"_a.noconvert(),
          "w"_a.noconvert());
    m.def("column_descent", &bind_column_descent, "A"_a, "c"_a.noconvert(), "bend"_a.noconvert(), "q"_a.noconvert(),
          "w"_a.noconvert(), "l1"_a, "l2"_a, "accuracy"_a, "passes"_a, "delta"_a.noconvert(), "t"_a.noconvert(),
          "along"_a.noconvert());
}

}  // namespace linsep
