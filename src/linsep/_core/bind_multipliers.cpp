// The augmented Lagrangian (method of multipliers).
#include "bindings.hpp"

#include <cstdint>
#include <string>

#include "losses.hpp"
#include "multipliers.hpp"
#include "simplex.hpp"
#include "springs.hpp"

namespace linsep {

void bind_multipliers(nb::module_ &m) {
    def_loop(m, "sprung_duals",
             {"X", "y", "c", "loss", "centre", "z", "width", "split", "a", "h", "sums", "threads"},
             [](const auto &X, In y, In c, const std::string &loss, In centre, In z, double width, bool split, Out a,
                Out h, Out sums, std::size_t threads) {
                 require(fits(X.n, y, c, centre, z, a, h) && fits(6 + (split ? 2 : 1) * X.d, sums), mismatch);
                 with_loss<Needs::dual_step>(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     sprung_duals(X, y.data(), c.data(), chosen, centre.data(), z.data(), width, split, a.data(),
                                  h.data(), sums.data(), threads);
                 });
             });
    def(m, "sprung_line_search",
        {"c", "loss", "centre", "z", "dz", "width", "first", "linear", "quadratic", "accuracy", "threads"},
        [](In c, const std::string &loss, In centre, In z, In dz, double width, double first, double linear,
           double quadratic, double accuracy, std::size_t threads) {
            const std::size_t n = c.shape(0);
            require(fits(n, centre, z, dz), mismatch);
            return with_loss<Needs::dual_step>(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                return sprung_line_search(c.data(), chosen, centre.data(), z.data(), dz.data(), n, width, first, linear,
                                          quadratic, accuracy, threads);
            });
        });
    def(m, "simplex_masses", {"G", "change", "t", "codes", "c", "centre", "width", "masses", "count", "threads"},
        [](Table<const double> G, Table<const double> change, double t, Vector<const std::int64_t> codes, In c,
           Table<const double> centre, double width, Table<double> masses, Out count, std::size_t threads) {
            const std::size_t n = G.shape(0), K = G.shape(1);
            require(fits(n, change, codes, c, centre, masses, count) && K > 0 && change.shape(1) == K &&
                        centre.shape(1) == K && masses.shape(1) == K, mismatch);
            require_rows(codes.data(), n, K);
            nb::gil_scoped_release release;
            return simplex_masses(G.data(), change.data(), t, codes.data(), c.data(), centre.data(), width, n, K,
                                  masses.data(), count.data(), threads);
        });
    def(m, "sprung_slopes", {"c", "loss", "centre", "z", "dz", "width", "t", "slopes", "threads"},
        [](In c, const std::string &loss, In centre, In z, In dz, double width, In t, Out slopes, std::size_t threads) {
            const std::size_t n = c.shape(0);
            require(fits(n, centre, z, dz) && fits(t.shape(0), slopes), mismatch);
            with_loss<Needs::dual_step>(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                sprung_slopes(c.data(), chosen, centre.data(), z.data(), dz.data(), n, width, t.data(), t.shape(0),
                              slopes.data(), threads);
            });
        });
    def_loop(m, "sprung_newton",
             {"X", "y", "c", "loss", "l2", "intercept", "tol", "target", "narrower", "narrowest", "more", "most",
              "point", "z", "a", "h", "centre", "width", "best_point", "best_alpha", "proof", "log", "ended", "threads"},
             [](const auto &X, In y, In c, const std::string &loss, double l2, bool intercept, double tol,
                double target, double narrower, double narrowest, std::size_t more, std::size_t most, Out point, Out z,
                Out a, Out h, Out centre, Out width, Out best_point, Out best_alpha, Out proof, Table<double> log,
                Vector<std::int64_t> ended, std::size_t threads) {
                 require(fits(X.n, y, c, z, a, h, centre, best_alpha) && fits(X.d + 1, point, best_point) &&
                             fits(1, width) && fits(2, proof) && fits(4, ended) && log.shape(1) == 5, mismatch);
                 const Springs at{point.data(), z.data(), a.data(), h.data(), centre.data(), width.data(),
                                  best_point.data(), best_alpha.data(), proof.data(), log.data(), log.shape(0)};
                 with_loss<Needs::dual_step_and_straight_pieces>(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     SprungNewton run(X, y.data(), c.data(), chosen, l2, intercept, at, threads);
                     ended.data()[0] = run.run({tol, target, narrower, narrowest, more, most});
                     ended.data()[1] = static_cast<std::int64_t>(run.steps);
                     ended.data()[2] = static_cast<std::int64_t>(run.notes);
                     ended.data()[3] = run.settled();
                 });
             });
}

}  // namespace linsep
