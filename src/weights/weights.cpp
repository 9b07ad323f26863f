#include "weights/weights.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "weights/publishers.h"

namespace ddptrain {

namespace {
constexpr std::string_view kDefaultName = "imagenet";
}

std::string file_name(const PublishedWeights& weights) {
  return weights.url.substr(weights.url.rfind('/') + 1);
}

const std::vector<PublishedWeights>& published_weights() {
  static const std::vector<PublishedWeights> all = [] {
    auto rows = torchvision_weights();
    for (auto& more : {timm_weights(), fastai_weights()})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return all;
}

std::vector<PublishedWeights> weights_of(const std::string& model) {
  std::vector<PublishedWeights> rows;
  std::vector<std::string> models;
  for (const auto& weights : published_weights()) {
    if (model.empty() || weights.model == model) rows.push_back(weights);
    models.emplace_back(weights.model);
  }
  if (rows.empty())
    throw Error(
        Exit::recipe, "no weights of '{}' are known{}", model,
        did_you_mean(nearest(model, models), "; 'ddptrain weights list' shows of which models"));
  return rows;
}

const PublishedWeights* find_weights(std::string_view model, std::string_view name) {
  for (const auto& weights : published_weights())
    if (weights.model == model &&
        (weights.name == name || (name == kDefaultName && weights.is_default)))
      return &weights;
  return nullptr;
}

std::vector<std::string> weights_names(std::string_view model) {
  std::vector<std::string> names;
  if (find_weights(model, kDefaultName)) names.emplace_back(kDefaultName);
  for (const auto& weights : published_weights())
    if (weights.model == model) names.emplace_back(weights.name);
  return names;
}

std::string text_of(const PublishedWeights& weights) {
  return fmt::format("{} {} ({})", weights.model, weights.name, weights.publisher);
}

std::string no_such_weights(const std::string& model, const std::string& name) {
  const auto names = weights_names(model);
  if (names.empty())
    return "no published weights of '" + model + "' have a name here; see 'ddptrain weights list'";
  return fmt::format("'{}' has no weights '{}'{}", model, name,
                     did_you_mean(nearest(lower(name), names), "; there are " + join(names, ", ")));
}

}  // namespace ddptrain
