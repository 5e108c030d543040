// Stochastic descent: steps of planes side by side, and what is measured of them.
#include "bindings.hpp"

#include <cstdint>
#include <string>

#include "losses.hpp"
#include "planes.hpp"
#include "stochastic.hpp"

namespace linsep {
namespace {

// Whether planes W with the intercepts b, and the labels of each row for each of them, go with the rows.
template <class Rows, class Planes, class Intercepts>
void require_planes(const Rows &X, Table<const double> y, const Optional &weight, const Planes &W, const Intercepts &b) {
    const std::size_t width = W.shape(1);
    require(width == 1 || (width > 0 && width % lane == 0), "one plane, or a multiple of four");
    require(fits(X.n, y) && fits(X.d, W) && fits(width, b) && y.shape(1) == width, mismatch);
    require(fits(X.n, weight), "one weight a row");
}

}  // namespace

void bind_stochastic(nb::module_ &m) {
    def_loop(m, "stochastic_steps",
             {"X", "y", "weight", "order", "eta", "loss", "l2", "l1", "intercept", "W", "b", "sum_W", "sum_b", "counts",
              "moved", "owed", "paid", "patience", "stood", "counted",
              "kept", "kept_W"},
             [](const auto &X, Table<const double> y, Optional weight, Vector<const std::int64_t> order, In eta,
                const std::string &loss, double l2, double l1, bool intercept, Table<double> W, Out b,
                std::optional<Table<double>> sum_W, std::optional<Out> sum_b, std::optional<Table<std::int64_t>> counts,
                std::optional<Table<std::uint8_t>> moved, std::optional<Out> owed, std::optional<Table<double>> paid,
                std::int64_t patience, std::optional<Vector<std::int64_t>> stood, Optional counted,
                std::optional<Table<double>> kept, std::optional<Table<double>> kept_W) {
                 const std::size_t steps = order.shape(0), width = W.shape(1);
                 const auto noted = [&](const auto &table, std::size_t height) {
                     return !table || (table->shape(0) == height && table->shape(1) == width);
                 };
                 require_planes(X, y, weight, W, b);
                 require(fits(steps, eta), "one step size a step");
                 require(sum_W.has_value() == sum_b.has_value(), "the sums of W and b go together");
                 require(noted(sum_W, X.d) && (!sum_b || fits(width, *sum_b)) && noted(counts, X.n) &&
                             noted(moved, steps), mismatch);
                 require(l1 == 0 || (owed && paid && fits(1, *owed) && noted(paid, X.d)), "an L1 penalty keeps accounts");
                 require_rows(order.data(), steps, X.n);
                 require(fits(X.n, counted), "one weight a row");
                 require(!stood || (fits(width, *stood) && kept && noted(kept, 4) && kept_W && noted(kept_W, X.d)),
                         "a pocket has room for what it keeps");
                 double *of_kept = stood ? kept->data() : nullptr;  // mistakes, objective, b, and Σ s
                 Pocket pocket{};
                 if (stood)
                     pocket = {patience, stood->data(), pointer(counted), of_kept[3 * width], of_kept, of_kept + width,
                               kept_W->data(), of_kept + 2 * width};
                 const Debt debt{owed ? owed->data() : nullptr, paid ? paid->data() : nullptr};
                 const Notes notes{sum_W ? sum_W->data() : nullptr, sum_b ? sum_b->data() : nullptr,
                                   counts ? counts->data() : nullptr, moved ? moved->data() : nullptr};
                 return with_loss(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     return stochastic_steps<decltype(chosen)>(X, y.data(), pointer(weight), order.data(), eta.data(),
                                                               steps, l2, l1, intercept, width, W.data(), b.data(),
                                                               debt, notes, stood ? &pocket : nullptr);
                 });
             });
    def_loop(m, "measure", {"X", "y", "weight", "loss", "W", "b", "total", "l2", "l1", "G", "out"},
             [](const auto &X, Table<const double> y, Optional weight, const std::string &loss, Table<const double> W,
                In b, double total, double l2, double l1, Table<double> G, Table<double> out) {
                 const std::size_t width = W.shape(1);
                 require_planes(X, y, weight, W, b);
                 require(fits(X.d, G) && fits(8, out) && G.shape(1) == width && out.shape(1) == width, mismatch);
                 with_loss(loss, [&](auto chosen) {
                     nb::gil_scoped_release release;
                     measure<decltype(chosen)>(X, y.data(), pointer(weight), W.data(), b.data(), width, total, l2, l1,
                                               G.data(), out.data());
                 });
             });
}

}  // namespace linsep
