#include "train/weights.h"

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "checkpoint/weights.h"
#include "config/decode.h"
#include "recipe/model_section.h"

namespace ddptrain {
namespace {

// The layer that gives the outputs is the last that was made: its parameters come last.
std::string last_layer(const Model& model) {
  const auto parameters = model.named_parameters();
  return parameters.empty() ? ""
                            : parameters.back().name.substr(0, parameters.back().name.rfind('.'));
}

}  // namespace

void start_from_weights(Training& t) {
  const auto section = decode<ModelSection>(t.recipe.model.node());
  if (!section.weights) return;
  const auto& spec = *section.weights;
  auto tensors = read_weights(spec.file);
  rename(tensors, spec.remap);
  auto& model = t.engine->model();
  const auto fit = take_weights(tensors, model.state(), last_layer(model));
  const auto problem = misfit(fit);
  const auto where = "model.weights: '" + spec.file + "' ";
  if (fit.taken.empty()) throw Error(Exit::data, where + "has no tensor that fits: " + problem);
  if (spec.strict && !problem.empty())
    throw Error(Exit::data, where + "does not fit: " + problem +
                                "; 'remap' renames, and 'strict: false' takes what fits");
  log::info("weights: " + plural(static_cast<std::int64_t>(fit.taken.size()), "tensor") + " of " +
            spec.file);
  if (!fit.replaced.empty())
    log::info("the last layer starts anew, its shape is another there: " +
              join(fit.replaced, ", "));
  if (!problem.empty()) log::warning(where + "fits in part: " + problem);
  t.engine->parameters_changed();
}

}  // namespace ddptrain
