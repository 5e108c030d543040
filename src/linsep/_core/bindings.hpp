// What the bindings share: arrays from Python, the rows that Python holds, and the list of topics.
//
// The loops have twins of the same names, meanings and arguments in the package `reference`.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "rows.hpp"

namespace linsep {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using In = Vector<const double>;
using Out = Vector<double>;
using Optional = std::optional<In>;
inline const double *pointer(const Optional &v) { return v ? v->data() : nullptr; }

inline void require(bool holds, const char *message) {
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

// Whether vectors are all of one length.
template <class... V>
bool fits(std::size_t length, const V &...vectors) {
    return ((vectors.shape(0) == length) && ...);
}
inline bool fits(std::size_t length, const Optional &vector) { return !vector || vector->shape(0) == length; }
constexpr const char *mismatch = "shapes do not match";

constexpr const char *damage =
    "the CSR matrix is damaged or its indices overflowed: indptr decreases, or a column index is out of range";

template <class T>
struct IsArray : std::false_type {};
template <class... T>
struct IsArray<nb::ndarray<T...>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// A parameter by its name. Arrays are taken as they are: what is written into a converted copy would be lost.
template <class T>
auto parameter(const char *name) {
    if constexpr (std::is_same_v<T, Optional>) return nb::arg(name).none();
    else if constexpr (IsOptional<T>::value) return nb::arg(name).noconvert().none();
    else if constexpr (IsArray<T>::value) return nb::arg(name).noconvert();
    else return nb::arg(name);
}

using Names = std::initializer_list<const char *>;

template <class... T, class F, std::size_t... k>
void define(nb::module_ &m, const char *name, Names names, F f, std::index_sequence<k...>) {
    m.def(name, f, parameter<T>(names.begin()[k])...);
}

// Defines a function, given as a lambda, by its name and those of its parameters.
template <class F, class R, class... T>
void def(nb::module_ &m, const char *name, Names names, F f, R (F::*)(T...) const) {
    define<T...>(m, name, names, f, std::index_sequence_for<T...>{});
}
template <class F>
void def(nb::module_ &m, const char *name, Names names, F f) {
    def(m, name, names, f, &F::operator());
}

// The same for a lambda whose first parameter are rows of any kind.
template <class F, class R, class... T>
void def_loop(nb::module_ &m, const char *name, Names names, F f, R (F::*)(const Dense<double> &, T...) const) {
    def(m, name, names, [f](const Handle &X, T... of) -> R {
        return X.visit([&](const auto &rows) -> R { return f(rows, std::forward<T>(of)...); });
    });
}
template <class F>
void def_loop(nb::module_ &m, const char *name, Names names, F f) {
    def_loop(m, name, names, f, &F::template operator()<Dense<double>>);
}

void bind_rows(nb::module_ &m);
void bind_products(nb::module_ &m);
void bind_objective(nb::module_ &m);
void bind_stochastic(nb::module_ &m);
void bind_dual(nb::module_ &m);
void bind_multipliers(nb::module_ &m);
void bind_softmax(nb::module_ &m);
void bind_libsvm(nb::module_ &m);

}  // namespace linsep
