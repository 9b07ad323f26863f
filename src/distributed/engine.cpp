#include "distributed/engine.h"

#include <ATen/core/grad_mode.h>

#include <unordered_map>

#include "base/error.h"
#include "distributed/sharding/shards.h"
#include "distributed/window_numbers.h"
#include "models/pass.h"
#include "recipe/mode.h"

namespace ddptrain {

const Shards* Engine::shards() const {
  auto* parts = const_cast<Engine*>(this)->parts();
  return parts ? &parts->shards() : nullptr;
}

void Engine::follow() {
  if (auto* own = parts()) own->follow();
}

Blocks* Engine::continuation_blocks() {
  auto* own = parts();
  return own ? own->continuation_blocks() : nullptr;
}

void Engine::join_continuation() {
  if (auto* own = parts()) own->join_continuation();
}

std::vector<NamedTensor> Engine::masters() {
  return shards() ? shards()->pieces() : model().named_parameters();
}

StepTotals Engine::totals(const at::Tensor& numbers) const { return totals_of(numbers); }

void Engine::assign(const std::vector<NamedTensor>& values) {
  const at::NoGradGuard no_grad;
  std::unordered_map<std::string, at::Tensor> state;
  for (const auto& named : model().state()) state.emplace(named.name, named.tensor);
  for (const auto& named : values)
    if (!parts() || !parts()->assign(named)) state.at(named.name).copy_(named.tensor);
}

at::Tensor Engine::whole(const std::string& name) {
  if (auto* own = parts())
    if (const auto found = own->whole(name); found.defined()) return found;
  for (const auto& named : model().state())
    if (named.name == name) return named.tensor.detach();
  DDP_CHECK(false, "the model has the tensor that is asked for");
  return {};
}

at::Tensor Engine::evaluate(const Batch& batch, Carried* carried) {
  Pass pass;
  pass.carried = carried;
  return forward(batch, pass);
}

std::int64_t Engine::held_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& named : model().named_parameters())
    bytes += static_cast<std::int64_t>(named.tensor.nbytes());
  return bytes;
}

std::unique_ptr<Engine> make_engine(Mode mode, const ModelFactory& factory,
                                    const EngineOptions& options, World& world) {
  switch (mode) {
    case Mode::none:
      return make_single_engine(factory, options);
    case Mode::dp:
      return make_dp_engine(factory, options);
    case Mode::ddp:
      return make_ddp_engine(factory, options, world);
    case Mode::zero1:
      return make_zero1_engine(factory, options, world);
    case Mode::zero2:
      return make_zero2_engine(factory, options, world);
    case Mode::fsdp:
      return make_fsdp_engine(factory, options, world);
    case Mode::automatic:
      break;
  }
  DDP_CHECK(mode != Mode::automatic, "a mode is chosen before its engine is made");
  return {};
}

}  // namespace ddptrain
