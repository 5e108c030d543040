// The Python module: the topics, one bind_*.cpp each, and what both sides of the compiler know.
#include "bindings.hpp"
#include "dual.hpp"
#include "hessian.hpp"
#include "losses.hpp"
#include "parallel.hpp"
#include "products.hpp"
#include "springs.hpp"

namespace linsep {
namespace {

bool has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

// The names of the losses that offer what some loops need.
template <class... Loss>
nb::tuple names(Needs needs, LossTable<Loss...>) {
    nb::list found;
    ((offers<Loss>(needs) ? found.append(Loss::name) : void()), ...);
    return nb::tuple(found);
}

void bind_constants(nb::module_ &m) {
    m.attr("PACK") = lane;
    m.attr("NARROW") = narrow_columns;
    m.attr("WORTH_A_THREAD") = worth_a_thread;
    m.attr("IN_ONE_PIECE") = in_one_piece;
    m.attr("VISIT_IN_NUMBERS") = visit_in_numbers;
    m.attr("ENDS") = nb::make_tuple(ends[proven], ends[tired], ends[stuck], ends[full]);
    m.attr("LOSSES") = names(Needs::nothing, Losses{});
    m.attr("DUAL_LOSSES") = names(Needs::dual_step, Losses{});
}

}  // namespace
}  // namespace linsep

NB_MODULE(LINSEP_MODULE, m) {
    using namespace linsep;
    bind_constants(m);
    bind_rows(m);
    bind_products(m);
    bind_objective(m);
    bind_stochastic(m);
    bind_dual(m);
    bind_multipliers(m);
    bind_softmax(m);
    bind_libsvm(m);
    m.def("has_avx2", &has_avx2);
}
