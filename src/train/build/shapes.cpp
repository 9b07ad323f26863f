#include "train/build/shapes.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <exception>
#include <sstream>

#include "base/error.h"
#include "data/dataset.h"
#include "distributed/engine.h"
#include "launch/failure.h"
#include "train/training.h"

namespace ddptrain {
namespace {

std::string shape_of_samples(const Batch& batch) {
  std::ostringstream shape;
  shape << batch.inputs.front().sizes().slice(1);
  return shape.str();
}

}  // namespace

at::Tensor tried_output(Training& t, const Batch& batch, const std::string& which) {
  const auto refused = [&](const std::string& why) {
    return Error(Exit::recipe, "model '{}' cannot take the {}: {}", t.recipe.model.type(), which,
                 why.substr(0, why.find('\n')));
  };
  try {
    return t.engine->evaluate(batch);
  } catch (const c10::Error& error) {
    // The device's words are about the device.
    if (failure_of(std::current_exception(), t.world->rank).code != Exit::bug) throw;
    throw refused(error.what_without_backtrace());
  } catch (const Error& error) {
    if (error.code() != Exit::recipe) throw;
    throw refused(error.what());
  }
}

void try_shapes(Training& t) {
  for (const auto epoch : t.data->changes_of_shape()) {
    const auto batch = t.data->allocate_train(epoch, 1);
    for (const auto& input : batch.inputs) input.zero_();
    tried_output(t, batch,
                 fmt::format("training samples of shape {} that begin with epoch {}",
                             shape_of_samples(batch), epoch + 1));
  }
}

}  // namespace ddptrain
