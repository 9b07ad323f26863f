#include "train/build/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "data/dataset.h"
#include "recipe/targets.h"
#include "sources/fetch/source.h"
#include "train/build/build.h"

namespace ddptrain {
namespace {

/// Options of the section that are as `data` has them become what the training samples decided.
void take_from_training(SplitSection& section, const Choice<Dataset>& training,
                        const Dataset& data) {
  auto node = section.data.node();
  auto settled = training;
  take_chosen(settled, data);
  for (const auto& option : data.chosen().members) {
    const auto *written = node.find(option.key), *before = training.node().find(option.key);
    const bool same =
        (!written && !before) || (written && before && to_yaml(*written) == to_yaml(*before));
    if (same) node.set(option.key, *settled.node().find(option.key));
  }
  section.data.choose(std::move(node));
}

std::string class_text(std::int64_t count) {
  return count == 1 ? "one class" : fmt::format("one of {} classes", count);
}

std::string text_of(const Dataset& data) {
  const auto& facts = data.facts();
  switch (targets_of(facts).kind) {
    case TargetKind::classes:
      return class_text(facts.class_count());
    case TargetKind::labels:
      return "several of " + plural(facts.class_count(), "label");
    case TargetKind::masks:
      return "for each pixel " + class_text(facts.mask->classes) +
             (facts.mask->void_code ? ", with pixels that do not count" : "");
    case TargetKind::points:
      return plural(facts.points, "point");
    case TargetKind::numbers:
      return plural(facts.numbers, "number");
    case TargetKind::tokens:
      return "the next of " + plural(facts.cardinalities.at(0), "token");
  }
  return {};
}

void require_the_same_targets(const Dataset& split, const Dataset& data,
                              const SplitSection& section) {
  const auto own = text_of(split), trained = text_of(data);
  if (own == trained && split.facts().classes == data.facts().classes) return;
  throw Error(
      Exit::data, Option{section.path},
      "a sample has as target {}, and in 'data' {}; the model can be scored on the same alone", own,
      trained);
}

std::string option_text(const Choice<Dataset>& section, const char* option) {
  const auto* value = section.node().find(option);
  return value ? value->text : std::string();
}

void require_samples(const Dataset& split, const SplitSection& section) {
  if (split.size(Split::valid) == 0)
    throw Error(Exit::data, Option{section.path}, "nothing is held out here to be scored");
}

}  // namespace

void provide_splits(const Recipe& recipe) {
  for (const auto& section : split_sections(recipe)) try {
      provide(section.data);
    } catch (const Error&) {
      rethrow_of_split(section.path);
    }
}

void require_provided_splits(const Recipe& recipe) {
  for (const auto& section : split_sections(recipe))
    if (!is_provided(section.data))
      throw Error(Exit::data, Option{section.path + ".source"},
                  "the data are not there; 'ddptrain data get' fetches them");
}

std::string trained_text(const Dataset& split, const SplitSection& section, const Dataset& data,
                         const Choice<Dataset>& training) {
  for (const auto* where : {"root", "file"})
    if (option_text(section.data, where) != option_text(training, where)) return {};
  std::unordered_set<std::string> names;
  for (std::int64_t i = 0; i < split.size(Split::valid); ++i)
    names.insert(split.sample_name(Split::valid, i));
  std::int64_t trained = 0;
  for (std::int64_t i = 0; i < data.size(Split::train); ++i)
    trained += names.contains(data.sample_name(Split::train, i)) ? 1 : 0;
  if (trained == 0) return {};
  return fmt::format(
      "{} of {} samples are training samples of 'data', which score higher than others", trained,
      split.size(Split::valid));
}

void take_chosen(Choice<Dataset>& section, const Dataset& data) {
  auto node = section.node();
  for (const auto& option : data.chosen().members) {
    auto value = option.value;
    if (const auto* written = node.find(option.key); written && value.is_map())
      for (const auto& member : written->members)
        if (!value.find(member.key)) value.set(member.key, member.value);
    node.set(option.key, std::move(value));
  }
  section.choose(std::move(node));
}

void rethrow_of_split(const std::string& path) {
  try {
    throw;
  } catch (const Error& error) {
    const std::string data = "data";
    const bool own = error.option() == data || error.option().starts_with(data + ".");
    if (!own && !error.option().empty()) throw;
    const auto option = path + (own ? error.option().substr(data.size()) : "");
    throw Error(error.code(), Option{option}, error.message(), error.place());
  }
}

std::unique_ptr<Dataset> build_split(const Recipe& recipe, const Dataset& data,
                                     SplitSection& section, const ImageDevice& device) {
  try {
    take_from_training(section, recipe.data, data);
    auto own = recipe;
    own.data = section.data;
    auto split = build_data(own, {data.state(), data.facts().classes}, {}, device);
    take_chosen(section.data, *split);
    require_the_same_targets(*split, data, section);
    require_samples(*split, section);
    return split;
  } catch (const Error&) {
    rethrow_of_split(section.path);
  }
}

}  // namespace ddptrain
