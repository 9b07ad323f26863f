#include "recipe/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "config/shape.h"

namespace ddptrain {
namespace {

/// Words for a kind of targets, and well-known losses and metrics that take it.
struct Kind {
  std::string_view trait;
  std::string_view words;
  std::string_view loss;
  std::string_view metric;
  std::string_view usual_loss;
  std::string_view usual_metrics;
};

constexpr std::array<Kind, 6> kTargetWords{
    {{"takes_class", "classes", "cross_entropy", "accuracy, f1 or roc_auc", "cross_entropy",
      "accuracy"},
     {"takes_labels", "several labels a sample", "bce_with_logits",
      "accuracy_multi, f1_multi or roc_auc_multi", "bce_with_logits", "accuracy_multi"},
     {"takes_number", "numbers", "mse, l1 or huber", "rmse, mae or r2", "mse", "rmse mae"},
     {"takes_mask", "masks", "cross_entropy, focal or fastai_dice",
      "accuracy, jaccard_coeff_multi or dice_multi", "cross_entropy",
      "accuracy jaccard_coeff_multi"},
     {"takes_points", "points", "mse, l1 or huber", "point_distance or rmse", "mse",
      "point_distance"},
     {"takes_token", "next tokens", "cross_entropy", "perplexity or next_token_accuracy",
      "cross_entropy", "perplexity next_token_accuracy bits_per_byte"}}};

const Kind& words_of(TargetKind kind) { return kTargetWords.at(static_cast<std::size_t>(kind)); }

/// What takes the classes of samples takes those of pixels and tokens, with few exceptions, and
/// likewise numbers and points: the shorter list says enough.
std::string taken_by(const EntryBase& entry) {
  std::vector<std::string> taken;
  for (const auto& kind : kTargetWords) {
    const bool of_classes = kind.trait == "takes_mask" || kind.trait == "takes_token";
    const bool implied = (of_classes && entry.has("takes_class")) ||
                         (kind.trait == "takes_points" && entry.has("takes_number"));
    if (entry.has(kind.trait) && !implied) taken.emplace_back(kind.words);
  }
  return join(taken, " or ");
}

/// The metric that is the same of the other kind: "f1_multi" and "f1".
std::string counterpart(const EntryBase& entry, const CatalogBase& catalog, const Kind& kind) {
  constexpr std::string_view ending = "_multi";
  const auto fits = [&](const std::string& name) {
    const auto* other = catalog.find(name);
    return other && other->has(kind.trait) && !other->has("two_classes");
  };
  if (auto more = entry.name + std::string(ending); fits(more)) return more;
  if (!entry.name.ends_with(ending)) return {};
  auto less = entry.name.substr(0, entry.name.size() - ending.size());
  return fits(less) ? less : std::string();
}

std::string instead(const EntryBase& entry, const CatalogBase& catalog, const Kind& kind) {
  const auto other = counterpart(entry, catalog, kind);
  const auto known = catalog.kind() == "loss" ? kind.loss : kind.metric;
  return "; write " + (other.empty() ? "for example " + std::string(known) : other);
}

bool are_classes(TargetKind kind) {
  return kind == TargetKind::classes || kind == TargetKind::masks;
}

const EntryBase* dataset_of(const Recipe& recipe, const Catalogs& catalogs) {
  const auto catalog = catalogs.find(recipe.data.kind());
  return catalog == catalogs.end() ? nullptr : catalog->second->find(recipe.data.type());
}

/// What is written for the option that a trait of the dataset names; null where nothing is.
const Node* option_named_by(const Recipe& recipe, const Catalogs& catalogs,
                            std::string_view trait) {
  const auto* entry = dataset_of(recipe, catalogs);
  const auto option = entry ? trait_argument(*entry, trait) : std::nullopt;
  return option ? recipe.data.node().find(*option) : nullptr;
}

std::int64_t axis_of(const ChoiceBase& choice) {
  const auto* written = choice.node().find("axis");
  return written ? parse_integer(written->text).value_or(1) : 1;
}

}  // namespace

Targets targets_of(const DataFacts& facts) {
  if (facts.mask) return {TargetKind::masks, facts.mask->classes};
  if (facts.tokens) return {TargetKind::tokens, facts.cardinalities.at(0)};
  if (facts.points > 0) return {TargetKind::points};
  if (facts.numbers > 0) return {TargetKind::numbers};
  return {facts.several_labels ? TargetKind::labels : TargetKind::classes, facts.class_count()};
}

std::optional<std::string> label_delimiter(const Recipe& recipe, const Catalogs& catalogs) {
  const auto* option = option_named_by(recipe, catalogs, "labels_by");
  return option && !option->is_null() ? std::optional(option->text) : std::nullopt;
}

std::vector<std::string> listed_numbers(const Recipe& recipe, const Catalogs& catalogs) {
  const auto* option = option_named_by(recipe, catalogs, "numbers_by");
  if (option && option->is_map()) option = option->find("columns");
  std::vector<std::string> names;
  if (option)
    for (const auto& item : option->items) names.push_back(item.text);
  return names;
}

std::optional<TargetKind> written_target(const Recipe& recipe, const Catalogs& catalogs) {
  if (label_delimiter(recipe, catalogs)) return TargetKind::labels;
  if (!listed_numbers(recipe, catalogs).empty()) return TargetKind::numbers;
  const auto* task = option_named_by(recipe, catalogs, "task_by");
  if (task && task->text == "regression") return TargetKind::numbers;
  if (task && task->text == "classification") return TargetKind::classes;
  if (task && task->text == "language_model") return TargetKind::tokens;
  const auto* entry = dataset_of(recipe, catalogs);
  if (entry == nullptr) return {};
  if (entry->has("gives_masks")) return TargetKind::masks;
  if (entry->has("gives_points")) return TargetKind::points;
  if (entry->has("gives_tokens")) return TargetKind::tokens;
  if (entry->has("gives_class")) return TargetKind::classes;
  if (entry->has("gives_number")) return TargetKind::numbers;
  return {};
}

bool gives_streams(const Recipe& recipe, const Catalogs& catalogs) {
  if (written_target(recipe, catalogs) != TargetKind::tokens) return false;
  const auto* layout = recipe.data.node().find("blocks");
  if (layout && layout->is_map()) layout = layout->find("layout");
  return !layout || layout->is_null() || layout->text == "streams";
}

Choice<Loss> usual_loss(TargetKind kind) {
  return Choice<Loss>(std::string(words_of(kind).usual_loss));
}

std::vector<Choice<Metric>> usual_metrics(TargetKind kind) {
  std::vector<Choice<Metric>> metrics;
  for (const auto& name : split(words_of(kind).usual_metrics, ' ')) metrics.emplace_back(name);
  return metrics;
}

std::string target_misfit(const EntryBase& entry, const CatalogBase& catalog,
                          const Targets& targets) {
  const auto& kind = words_of(targets.kind);
  const auto taken = taken_by(entry);
  if (!taken.empty() && !entry.has(kind.trait))
    return fmt::format("'{}' takes {}, and the targets are {}{}", entry.name, taken, kind.words,
                       instead(entry, catalog, kind));
  if (are_classes(targets.kind) && targets.classes > 2 && entry.has("two_classes"))
    return fmt::format("'{}' is for two classes, and there are {}{}", entry.name, targets.classes,
                       instead(entry, catalog, kind));
  return {};
}

namespace {

std::string with_trait(const CatalogBase& models, std::string_view trait) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < models.size(); ++i)
    if (models.at(i).has(trait)) names.push_back(models.at(i).name);
  return join(names, " or ");
}

/// A model of texts says what comes next in one, or says something of all of it.
std::string text_misfit(const EntryBase& model, const CatalogBase& models,
                        const std::string& dataset, TargetKind kind) {
  const bool continues = model.has("continues_texts"), wanted = kind == TargetKind::tokens;
  if (continues == wanted) return {};
  if (wanted)
    return fmt::format(
        "'{}' gives one answer for a whole sample, and '{}' asks for the next token; write {}",
        model.name, dataset, with_trait(models, "continues_texts"));
  return "'" + model.name + "' gives the next token of a text, and '" + dataset +
         "' asks for an answer for the whole of it; write 'task: language_model', or a model that "
         "classifies texts";
}

}  // namespace

std::string model_misfit(const EntryBase& model, const CatalogBase& models,
                         const std::string& dataset, TargetKind kind) {
  if (auto misfit = text_misfit(model, models, dataset, kind); !misfit.empty()) return misfit;
  const bool of_pixels = model.has("classifies_pixels"), wanted = kind == TargetKind::masks;
  if (of_pixels == wanted || model.has("any_outputs") || !model.has("takes_images")) return {};
  if (of_pixels)
    return "'" + model.name + "' gives a class for each pixel, and '" + dataset +
           "' has no masks; write for example resnet34 or xresnet50";
  return "'" + model.name + "' gives one answer for a whole image, and '" + dataset +
         "' gives masks, a class for each pixel; write " + with_trait(models, "classifies_pixels");
}

namespace {

/// What gives a model that many outputs.
std::string more_outputs(const EntryBase& model, std::int64_t count) {
  const auto& options = model.shape().children;
  if (std::ranges::any_of(options, [](const Shape& each) { return each.key == "num_classes"; }))
    return "write 'model.num_classes: auto'";
  if (model.has("scripted"))
    return fmt::format("in Python, give its last layer {} outputs, and script it again", count);
  return fmt::format("give its last layer {} outputs", count);
}

std::string output_of_pixels(const EntryBase& model) {
  if (model.has("scripted")) return "in Python, return such a tensor, and script it again";
  return "write 'model: {type: unet, body: resnet34}'";
}

}  // namespace

std::string output_misfit(const EntryBase& entry, const ChoiceBase& choice, const Targets& targets,
                          const ModelOutput& output) {
  const auto rank = static_cast<std::int64_t>(output.shape.size());
  if (targets.kind == TargetKind::masks && rank != 4)
    return fmt::format(
        "'{}' wants scores of each pixel, and the model gives {} axes, where [rows, classes, "
        "height, width] are 4; {}",
        entry.name, rank, output_of_pixels(output.model));
  const bool scores_classes = entry.has("takes_class") || entry.has("takes_mask");
  if (!are_classes(targets.kind) || !scores_classes) return {};
  const auto written = axis_of(choice);
  const auto axis = written < 0 ? written + rank : written;
  if (axis < 0 || axis >= rank)
    return fmt::format(
        "'{}' wants the classes along axis {}, and the last axis of the model's output is {}",
        entry.name, written, rank - 1);
  const auto outputs = output.shape[static_cast<std::size_t>(axis)];
  if (outputs >= targets.classes || (outputs == 1 && entry.has("one_output"))) return {};
  return fmt::format("'{}' wants an output for each of the {} classes, and the model gives {}; {}",
                     entry.name, targets.classes, outputs,
                     more_outputs(output.model, targets.classes));
}

}  // namespace ddptrain
