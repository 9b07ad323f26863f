#include "train/run/weights.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/weights.h"
#include "config/decode.h"
#include "data/dataset.h"
#include "distributed/engine.h"
#include "recipe/model_section.h"
#include "train/training.h"

namespace ddptrain {
namespace {

std::size_t known(const std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& live) {
  std::set<std::string> names;
  for (const auto& named : live) names.insert(named.name);
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [&](const auto& named) { return names.contains(named.name); }));
}

/// Whether a file is of the network that a part of the model was taken from: then more of its names
/// are the model's after they are translated.
bool are_of_another(std::vector<NamedTensor> tensors, const Model& model) {
  const auto live = model.state();
  const auto before = known(tensors, live);
  rename(tensors, model.borrowed_names());
  return known(tensors, live) > before;
}

/// Translates the names, and leaves out what the model has no place for: the other network's head.
void take_borrowed(std::vector<NamedTensor>& tensors, const Model& model) {
  const auto names = model.borrowed_names();
  std::erase_if(tensors, [&](const NamedTensor& named) {
    return std::none_of(names.begin(), names.end(),
                        [&](const auto& rule) { return named.name.starts_with(rule.first); });
  });
  rename(tensors, names);
}

std::string quoted_list(std::vector<std::string> names) {
  for (auto& name : names) name = "'" + name + "'";
  if (names.size() > 3) names.resize(3), names.emplace_back("...");
  return join(names, ", ");
}

/// Those of `names` that are not among `others`.
std::string only_in(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> only;
  for (const auto& name : names)
    if (!known.contains(name)) only.push_back(name);
  return only.empty() ? "none" : quoted_list(std::move(only));
}

/// The outputs of `layer` by the names of their classes: moved, or left out where other classes are
/// there. Returns whether they were left out.
bool match_outputs(SavedWeights& saved, const std::vector<std::string>& classes,
                   const std::string& layer) {
  const auto outputs = order_outputs(saved, classes, layer);
  if (outputs == Outputs::reordered)
    log::info("the outputs of the last layer are put in the order of the classes here");
  if (outputs != Outputs::others) return false;
  std::erase_if(saved.tensors,
                [&](const NamedTensor& named) { return named.name.starts_with(layer + "."); });
  log::info("the last layer '" + layer +
            "' is re-initialised, its classes are others: only there " +
            only_in(saved.classes, classes) + ", only here " + only_in(classes, saved.classes));
  return true;
}

}  // namespace

// It is the last that was made: its parameters come last.
std::string last_layer(const Model& model) {
  const auto parameters = model.named_parameters();
  return parameters.empty() ? ""
                            : parameters.back().name.substr(0, parameters.back().name.rfind('.'));
}

void start_from_weights(const Training& t) {
  const auto section = decode<ModelSection>(t.recipe.model.node());
  if (!section.weights) return;
  const auto& spec = *section.weights;
  auto saved = read_saved_weights(spec.file);
  auto& tensors = saved.tensors;
  rename(tensors, spec.remap);
  auto& model = t.engine->model();
  const auto live = model.state();
  const bool borrowed = are_of_another(tensors, model);
  if (borrowed) take_borrowed(tensors, model);
  const auto layer = last_layer(model);
  const bool others = !borrowed && match_outputs(saved, t.data->facts().classes, layer);
  const auto absent = borrowed ? model.own_parts()
                      : others ? std::vector{layer}
                               : std::vector<std::string>();
  const auto fit = take_weights(tensors, live, layer, absent);
  const auto problem = misfit(fit);
  const auto where = "model.weights: '" + spec.file + "' ";
  if (fit.taken.empty()) throw Error(Exit::data, where + "has no tensor that fits: " + problem);
  if (spec.strict && !problem.empty())
    throw Error(Exit::data, where + "does not fit: " + problem +
                                "; 'remap' renames, and 'strict: false' takes what fits");
  log::info("weights: " + plural(static_cast<std::int64_t>(fit.taken.size()), "tensor") + " of " +
            spec.file);
  if (borrowed)
    log::info(quoted_list(absent) + ", which such a file does not have, " +
              (absent.size() == 1 ? "is re-initialised" : "are re-initialised"));
  if (!fit.replaced.empty())
    log::info("the last layer is re-initialised, its shape differs there: " +
              join(fit.replaced, ", "));
  if (!problem.empty()) log::warning(where + "fits in part: " + problem);
  t.engine->parameters_changed();
}

}  // namespace ddptrain
