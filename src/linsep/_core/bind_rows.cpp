// Rows, dense or CSR, checked once; what is found in them before any fit.
#include "bindings.hpp"

#include <cstdint>

#include "compress.hpp"
#include "repeats.hpp"

namespace linsep {
namespace {

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
    const auto held = static_cast<std::size_t>(start[n]);  // of a negative one more than there can be
    require(held <= stored, "CSR indptr points past the end of the data");
    return {data.data(), indices.data(), start, n, d, held};
}

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

template <class T, class I>
void bind_compress(nb::module_ &m) {
    def(m, "compress", {"X", "start", "data", "indices", "threads"},
        [](Table<const T> X, Vector<const I> start, Vector<T> data, Vector<I> indices, std::size_t threads) {
            require(fits(X.shape(0) + 1, start) && fits(static_cast<std::size_t>(start.data()[X.shape(0)]), data, indices),
                    mismatch);
            nb::gil_scoped_release release;
            compress(Dense<T>{X.data(), X.shape(0), X.shape(1)}, start.data(), data.data(), indices.data(), threads);
        });
}

template <class T, class I>
void bind_turn(nb::module_ &m) {
    def(m, "turn", {"X", "start", "data", "indices", "threads"},
        [](const Handle &X, Vector<I> start, Vector<T> data, Vector<I> indices, std::size_t threads) {
            const auto *rows = std::get_if<Csr<T, I>>(&X.matrix);
            require(rows && fits(rows->d + 1, start) && fits(rows->stored(), data, indices), mismatch);
            nb::gil_scoped_release release;
            turn(*rows, start.data(), data.data(), indices.data(), threads);
        });
}

template <class T>
void bind_compression(nb::module_ &m) {
    def(m, "count_entries", {"X", "start", "threads"},
        [](Table<const T> X, Vector<std::int64_t> start, std::size_t threads) {
            require(fits(X.shape(0) + 1, start), mismatch);
            nb::gil_scoped_release release;
            count_entries(Dense<T>{X.data(), X.shape(0), X.shape(1)}, start.data(), threads);
        });
    bind_compress<T, std::int32_t>(m);
    bind_compress<T, std::int64_t>(m);
    bind_turn<T, std::int32_t>(m);
    bind_turn<T, std::int64_t>(m);
}

}  // namespace

void bind_rows(nb::module_ &m) {
    nb::class_<Handle>(m, "Handle");
    m.def("dense", &dense<float>, "X"_a.noconvert(), nb::keep_alive<0, 1>());
    m.def("dense", &dense<double>, "X"_a.noconvert(), nb::keep_alive<0, 1>());
    bind_csr<float, std::int32_t>(m);
    bind_csr<double, std::int32_t>(m);
    bind_csr<float, std::int64_t>(m);
    bind_csr<double, std::int64_t>(m);
    def_loop(m, "has_repeated_entries", {"X", "threads"}, [](const auto &X, std::size_t threads) {
        nb::gil_scoped_release release;
        return has_repeated_entries(X, threads);
    });
    def_loop(m, "group_rows", {"X", "codes", "group", "first", "threads"},
             [](const auto &X, Vector<const std::int64_t> codes, Vector<std::int64_t> group, Vector<std::int64_t> first,
                std::size_t threads) {
                 require(fits(X.n, codes, group), mismatch);
                 nb::gil_scoped_release release;
                 return group_rows(X, codes.data(), group.data(), first.data(), first.shape(0), threads);
             });
    bind_compression<float>(m);
    bind_compression<double>(m);
}

}  // namespace linsep
