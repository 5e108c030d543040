// Stochastic descent: steps of planes side by side, and what is measured of them.
#include "bindings.hpp"

#include <cstdint>
#include <string>

#include "losses.hpp"
#include "planes.hpp"
#include "stochastic.hpp"

namespace linsep {
namespace {

std::size_t bind_stochastic_steps(const Handle &X, Table<const double> y, Optional weight,
                                  Vector<const std::int64_t> order, Vector<const double> eta, const std::string &loss,
                                  double l2, double l1, bool intercept, Table<double> W, Vector<double> b,
                                  std::optional<Table<double>> sum_W, std::optional<Vector<double>> sum_b,
                                  std::optional<Table<std::int64_t>> counts, std::optional<Table<std::uint8_t>> moved) {
    return X.visit([&](const auto &rows) {
        const std::size_t steps = order.shape(0), width = W.shape(1);
        const auto fits = [&](const auto &table, std::size_t height) {
            return !table || (table->shape(0) == height && table->shape(1) == width);
        };
        require(width == 1 || (width > 0 && width % lane == 0), "one plane, or a multiple of four");
        require(y.shape(0) == rows.n && y.shape(1) == width && W.shape(0) == rows.d && b.shape(0) == width,
                "shapes do not match");
        require(eta.shape(0) == steps, "one step size a step");
        require(!weight || weight->shape(0) == rows.n, "one weight a row");
        require(sum_W.has_value() == sum_b.has_value(), "the sums of W and b go together");
        require(fits(sum_W, rows.d) && (!sum_b || sum_b->shape(0) == width) && fits(counts, rows.n) && fits(moved, steps),
                "shapes do not match");
        require_rows(order.data(), steps, rows.n);
        const Notes notes{sum_W ? sum_W->data() : nullptr, sum_b ? sum_b->data() : nullptr,
                          counts ? counts->data() : nullptr, moved ? moved->data() : nullptr};
        return with_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            return stochastic_steps<decltype(chosen)>(rows, y.data(), pointer(weight), order.data(), eta.data(), steps,
                                                      l2, l1, intercept, width, W.data(), b.data(), notes);
        });
    });
}

void bind_measure(const Handle &X, Table<const double> y, Optional weight, const std::string &loss,
                  Table<const double> W, Vector<const double> b, double total, double l2, double l1, Table<double> G,
                  Table<double> out) {
    X.visit([&](const auto &rows) {
        const std::size_t width = W.shape(1);
        require(width == 1 || (width > 0 && width % lane == 0), "one plane, or a multiple of four");
        require(y.shape(0) == rows.n && y.shape(1) == width && W.shape(0) == rows.d && b.shape(0) == width &&
                    (!weight || weight->shape(0) == rows.n) && G.shape(0) == rows.d && G.shape(1) == width &&
                    out.shape(0) == 7 && out.shape(1) == width,
                "shapes do not match");
        with_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            measure<decltype(chosen)>(rows, y.data(), pointer(weight), W.data(), b.data(), width, total, l2, l1,
                                      G.data(), out.data());
        });
    });
}

}  // namespace

void bind_stochastic(nb::module_ &m) {
    m.def("stochastic_steps", &bind_stochastic_steps, "X"_a, "y"_a.noconvert(), "weight"_a.none(), "order"_a.noconvert(),
          "eta"_a.noconvert(), "loss"_a, "l2"_a, "l1"_a, "intercept"_a, "W"_a.noconvert(), "b"_a.noconvert(),
          "sum_W"_a.noconvert().none(), "sum_b"_a.noconvert().none(), "counts"_a.noconvert().none(),
          "moved"_a.noconvert().none());
    m.def("measure", &bind_measure, "X"_a, "y"_a.noconvert(), "weight"_a.none(), "loss"_a, "W"_a.noconvert(),
          "b"_a.noconvert(), "total"_a, "l2"_a, "l1"_a, "G"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace linsep
