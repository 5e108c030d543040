// The Python names of the kernels. The loops have twins of the same names and meanings in reference.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>

#include "compress.hpp"
#include "coordinate.hpp"
#include "dual.hpp"
#include "gram.hpp"
#include "halves.hpp"
#include "libsvm.hpp"
#include "losses.hpp"
#include "matrices.hpp"
#include "multipliers.hpp"
#include "objective.hpp"
#include "planes.hpp"
#include "products.hpp"
#include "reading.hpp"
#include "repeats.hpp"
#include "rows.hpp"
#include "springs.hpp"
#include "stochastic.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace linsep;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

// What Python holds: the view of the rows, which keeps the arrays behind it alive.
struct Handle {
    Matrix matrix;
    template <class F>
    auto visit(F f) const {
        return std::visit(f, matrix);
    }
};

template <class I>
void require_rows(const I *order, std::size_t count, std::size_t n) {
    for (std::size_t k = 0; k < count; ++k)
        require(order[k] >= 0 && static_cast<std::size_t>(order[k]) < n, "an example is named that does not exist");
}

template <class T>
Handle dense(Table<const T> X) {
    return {Dense<T>{X.data(), X.shape(0), X.shape(1)}};
}

// A view whose rows nobody has looked at: for `read`, which does.
template <class T, class I>
Csr<T, I> csr_view(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, std::size_t d) {
    require(indptr.shape(0) >= 1, "CSR indptr is empty; it needs one entry more than there are rows");
    const std::size_t n = indptr.shape(0) - 1, stored = indices.shape(0);
    const I *start = indptr.data();
    require(data.shape(0) == stored, "CSR data and indices have different lengths");
    require(start[0] == 0, "CSR indptr must begin with 0");
    require(start[n] >= 0 && static_cast<std::size_t>(start[n]) <= stored, "CSR indptr points past the end of the data");
    return {data.data(), indices.data(), start, n, d};
}

constexpr const char *damage =
    "the CSR matrix is damaged or its indices overflowed: indptr decreases, or a column index is out of range";

template <class T, class I>
Handle unread_csr(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, std::size_t d) {
    return {csr_view(data, indices, indptr, d)};
}

// Indices are trusted by every other loop, so they are all checked here, once.
template <class T, class I>
Handle csr(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, std::size_t d) {
    const auto view = csr_view(data, indices, indptr, d);
    require(view.sound(0, view.n), damage);
    return {view};
}

template <class T, class I>
void bind_csr(nb::module_ &m) {
    m.def("csr", &csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "d"_a,
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
    m.def("unread_csr", &unread_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "d"_a,
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

// Whether every row names its columns in increasing order, as most matrices do: then none is named twice. Columns fall
// from one entry to the next only where a row ends, so that it takes no more than to count.
template <class T, class I>
bool columns_increase(const Csr<T, I> &rows, std::size_t threads) {
    std::vector<std::size_t> within(threads, 0);
    parallel_for(threads, threads, [&](std::size_t part) {
        const std::size_t first = rows.n * part / threads, last = rows.n * (part + 1) / threads;
        const auto begin = static_cast<std::size_t>(rows.start[first]), end = static_cast<std::size_t>(rows.start[last]);
        std::size_t falls = 0, between = 0;
#pragma omp simd reduction(+ : falls)
        for (std::size_t k = begin + 1; k < end; ++k) falls += rows.j[k] <= rows.j[k - 1];
        for (std::size_t i = first; i < last; ++i) {
            const auto k = static_cast<std::size_t>(rows.start[i]);
            between += k > begin && rows.start[i] < rows.start[i + 1] && rows.j[k] <= rows.j[k - 1];
        }
        within[part] = falls - between;
    });
    return std::all_of(within.begin(), within.end(), [](std::size_t falls) { return falls == 0; });
}
template <class T>
bool columns_increase(const Dense<T> &, std::size_t) {
    return true;
}

// Whether some row names a column twice: its entries would have to be added before they are squared.
bool has_repeated_entries(const Handle &X, std::size_t threads) {
    return X.visit([&](const auto &rows) {
        nb::gil_scoped_release release;
        threads = useful_threads(rows.stored(), threads);
        if (columns_increase(rows, threads)) return false;
        std::vector<char> found(threads, 0);
        parallel_for(threads, threads, [&](std::size_t part) {
            std::vector<std::uint32_t> last(rows.d, 0);
            const std::size_t first = rows.n * part / threads, end = rows.n * (part + 1) / threads;
            for (std::size_t i = first; i < end && !found[part]; ++i) {
                if (rows.row(i).columns_increase()) continue;
                const auto mark = static_cast<std::uint32_t>(i - first + 1);
                bool repeated = false;
                rows.row(i).each_column([&](std::size_t j) {
                    repeated |= last[j] == mark;
                    last[j] = mark;
                });
                found[part] = repeated;
            }
        });
        return std::any_of(found.begin(), found.end(), [](char one) { return one != 0; });
    });
}

std::size_t bind_group_rows(const Handle &X, Vector<const std::int64_t> codes, Vector<std::int64_t> group,
                            Vector<std::int64_t> first, std::size_t threads) {
    return X.visit([&](const auto &rows) {
        require(codes.shape(0) == rows.n && group.shape(0) == rows.n, "shapes do not match");
        nb::gil_scoped_release release;
        return group_rows(rows, codes.data(), group.data(), first.data(), first.shape(0), threads);
    });
}

// Calls f with the loss of that name.
template <class F>
auto with_loss(const std::string &name, F f) {
    if (name == Perceptron::name) return f(Perceptron{});
    if (name == Hinge::name) return f(Hinge{});
    if (name == SquaredHinge::name) return f(SquaredHinge{});
    if (name == Logistic::name) return f(Logistic{});
    if (name == Square::name) return f(Square{});
    throw std::invalid_argument("no compiled loss is called '" + name + "'");
}

template <class F>
auto with_dual_loss(const std::string &name, F f) {
    if (name == Hinge::name) return f(Hinge{});
    if (name == SquaredHinge::name) return f(SquaredHinge{});
    if (name == Logistic::name) return f(Logistic{});
    if (name == Square::name) return f(Square{});
    throw std::invalid_argument("no compiled loss with a dual step is called '" + name + "'");
}

// Of these losses, those made of straight pieces.
template <class F>
auto with_kinked_loss(const std::string &name, F f) {
    if (name == Hinge::name) return f(Hinge{});
    throw std::invalid_argument("no compiled loss with a kink and a dual step is called '" + name + "'");
}

using Optional = std::optional<Vector<const double>>;
const double *pointer(const Optional &v) { return v ? v->data() : nullptr; }

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
                    out.shape(0) == 6 && out.shape(1) == width,
                "shapes do not match");
        with_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            measure<decltype(chosen)>(rows, y.data(), pointer(weight), W.data(), b.data(), width, total, l2, l1,
                                      G.data(), out.data());
        });
    });
}

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

std::size_t bind_dual_pass(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                           Vector<const double> q, double constant, Vector<double> b, Vector<std::int32_t> order,
                           std::size_t active,
                           std::uint64_t seed, Vector<double> alpha, Vector<double> w, Vector<double> slopes) {
    return X.visit([&](const auto &rows) {
        require(y.shape(0) == rows.n && c.shape(0) == rows.n && q.shape(0) == rows.n && alpha.shape(0) == rows.n &&
                    w.shape(0) == rows.d && b.shape(0) == 1 && active <= order.shape(0) && slopes.shape(0) == 3,
                "shapes do not match");
        require_rows(order.data(), active, rows.n);
        return with_dual_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            const Dual<decltype(chosen), std::decay_t<decltype(rows)>> dual{
                rows, y.data(), c.data(), chosen, q.data(), constant, b.data(), alpha.data(), w.data()};
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
        return with_dual_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            return dual_halves(rows, y.data(), c.data(), chosen, q.data(), constant, b.data(), order.data(),
                               order.shape(0), seed, alpha.data(), w.data(), other.data(), threads);
        });
    });
}

void bind_sprung_duals(const Handle &X, Vector<const double> y, Vector<const double> c, const std::string &loss,
                       Vector<const double> centre, Vector<const double> z, double width, bool split, Vector<double> a,
                       Vector<double> h, Vector<double> sums, std::size_t threads) {
    X.visit([&](const auto &rows) {
        require(y.shape(0) == rows.n && c.shape(0) == rows.n && centre.shape(0) == rows.n && z.shape(0) == rows.n &&
                    a.shape(0) == rows.n && h.shape(0) == rows.n && sums.shape(0) == 6 + (split ? 2 : 1) * rows.d,
                "shapes do not match");
        with_dual_loss(loss, [&](auto chosen) {
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
    return with_dual_loss(loss, [&](auto chosen) {
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
        with_kinked_loss(loss, [&](auto chosen) {
            nb::gil_scoped_release release;
            SprungNewton run(rows, y.data(), c.data(), chosen, l2, intercept, at, threads);
            ended.data()[0] = run.run({tol, target, narrower, narrowest, more, most});
            ended.data()[1] = static_cast<std::int64_t>(run.steps);
            ended.data()[2] = static_cast<std::int64_t>(run.notes);
            ended.data()[3] = run.settled();
        });
    });
}

template <class T>
void bind_count_entries(Table<const T> X, Vector<std::int64_t> start, std::size_t threads) {
    require(start.shape(0) == X.shape(0) + 1, "shapes do not match");
    nb::gil_scoped_release release;
    count_entries(Dense<T>{X.data(), X.shape(0), X.shape(1)}, start.data(), threads);
}

template <class T, class I>
void bind_compress(Table<const T> X, Vector<const I> start, Vector<T> data, Vector<I> indices, std::size_t threads) {
    require(start.shape(0) == X.shape(0) + 1 && data.shape(0) == indices.shape(0) &&
                static_cast<std::size_t>(start.data()[X.shape(0)]) == data.shape(0),
            "shapes do not match");
    nb::gil_scoped_release release;
    compress(Dense<T>{X.data(), X.shape(0), X.shape(1)}, start.data(), data.data(), indices.data(), threads);
}

template <class T>
void bind_compression(nb::module_ &m) {
    m.def("count_entries", &bind_count_entries<T>, "X"_a.noconvert(), "start"_a.noconvert(), "threads"_a);
    m.def("compress", &bind_compress<T, std::int32_t>, "X"_a.noconvert(), "start"_a.noconvert(), "data"_a.noconvert(),
          "indices"_a.noconvert(), "threads"_a);
    m.def("compress", &bind_compress<T, std::int64_t>, "X"_a.noconvert(), "start"_a.noconvert(), "data"_a.noconvert(),
          "indices"_a.noconvert(), "threads"_a);
}

template <class T, class I>
void bind_libsvm_parse(LibsvmText &text, Vector<double> labels, Vector<T> values, Vector<I> columns, Vector<I> start) {
    require(labels.shape(0) >= text.lines && start.shape(0) >= text.lines + 1 && values.shape(0) >= text.colons &&
                columns.shape(0) >= text.colons && text.n == 0,
            "not enough room, or parsed already");
    nb::gil_scoped_release release;
    text.parse(labels.data(), values.data(), columns.data(), start.data());
}

template <class T, class I>
void def_libsvm_parse(nb::class_<LibsvmText> &text) {
    text.def("parse", &bind_libsvm_parse<T, I>, "labels"_a.noconvert(), "values"_a.noconvert(), "columns"_a.noconvert(),
             "start"_a.noconvert());
}

void bind_libsvm(nb::module_ &m) {
    auto text = nb::class_<LibsvmText>(m, "LibsvmText");
    text.def(
            "__init__",
            [](LibsvmText *self, Vector<const std::uint8_t> text, std::size_t threads) {
                nb::gil_scoped_release release;
                new (self) LibsvmText(reinterpret_cast<const char *>(text.data()), text.shape(0), threads);
            },
            "text"_a.noconvert(), "threads"_a, nb::keep_alive<1, 2>())
        .def_ro("lines", &LibsvmText::lines)
        .def_ro("colons", &LibsvmText::colons)
        .def_ro("n", &LibsvmText::n)
        .def_ro("stored", &LibsvmText::stored)
        .def_ro("lowest", &LibsvmText::lowest)
        .def_ro("highest", &LibsvmText::highest)
        .def_prop_ro("fault", [](const LibsvmText &text) { return static_cast<int>(text.fault); })
        .def_ro("place", &LibsvmText::place);
    def_libsvm_parse<float, std::int32_t>(text);
    def_libsvm_parse<double, std::int32_t>(text);
    def_libsvm_parse<float, std::int64_t>(text);
    def_libsvm_parse<double, std::int64_t>(text);
}

}  // namespace

NB_MODULE(LINSEP_MODULE, m) {
    nb::class_<Handle>(m, "Handle");
    m.def("dense", &dense<float>, "X"_a.noconvert(), nb::keep_alive<0, 1>());
    m.def("dense", &dense<double>, "X"_a.noconvert(), nb::keep_alive<0, 1>());
    bind_csr<float, std::int32_t>(m);
    bind_csr<double, std::int32_t>(m);
    bind_csr<float, std::int64_t>(m);
    bind_csr<double, std::int64_t>(m);
    m.def("has_repeated_entries", &has_repeated_entries, "X"_a, "threads"_a);
    m.def("group_rows", &bind_group_rows, "X"_a, "codes"_a.noconvert(), "group"_a.noconvert(), "first"_a.noconvert(),
          "threads"_a);
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
    m.def("stochastic_steps", &bind_stochastic_steps, "X"_a, "y"_a.noconvert(), "weight"_a.none(), "order"_a.noconvert(),
          "eta"_a.noconvert(), "loss"_a, "l2"_a, "l1"_a, "intercept"_a, "W"_a.noconvert(), "b"_a.noconvert(),
          "sum_W"_a.noconvert().none(), "sum_b"_a.noconvert().none(), "counts"_a.noconvert().none(),
          "moved"_a.noconvert().none());
    m.def("measure", &bind_measure, "X"_a, "y"_a.noconvert(), "weight"_a.none(), "loss"_a, "W"_a.noconvert(),
          "b"_a.noconvert(), "total"_a, "l2"_a, "l1"_a, "G"_a.noconvert(), "out"_a.noconvert());
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
    m.def("dual_pass", &bind_dual_pass, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "q"_a.noconvert(), "constant"_a,
          "b"_a.noconvert(), "order"_a.noconvert(), "active"_a, "seed"_a, "alpha"_a.noconvert(), "w"_a.noconvert(), "slopes"_a.noconvert());
    m.def("dual_halves", &bind_dual_halves, "X"_a, "y"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "q"_a.noconvert(),
          "constant"_a, "b"_a.noconvert(), "order"_a.noconvert(), "seed"_a, "alpha"_a.noconvert(), "w"_a.noconvert(),
          "other"_a.noconvert(), "threads"_a);
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
    bind_compression<float>(m);
    bind_compression<double>(m);
    bind_libsvm(m);
    m.def("has_avx2", [] {
#if defined(__x86_64__) && defined(__GNUC__)
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
        return false;
#endif
    });
}
