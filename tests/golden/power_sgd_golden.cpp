// torch's powerSGD_hook on two ranks.
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "distributed/power_sgd.h"
#include "support/golden.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

using nlohmann::json;

std::vector<NamedTensor> views_of(const at::Tensor& flat, const json& shapes) {
  std::vector<NamedTensor> views;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto sizes = shapes[i].get<std::vector<std::int64_t>>();
    std::int64_t count = 1;
    for (const auto size : sizes) count *= size;
    views.push_back({std::to_string(i), flat.narrow(0, first, count).view(sizes)});
    first += count;
  }
  return views;
}

/// The directions that torch drew, as a checkpoint has them.
std::vector<NamedTensor> directions_of(const json& given) {
  std::vector<NamedTensor> state;
  for (const auto& [name, rows] : given.items()) {
    const auto size = static_cast<std::int64_t>(rows.size());
    state.push_back({name + ".q", at::tensor(golden::numbers(rows), at::kDouble).view({size, -1})});
  }
  return state;
}

PowerSgdOptions options_of(const json& input) {
  PowerSgdOptions options;
  options.rank = input.at("rank");
  options.start = 0;
  options.min_compression_rate = input.at("min_compression_rate");
  options.error_feedback = input.at("error_feedback");
  options.epsilon = input.at("epsilon");
  return options;
}

GOLDEN(power_sgd, mean) {
  test::play_all(2, [&](World& world) {
    PowerSgd power_sgd(options_of(c.input), *world.gradients, {});
    power_sgd.load(directions_of(c.input.at("directions")));
    const auto& means = c.expect.at("means");
    for (std::size_t step = 0; step < means.size(); ++step) {
      const auto& own = c.input.at("gradients").at(step).at(static_cast<std::size_t>(world.rank));
      auto flat = at::tensor(golden::numbers(own), at::kDouble);
      const auto views = views_of(flat, c.input.at("shapes"));
      const auto transfer = power_sgd.send(views, static_cast<std::int64_t>(step));
      transfer->all_reduce_q();
      transfer->finish();
      power_sgd.settle(at::ones({}, at::kBool), {});
      const auto mean = flat / 2;
      const auto* first = mean.const_data_ptr<double>();
      golden::expect_close({first, first + mean.numel()}, golden::numbers(means[step]), 1e-9, 1e-11,
                           "step " + std::to_string(step));
    }
  });
}

}  // namespace
}  // namespace ddptrain
