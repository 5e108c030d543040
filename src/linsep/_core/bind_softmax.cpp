// Several planes: losses of their softmax, their gradient and their Hessian's products; dual ascent, also by margins.
#include "bindings.hpp"

#include <cstdint>

#include "margin_dual.hpp"
#include "softmax.hpp"
#include "softmax_dual.hpp"
#include "softmax_hessian.hpp"

namespace linsep {
namespace {

template <class Real>
void bind_product(nb::module_ &m) {
    def_loop(m, "softmax_product", {"X", "which", "P", "s", "V", "out", "threads"},
             [](const auto &X, Vector<const std::int64_t> which, Table<const double> P, In s, Table<const Real> V,
                Table<double> out, std::size_t threads) {
                 const std::size_t width = V.shape(1), K = P.shape(1), count = which.shape(0);
                 require(fits(X.n, P, s) && fits(X.d + 1, V, out) && K <= width && out.shape(1) == width &&
                             width % Side<Real>::count == 0, mismatch);
                 require_rows(which.data(), count, X.n);
                 nb::gil_scoped_release release;
                 softmax_product<Real>(X, which.data(), count, P.data(), K, s.data(), V.data(), width, out.data(), threads);
             });
}

template <class Real>
void bind_gram(nb::module_ &m) {
    def_loop(m, "softmax_gram", {"X", "which", "P", "s", "out", "threads"},
             [](const auto &X, Vector<const std::int64_t> which, Table<const double> P, In s, Table<Real> out,
                std::size_t threads) {
                 const std::size_t K = P.shape(1), count = which.shape(0), all = K * (X.d + 1);
                 require(fits(X.n, P) && fits(count, s) && fits(all, out) && out.shape(1) == all, mismatch);
                 require_rows(which.data(), count, X.n);
                 nb::gil_scoped_release release;
                 softmax_gram<Real>(X, which.data(), count, P.data(), K, s.data(), out.data(), threads);
             });
}

}  // namespace

void bind_softmax(nb::module_ &m) {
    def_loop(m, "softmax_evaluate", {"X", "codes", "weight", "W", "P", "doubt", "sums", "out", "threads"},
             [](const auto &X, Vector<const std::int64_t> codes, Optional weight, Table<const double> W,
                Table<double> P, Out doubt, Out sums, Table<double> out, std::size_t threads) {
                 const std::size_t K = P.shape(1), width = W.shape(1);
                 require(fits(X.n, codes, P, doubt) && fits(X.n, weight) && fits(X.d + 1, W, out) && fits(3, sums) &&
                             out.shape(1) == width && K <= width && width % Side<double>::count == 0, mismatch);
                 require_rows(codes.data(), X.n, K);
                 nb::gil_scoped_release release;
                 softmax_evaluate(X, codes.data(), pointer(weight), W.data(), K, width, P.data(), doubt.data(),
                                  sums.data(), out.data(), threads);
             });
    def_loop(m, "class_sums", {"X", "codes", "s", "out", "threads"},
             [](const auto &X, Vector<const std::int64_t> codes, In s, Table<double> out, std::size_t threads) {
                 require(fits(X.n, codes, s) && out.shape(1) == X.d, mismatch);
                 require_rows(codes.data(), X.n, out.shape(0));
                 nb::gil_scoped_release release;
                 class_sums(X, codes.data(), s.data(), out.shape(0), out.data(), threads);
             });
    def_loop(m, "round_rows", {"X", "out", "threads"}, [](const auto &X, Table<float> out, std::size_t threads) {
        require(fits(X.n, out) && out.shape(1) == X.d && X.stored() == X.n * X.d, mismatch);
        nb::gil_scoped_release release;
        round_rows(X, out.data(), threads);
    });
    def(m, "mixed_entropy", {"P", "codes", "s", "t_p", "t_q", "q", "t_y", "threads"},
        [](Table<const double> P, Vector<const std::int64_t> codes, In s, double t_p, double t_q, In q, double t_y,
           std::size_t threads) {
            const std::size_t n = P.shape(0), K = P.shape(1);
            require(fits(n, codes, s) && fits(K, q), mismatch);
            require_rows(codes.data(), n, K);
            nb::gil_scoped_release release;
            return mixed_entropy(P.data(), n, K, codes.data(), s.data(), t_p, t_q, q.data(), t_y, threads);
        });
    bind_product<float>(m), bind_product<double>(m);
    bind_gram<float>(m), bind_gram<double>(m);
    def_loop(m, "class_inverses", {"X", "P", "s", "lengths", "most", "offsets", "l2", "intercept", "nudge", "out", "threads"},
             [](const auto &X, Table<const double> P, In s, In lengths, double most, In offsets, double l2, bool intercept,
                double nudge, Table<float> out, std::size_t threads) {
                 const std::size_t K = P.shape(1), size = X.d + (intercept ? 1 : 0);
                 require(fits(X.n, P, s, lengths) && fits(K, offsets) && fits(K * size, out) && out.shape(1) == size &&
                             nudge > 0, mismatch);
                 nb::gil_scoped_release release;
                 class_inverses(X, P.data(), K, s.data(), lengths.data(), most, offsets.data(), l2, intercept, nudge,
                                out.data(), threads);
             });
    def_loop(m, "softmax_dual_pass", {"X", "order", "codes", "c", "squares", "constant", "logs", "W", "moved", "sums"},
             [](const auto &X, Vector<const std::int64_t> order, Vector<const std::int64_t> codes, In c, In squares,
                double constant, Table<float> logs, Table<float> W, Out moved, Out sums) {
                 const std::size_t width = W.shape(1), K = moved.shape(0);
                 require(fits(X.n, codes, c, squares, logs) && fits(X.d + 1, W) && fits(2, sums) && 0 < K && K <= width &&
                             logs.shape(1) == width && width % Side<float>::count == 0, mismatch);
                 require_rows(order.data(), order.shape(0), X.n);
                 require_rows(codes.data(), X.n, K);
                 nb::gil_scoped_release release;
                 softmax_dual_pass(X, order.data(), order.shape(0), codes.data(), c.data(), squares.data(), constant, K,
                                   width, logs.data(), W.data(), moved.data(), sums.data());
             });
    def_loop(m, "margin_dual_pass",
             {"X", "order", "codes", "c", "squares", "constant", "masses", "W", "moved", "still", "sums"},
             [](const auto &X, Vector<const std::int64_t> order, Vector<const std::int64_t> codes, In c, In squares,
                double constant, Table<double> masses, Table<double> W, Out moved, Vector<std::int64_t> still, Out sums) {
                 const std::size_t width = W.shape(1), K = moved.shape(0);
                 require(fits(X.n, codes, c, squares, masses, still) && fits(X.d + 1, W) && fits(2, sums) && 0 < K &&
                             K <= width && masses.shape(1) == K && width % Side<double>::count == 0, mismatch);
                 require_rows(order.data(), order.shape(0), X.n);
                 require_rows(codes.data(), X.n, K);
                 nb::gil_scoped_release release;
                 margin_dual_pass(X, order.data(), order.shape(0), codes.data(), c.data(), squares.data(), constant, K,
                                  width, masses.data(), W.data(), moved.data(), still.data(), sums.data());
             });
}

}  // namespace linsep
