// LIBSVM text.
#include "bindings.hpp"

#include <cstdint>

#include "libsvm.hpp"

namespace linsep {
namespace {

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

}  // namespace

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

}  // namespace linsep
