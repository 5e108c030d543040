// The sum of losses, its gradient and its Hessian, and descents on a quadratic model of it.
#include "bindings.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include "column_newton.hpp"
#include "coordinate.hpp"
#include "folds.hpp"
#include "hessian.hpp"
#include "losses.hpp"
#include "mixtures.hpp"
#include "objective.hpp"

namespace linsep {

void bind_objective(nb::module_ &m) {
    def_loop(m, "evaluate", {"X", "y", "weight", "loss", "w", "b", "split", "u", "h", "sums", "threads"},
             [](const auto &X, In y, Optional weight, const std::string &loss, In w, double b, bool split, Out u,
                std::optional<Out> h, Out sums, std::size_t threads) {
                 const bool gradient = sums.shape(0) > 4;
                 require(fits(X.n, y, u) && fits(X.n, weight) && (!h || fits(X.n, *h)) && fits(X.d, w) &&
                             fits(gradient ? 4 + (split ? 2 : 1) * X.d : 4, sums), mismatch);
                 with_loss(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     evaluate<decltype(chosen)>(X, y.data(), pointer(weight), w.data(), b, split, gradient, u.data(),
                                                h ? h->data() : nullptr, sums.data(), threads);
                 });
             });
    def(m, "conjugate_sum", {"y", "weight", "loss", "u", "positive", "negative", "threads"},
        [](In y, Optional weight, const std::string &loss, In u, double positive, double negative,
           std::size_t threads) {
            const std::size_t n = y.shape(0);
            require(fits(n, u) && fits(n, weight), mismatch);
            const double scale[2] = {positive, negative};
            return with_loss(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                return conjugate_sum<decltype(chosen)>(y.data(), pointer(weight), u.data(), scale, n, threads);
            });
        });
    def(m, "mixed_values", {"Z", "weight", "loss", "shares", "out", "threads"},
        [](Table<const double> Z, Optional weight, const std::string &loss, Table<const double> shares, Out out,
           std::size_t threads) {
            const Mixture mixture{Z.data(), Z.shape(0), Z.shape(1)};
            require(fits(mixture.n, weight) && shares.shape(1) == mixture.rows && fits(shares.shape(0), out), mismatch);
            with_loss(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                mixed_values<decltype(chosen)>(mixture, pointer(weight), shares.data(), shares.shape(0), out.data(),
                                               threads);
            });
        });
    def(m, "mixed_conjugates", {"U", "weight", "loss", "shares", "safe", "low", "high", "needs", "out", "threads"},
        [](Table<const double> U, Optional weight, const std::string &loss, Table<const double> shares,
           Table<const double> safe, double low, double high, Out needs, Out out, std::size_t threads) {
            const Mixture mixture{U.data(), U.shape(0), U.shape(1)};
            const std::size_t mixtures = shares.shape(0);
            require(fits(mixture.n, weight) && shares.shape(1) == mixture.rows && safe.shape(1) == mixture.rows &&
                        fits(mixtures, safe, needs, out), mismatch);
            with_loss(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                mixed_conjugates<decltype(chosen)>(mixture, pointer(weight), shares.data(), safe.data(), mixtures, low,
                                                   high, needs.data(), out.data(), threads);
            });
        });
    def(m, "fold_losses", {"Z", "y", "weight", "loss", "held_out_of", "slope", "U", "values", "threads"},
        [](Table<const double> Z, In y, Optional weight, const std::string &loss, Vector<const std::int64_t> held_out_of,
           Table<double> slope, Table<double> U, Out values, std::size_t threads) {
            const std::size_t K = Z.shape(0), n = Z.shape(1);
            require(fits(n, y, held_out_of, U) && fits(n, weight) && fits(K, slope, values) && slope.shape(1) == n &&
                        U.shape(1) == K, mismatch);
            with_loss(loss, [&](auto chosen) {
                nb::gil_scoped_release release;
                fold_losses<decltype(chosen)>(Z.data(), y.data(), pointer(weight), held_out_of.data(), n, K,
                                              slope.data(), U.data(), values.data(), threads);
            });
        });
    def_loop(m, "hessian_product", {"X", "h", "v", "c", "out", "threads"},
             [](const auto &X, In h, In v, double c, Out out, std::size_t threads) {
                 require(fits(X.n, h) && fits(X.d, v) && fits(X.d + 1, out), mismatch);
                 nb::gil_scoped_release release;
                 hessian_product(X, h.data(), v.data(), c, out.data(), threads);
             });
    def_loop(m, "gram", {"X", "h", "rows", "out", "threads"},
             [](const auto &X, In h, Vector<const std::int64_t> which, Table<double> out, std::size_t threads) {
                 require(fits(X.n, h) && fits(X.d + 1, out) && out.shape(1) == X.d + 1, mismatch);
                 require_rows(which.data(), which.shape(0), X.n);
                 nb::gil_scoped_release release;
                 gram(X, h.data(), which.data(), which.shape(0), out.data(), threads);
             });
    def(m, "gram_descent", {"H", "l1", "accuracy", "passes", "q", "w"},
        [](Table<const double> H, double l1, double accuracy, std::size_t passes, Out q, Out w) {
            const std::size_t size = w.shape(0);
            require(fits(size, H, q) && H.shape(1) == size, mismatch);
            nb::gil_scoped_release release;
            return gram_descent(H.data(), size, l1, accuracy, passes, q.data(), w.data());
        });
    def_loop(m, "column_sums", {"A", "which", "u", "h", "y", "out", "threads"},
             [](const auto &A, Vector<const std::int64_t> which, In u, In h, Optional y, Table<double> out,
                std::size_t threads) {
                 const Some some{A, which.data(), which.shape(0)};
                 require(fits(A.d, u, h) && fits(A.d, y) && fits(4, out) && out.shape(1) == some.n, mismatch);
                 require_rows(some.which, some.n, A.n);
                 nb::gil_scoped_release release;
                 column_sums(some, u.data(), h.data(), pointer(y), out.data(), threads);
             });
    def_loop(m, "column_descent",
             {"A", "which", "h", "c", "bend", "q", "w", "l1", "l2", "accuracy", "passes", "delta", "t", "along"},
             [](const auto &A, Vector<const std::int64_t> which, In h, In c, In bend, In q, In w, double l1, double l2,
                double accuracy, std::size_t passes, Out delta, Out t, Out along) {
                 const Some some{A, which.data(), which.shape(0)};
                 require(fits(some.n, c, bend, q, w, delta) && fits(A.d, h, t) && fits(1, along), mismatch);
                 require_rows(some.which, some.n, A.n);
                 nb::gil_scoped_release release;
                 return column_descent(some, h.data(), c.data(), bend.data(), q.data(), w.data(), l1, l2, accuracy,
                                       passes, delta.data(), t.data(), along.data());
             });
    def_loop(m, "column_newton",
             {"A", "which", "y", "c", "loss", "l1", "l2", "intercept", "steps", "passes", "enough", "armijo",
              "shortest", "single", "w", "b", "scores", "manner"},
             [](const auto &A, Vector<const std::int64_t> which, In y, In c, const std::string &loss, double l1,
                double l2, bool intercept, std::size_t steps, std::size_t passes, double enough, double armijo,
                double shortest, bool single, Out w, Out b, Out scores, Out manner) {
                 const Some some{A, which.data(), which.shape(0)};
                 require(fits(some.n, w) && fits(A.d, y, c, scores) && fits(1, b) && fits(4, manner), mismatch);
                 require_rows(some.which, some.n, A.n);
                 const auto losses = with_loss(loss, [](auto of) -> LossesAt { return &losses_at<decltype(of)>; });
                 const Regularised of{y.data(), c.data(), losses, l1, l2, intercept};
                 nb::gil_scoped_release release;
                 Manner now{manner(0), manner(1), manner(2), manner(3)};
                 const auto steps_in = [&](auto real) {
                     ColumnNewton<decltype(real), std::decay_t<decltype(some)>> run(some, of, w.data(), b(0),
                                                                                    scores.data());
                     return run.run({steps, passes, enough, armijo, shortest}, now);
                 };
                 const std::size_t taken = single ? steps_in(float{}) : steps_in(double{});
                 manner(0) = now.first, manner(1) = now.share, manner(2) = now.caution, manner(3) = now.visited;
                 return taken;
             });
}

}  // namespace linsep
