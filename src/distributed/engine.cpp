#include "distributed/engine.h"

#include "base/output/log.h"
#include "distributed/window_numbers.h"
#include "models/pass.h"
#include "recipe/mode.h"

namespace ddptrain {

void Engine::load(const std::vector<NamedTensor>& state) {
  if (!state.empty())
    log::warning(
        "the checkpoint has what compressed gradients had lost, and this run does not "
        "compress them: it is left out");
}

StepTotals Engine::totals(const at::Tensor& numbers) const { return totals_of(numbers); }

at::Tensor Engine::evaluate(const Batch& batch, Carried* carried) {
  Pass pass;
  pass.carried = carried;
  return forward(batch, pass);
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
  }
  return {};
}

}  // namespace ddptrain
