#include "train/update/sharded_optimizer.h"

#include <ATen/ops/scalar_tensor.h>

#include <utility>

#include "distributed/engine.h"
#include "distributed/sharding/shards.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

class ShardedOptimizer final : public Optimizer {
 public:
  ShardedOptimizer(const Shards& shards, std::unique_ptr<Optimizer> own)
      : shards_(shards), own_(std::move(own)) {
    own_->share({&shards.ranks(), true, shards.options()});
    auto bytes = at::scalar_tensor(own_->state_bytes(), shards.options().dtype(at::kLong));
    shards.ranks().all_reduce(bytes);
    bytes_ = bytes.item<std::int64_t>();
  }

  double lr() const override { return own_->lr(); }
  std::optional<double> momentum() const override { return own_->momentum(); }
  void step(const Rates& rates) override { own_->step(rates); }
  void was_refused() override { own_->was_refused(); }
  bool offload(StateStream& stream) override { return own_->offload(stream); }
  std::vector<NamedTensor> state() const override { return own_->state(); }
  void load(const std::vector<NamedTensor>& state) override { own_->load(shards_.cut(state)); }
  std::int64_t state_bytes() const override { return bytes_; }
  const std::vector<ParameterGroup>& groups() const override { return own_->groups(); }

 private:
  const Shards& shards_;
  std::unique_ptr<Optimizer> own_;
  std::int64_t bytes_ = 0;  // of all ranks
};

}  // namespace

SharedGradients shared_gradients(const Recipe& recipe, Engine& engine) {
  if (const auto* shards = engine.shards()) return {&shards->ranks(), true, shards->options()};
  const bool ordered = recipe.parallel.sums == Sums::ordered;
  const auto first = engine.model().named_parameters().front().tensor;
  return {nullptr, ordered, first.options().requires_grad(false)};
}

std::unique_ptr<Optimizer> make_sharded_optimizer(
    const Shards& shards, std::vector<ParameterGroup> groups,
    const std::function<std::unique_ptr<Optimizer>(std::vector<ParameterGroup>)>& build) {
  for (auto& group : groups)
    for (auto& [name, tensor] : group.parameters) tensor = shards.piece(name);
  return std::make_unique<ShardedOptimizer>(shards, build(std::move(groups)));
}

}  // namespace ddptrain
