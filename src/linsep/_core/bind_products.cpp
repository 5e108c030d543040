// Products of the rows with vectors and matrices, and predictions.
#include "bindings.hpp"

#include <algorithm>
#include <cstdint>

#include "products.hpp"
#include "reading.hpp"

namespace linsep {
namespace {

// Lets planes read the rows; whether all scores were finite.
template <class Rows, class End>
bool read_rows(const Rows &X, Table<const double> W, In b, const End &end, std::size_t height, std::size_t threads) {
    require(fits(W.shape(0), b) && W.shape(1) == X.d && height == X.n, mismatch);
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        outcome = read(X, Discriminants{W.data(), b.data(), W.shape(0)}, end, threads);
    }
    require(outcome != Outcome::damaged, damage);
    return outcome == Outcome::finite;
}

}  // namespace

void bind_products(nb::module_ &m) {
    def_loop(m, "matvec", {"X", "w", "out", "threads"},
             [](const auto &X, Table<const double> w, Table<double> out, std::size_t threads) {
                 require(w.shape(1) == X.d && fits(X.n, out) && out.shape(1) == w.shape(0), mismatch);
                 nb::gil_scoped_release release;
                 matvec(X, w.data(), w.shape(0), out.data(), threads);
             });
    def_loop(m, "rmatvec", {"X", "u", "out", "threads"}, [](const auto &X, In u, Out out, std::size_t threads) {
        require(fits(X.n, u) && fits(X.d, out), mismatch);
        nb::gil_scoped_release release;
        rmatvec(X, u.data(), out.data(), threads);
    });
    def_loop(m, "matmat", {"X", "W", "out", "threads"},
             [](const auto &X, Table<const double> W, Table<double> out, std::size_t threads) {
                 require(fits(X.d, W) && fits(X.n, out) && out.shape(1) == W.shape(1), mismatch);
                 nb::gil_scoped_release release;
                 matmat(X, W.data(), W.shape(1), out.data(), threads);
             });
    def_loop(m, "rmatmat", {"X", "U", "out", "threads"},
             [](const auto &X, Table<const double> U, Table<double> out, std::size_t threads) {
                 require(fits(X.n, U) && fits(X.d, out) && out.shape(1) == U.shape(1), mismatch);
                 nb::gil_scoped_release release;
                 rmatmat(X, U.data(), U.shape(1), out.data(), threads);
             });
    def_loop(m, "squared_norms", {"X", "out", "threads"}, [](const auto &X, Out out, std::size_t threads) {
        require(fits(X.n, out), mismatch);
        nb::gil_scoped_release release;
        squared_norms(X, out.data(), threads);
    });
    def_loop(m, "quadratic_forms", {"X", "G", "out", "threads"},
             [](const auto &X, Table<const double> G, Out out, std::size_t threads) {
                 require(fits(X.n, out) && fits(X.d + 1, G) && G.shape(1) == X.d + 1, mismatch);
                 nb::gil_scoped_release release;
                 quadratic_forms(X, G.data(), out.data(), threads);
             });
    def_loop(m, "scores", {"X", "W", "b", "out", "threads"},
             [](const auto &X, Table<const double> W, In b, Table<double> out, std::size_t threads) {
                 require(out.shape(1) == W.shape(0), mismatch);
                 return read_rows(X, W, b, Scores{out.data()}, out.shape(0), threads);
             });
    def_loop(m, "labels", {"X", "W", "b", "table", "out", "threads"},
             [](const auto &X, Table<const double> W, In b, Vector<const std::int64_t> table, Vector<std::int64_t> out,
                std::size_t threads) {
                 require(fits(std::max<std::size_t>(2, W.shape(0)), table), mismatch);
                 return read_rows(X, W, b, Labels{table.data(), out.data()}, out.shape(0), threads);
             });
    def_loop(m, "probabilities", {"X", "W", "b", "out", "threads"},
             [](const auto &X, Table<const double> W, In b, Table<double> out, std::size_t threads) {
                 require(out.shape(1) == std::max<std::size_t>(2, W.shape(0)), mismatch);
                 return read_rows(X, W, b, Probabilities{out.data()}, out.shape(0), threads);
             });
}

}  // namespace linsep
