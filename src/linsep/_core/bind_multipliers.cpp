// The augmented Lagrangian (method of multipliers).
#include "bindings.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "losses.hpp"
#include "multipliers.hpp"
#include "springs.hpp"

namespace linsep {
namespace {

void bind_sprung_duals(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                       Vector<const double> centre, Vector<const double> z, double width, bool split, Vector<double> a,
                       Vector<double> h, Vector<double> sums, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(y.shape(0) == rows.n && c.shape(0) == rows.n && centre.shape(0) == rows.n && z.shape(0) == rows.n &&
                    a.shape(0) == rows.n && h.shape(0) == rows.n && sums.shape(0) == 6 + (split ? 2 : 1) * rows.d,
                "shapes do not match");
        with_loss<Needs::dual_step>(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            sprung_duals(rows, y.data(), c.data(), chosen, centre.data(), z.data(), width, split, a.data(), h.data(),
                         sums.data(), threads);
        });
    });
}

double bind_sprung_line_search(Vector<const double> c, const std::string &loss, Vector<const double> centre,
                               Vector<const double> z, Vector<const double> dz, double width, double first,
                               double linear, double quadratic, double accuracy, std::size_t threads) {
    const std::size_t n = c.shape(0);
    require(centre.shape(0) == n && z.shape(0) == n && dz.shape(0) == n, "shapes do not match");
    return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
        nb::gil_scoped_release release;
        return sprung_line_search(c.data(), chosen, centre.data(), z.data(), dz.data(), n, width, first, linear,
                                  quadratic, accuracy, threads);
    });
}

void bind_sprung_newton(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                        double l2, bool intercept, double tol, double target, double narrower, double narrowest,
                        std::size_t more, std::size_t most, Vector<double> point, Vector<double> z, Vector<double> a,
                        Vector<double> h, Vector<double> centre, Vector<double> width, Vector<double> best_point,
                        Vector<double> best_alpha, Vector<double> proof, Table<double> log, Vector<std::int64_t> ended,
                        std::size_t threads) {
    X.visit([&](const auto &rows) {
        const auto each = {y.shape(0), c.shape(0), z.shape(0), a.shape(0), h.shape(0), centre.shape(0), best_alpha.shape(0)};
        require(std::all_of(each.begin(), each.end(), [&](std::size_t length) { return length == rows.n; }) &&
                    point.shape(0) == rows.d + 1 && best_point.shape(0) == rows.d + 1 && width.shape(0) == 1 &&
                    proof.shape(0) == 2 && log.shape(1) == 5 && ended.shape(0) == 4,
                "shapes do not match");
        const Springs at{point.data(), z.data(), a.data(), h.data(), centre.data(), width.data(), best_point.data(),
                         best_alpha.data(), proof.data(), log.data(), log.shape(0)};
        with_loss<Needs::dual_step_and_straight_pieces>(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            SprungNewton run(rows, y.data(), c.data(), chosen, l2, intercept, at, threads);
            ended.data()[0] = run.run({tol, target, narrower, narrowest, more, most});
            ended.data()[1] = static_cast<std::int64_t>(run.steps);
            ended.data()[2] = static_cast<std::int64_t>(run.notes);
            ended.data()[3] = run.settled();
        });
    });
}

}  // namespace

void bind_multipliers(nb::module_ &m) {
    m.def("sprung_duals", &bind_sprung_duals, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a,
          "centre"_a.noconvert(), "z"_a.noconvert(), "width"_a, "split"_a, "a"_a.noconvert(), "h"_a.noconvert(),
          "sums"_a.noconvert(), "threads"_a);
    m.def("sprung_line_search", &bind_sprung_line_search, "c"_a.noconvert(), "loss"_a, "centre"_a.noconvert(),
          "z"_a.noconvert(), "dz"_a.noconvert(), "width"_a, "first"_a, "linear"_a, "quadratic"_a, "accuracy"_a, "threads"_a);
    m.def("sprung_newton", &bind_sprung_newton, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "l2"_a,
          "intercept"_a, "tol"_a, "target"_a, "narrower"_a, "narrowest"_a, "more"_a, "most"_a, "point"_a.noconvert(),
          "z"_a.noconvert(), "a"_a.noconvert(), "h"_a.noconvert(), "centre"_a.noconvert(), "width"_a.noconvert(),
          "best_point"_a.noconvert(), "best_alpha"_a.noconvert(), "proof"_a.noconvert(), "log"_a.noconvert(),
          "ended"_a.noconvert(), "threads"_a);
}

}  // namespace linsep
