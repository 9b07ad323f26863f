#include "train/step/averaged_weights.h"

#include <ATen/core/grad_mode.h>

#include <exception>

#include "distributed/engine.h"
#include "optim/ema.h"
#include "train/training.h"

namespace ddptrain {

bool has_average(const Training& t) { return t.ema && t.ema->updates() > 0; }

std::string average_suffix(const Training& t) { return t.recipe.train.swa ? "_swa" : "_ema"; }

AveragedParameters::AveragedParameters(Training& t) : t_(t) {
  if (t.engine->shards())
    exchange_pieces();
  else
    swapped_.emplace(t.engine->model().named_parameters(), t.ema->parameters());
}

AveragedParameters::~AveragedParameters() noexcept(false) {
  if (!swapped_ && std::uncaught_exceptions() == 0) exchange_pieces();
}

/// Pieces lie where the engine has them, so values change places.
void AveragedParameters::exchange_pieces() {
  const at::NoGradGuard no_grad;
  const auto pieces = t_.engine->masters();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& average = t_.ema->parameters()[i].tensor;
    const auto own = pieces[i].tensor.clone();
    pieces[i].tensor.copy_(average);
    average.copy_(own);
  }
  t_.engine->parameters_changed();
}

AverageInPlace::AverageInPlace(Training& t)
    : parameters_(t), buffers_(t.engine->model().named_buffers(), t.ema->buffers()) {}

}  // namespace ddptrain
