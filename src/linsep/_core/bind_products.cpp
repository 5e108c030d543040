// Products of the rows with vectors and matrices, and predictions.
#include "bindings.hpp"

#include <algorithm>
#include <cstdint>

#include "matrices.hpp"
#include "products.hpp"
#include "reading.hpp"

namespace linsep {
namespace {

void bind_matvec(const Handle &X, Table<const double> w, Table<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(w.shape(1) == rows.d && out.shape(0) == rows.n && out.shape(1) == w.shape(0), "shapes do not match");
        nb::gil_scoped_release release;
        matvec(rows, w.data(), w.shape(0), out.data(), threads);
    });
}

void bind_rmatvec(const Handle &X, Vector<const double> u, Vector<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(u.shape(0) == rows.n && out.shape(0) == rows.d, "shapes do not match");
        nb::gil_scoped_release release;
        rmatvec(rows, u.data(), out.data(), threads);
    });
}

void bind_matmat(const Handle &X, Table<const double> W, Table<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(W.shape(0) == rows.d && out.shape(0) == rows.n && out.shape(1) == W.shape(1), "shapes do not match");
        nb::gil_scoped_release release;
        matmat(rows, W.data(), W.shape(1), out.data(), threads);
    });
}

void bind_rmatmat(const Handle &X, Table<const double> U, Table<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(U.shape(0) == rows.n && out.shape(0) == rows.d && out.shape(1) == U.shape(1), "shapes do not match");
        nb::gil_scoped_release release;
        rmatmat(rows, U.data(), U.shape(1), out.data(), threads);
    });
}

void bind_squared_norms(const Handle &X, Vector<double> out, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(out.shape(0) == rows.n, "shapes do not match");
        nb::gil_scoped_release release;
        squared_norms(rows, out.data(), threads);
    });
}

// Calls read(X, planes, end); whether all scores were finite.
template <class End>
bool read_rows(const Handle &X, Table<const double> W, Vector<const double> b, const End &end, std::size_t height,
               std::size_t threads) {
    return X.visit([&](const auto &rows) {
        require(W.shape(1) == rows.d && W.shape(0) == b.shape(0) && height == rows.n, "shapes do not match");
        Outcome outcome;
        {
            nb::gil_scoped_release release;
            outcome = read(rows, Discriminants{W.data(), b.data(), W.shape(0)}, end, threads);
        }
        require(outcome != Outcome::damaged, damage);
        return outcome == Outcome::finite;
    });
}

bool bind_scores(const Handle &X, Table<const double> W, Vector<const double> b, Table<double> out, std::size_t threads) {
    require(out.shape(1) == W.shape(0), "shapes do not match");
    return read_rows(X, W, b, Scores{out.data()}, out.shape(0), threads);
}

bool bind_labels(const Handle &X, Table<const double> W, Vector<const double> b, Vector<const std::int64_t> table,
                 Vector<std::int64_t> out, std::size_t threads) {
    require(table.shape(0) == std::max<std::size_t>(2, W.shape(0)), "shapes do not match");
    return read_rows(X, W, b, Labels{table.data(), out.data()}, out.shape(0), threads);
}

bool bind_probabilities(const Handle &X, Table<const double> W, Vector<const double> b, Table<double> out,
                        std::size_t threads) {
    require(out.shape(1) == std::max<std::size_t>(2, W.shape(0)), "shapes do not match");
    return read_rows(X, W, b, Probabilities{out.data()}, out.shape(0), threads);
}

}  // namespace

void bind_products(nb::module_ &m) {
    m.def("matvec", &bind_matvec, "X"_a, "w"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("rmatvec", &bind_rmatvec, "X"_a, "u"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("matmat", &bind_matmat, "X"_a, "W"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("rmatmat", &bind_rmatmat, "X"_a, "U"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("squared_norms", &bind_squared_norms, "X"_a, "out"_a.noconvert(), "threads"_a);
    m.def("scores", &bind_scores, "X"_a, "W"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("labels", &bind_labels, "X"_a, "W"_a.noconvert(), "b"_a.noconvert(), "table"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a);
    m.def("probabilities", &bind_probabilities, "X"_a, "W"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(),
          "threads"_a);
}

}  // namespace linsep
