// What the bindings share: arrays from Python, the rows that Python holds, and the list of topics.
//
// The loops have twins of the same names, meanings and arguments in the package `reference`.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <variant>

#include "rows.hpp"

namespace linsep {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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

using Optional = std::optional<Vector<const double>>;
inline const double *pointer(const Optional &v) { return v ? v->data() : nullptr; }

constexpr const char *damage =
    "the CSR matrix is damaged or its indices overflowed: indptr decreases, or a column index is out of range";

void bind_rows(nb::module_ &m);
void bind_products(nb::module_ &m);
void bind_objective(nb::module_ &m);
void bind_stochastic(nb::module_ &m);
void bind_dual(nb::module_ &m);
void bind_multipliers(nb::module_ &m);
void bind_softmax(nb::module_ &m);
void bind_libsvm(nb::module_ &m);

}  // namespace linsep
