#include "train/step/averaged_weights.h"

#include "distributed/engine.h"
#include "optim/ema.h"
#include "train/training.h"

namespace ddptrain {

bool has_average(const Training& t) { return t.ema && t.ema->updates() > 0; }

std::string average_suffix(const Training& t) { return t.recipe.train.swa ? "_swa" : "_ema"; }

AverageInPlace::AverageInPlace(Training& t)
    : parameters_(t.engine->model().named_parameters(), t.ema->parameters()),
      buffers_(t.engine->model().named_buffers(), t.ema->buffers()) {}

}  // namespace ddptrain
