// The model against its weights, the images and the classes.
#include <array>
#include <filesystem>

#include "base/secrets.h"
#include "base/text.h"
#include "base/url.h"
#include "config/decode.h"
#include "recipe/model_section.h"
#include "recipe/rules/rules.h"
#include "recipe/rules/transforms.h"
#include "weights/weights.h"

namespace ddptrain {
namespace {

bool is_address(const std::string& file) { return !url_scheme(file).empty(); }

void weights_are_a_file(const RuleContext& rule) {
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  static constexpr std::array<std::string_view, 14> foreign{
      ".onnx", ".h5",   ".hdf5",    ".keras",  ".pb",  ".tflite", ".npz",
      ".npy",  ".gguf", ".msgpack", ".engine", ".zip", ".json",   ".yaml"};
  if (!weights || is_address(weights->file)) return;
  const auto file = lower(weights->file);
  if (file.ends_with(".safetensors.index.json")) return;
  for (const auto ending : foreign)
    if (file.ends_with(ending))
      rule.error("model.weights",
                 "weights are read from .safetensors and .pth files, and from folders of runs and "
                 "checkpoints, not from {}",
                 ending);
}

void weights_are_here(const RuleContext& rule) {
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  if (!weights || !is_address(weights->file)) return;
  const auto scheme = url_scheme(weights->file);
  const bool hub = scheme == "hf" || scheme == "huggingface";
  rule.error("model.weights",
             "'{}' is a URL, and weights are read from this machine; download the file{} and write "
             "where it is. 'ddptrain weights list' shows those that have a name",
             without_passwords(weights->file),
             hub ? " ('hf download ORGANIZATION/NAME model.safetensors')" : "");
}

/// A word that stands alone, where a file or a run's folder may be meant as well: none of these.
std::optional<std::string> weights_word(const RuleContext& rule) {
  namespace fs = std::filesystem;
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  if (!weights || is_address(weights->file)) return {};
  const fs::path file(weights->file);
  const auto name = file.filename().string();
  const auto place = nearest_place(rule.tree, "model.weights.file");
  const auto home = place.file == "command line" ? fs::path() : fs::path(place.file).parent_path();
  const bool alone = fs::absolute(home / name).lexically_normal() == fs::absolute(file);
  const bool of_a_run = name == "last" || name == "best" || name == "latest" ||
                        name.starts_with("step-") || parse_integer(name);
  if (!alone || of_a_run || name.find('.') != std::string::npos) return {};
  const bool published = find_weights(weights_model(rule.recipe.model), name) != nullptr;
  std::error_code unreadable;
  if (!published && fs::exists(file, unreadable)) return {};
  return name;
}

void weights_have_a_known_name(const RuleContext& rule) {
  const auto name = weights_word(rule);
  if (!name) return;
  const auto model = weights_model(rule.recipe.model);
  const auto* weights = find_weights(model, *name);
  if (weights && weights->is_archive)
    rule.error("model.weights",
               "{} is an archive; unpack it and write the two files in it: {{file: "
               "wt103-fwd/lstm_fwd.pth, words: wt103-fwd/itos_wt103.pkl}}",
               text_of(*weights));
  if (!weights)
    rule.error("model.weights",
               "'{}' is neither a .safetensors or .pth file nor the folder of a run such as "
               "runs/NAME/latest, and {}",
               *name, no_such_weights(model, *name));
}

void only_names_are_fetched(const RuleContext& rule) {
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  if (weights && weights->fetch && !weights_word(rule))
    rule.error("model.weights.fetch",
               "only published weights are fetched, by their names; this is a file or folder");
}

void words_are_of_texts(const RuleContext& rule) {
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  if (weights && weights->words && !rule.has(rule.recipe.data, "gives_texts"))
    rule.error("model.weights.words",
               "'{}' has no texts, and so no words that rows of an embedding stand for",
               rule.recipe.data.type());
}

void digests_are_whole(const RuleContext& rule) {
  const auto weights = decode<ModelSection>(rule.recipe.model.node()).weights;
  if (!weights || !weights->sha256) return;
  const auto& digest = *weights->sha256;
  const bool hexadecimal = digest.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (digest.size() != 64 || !hexadecimal)
    rule.error("model.weights.sha256", "a sha256 has 64 digits of 0-9 and a-f");
}

void the_body_can_be_lent(const RuleContext& rule) {
  const auto* body = rule.value(rule.recipe.model, "body");
  if (!body || body->is_list()) return;
  const auto choice = choice_of<Model>(*body);
  if (!rule.entry(choice) || rule.has(choice, "body")) return;
  const bool features = rule.has(choice, "lends_features");
  if (features && rule.recipe.model.type() == "vision_learner") return;
  rule.error("model.body", "'{}{}", choice.type(),
             features ? "' lends its body to vision_learner alone, since its features have one "
                        "size; resnet34, xresnet50 and others have several"
                      : "' cannot lend its body; resnet34, xresnet50 and others can");
}

void the_body_has_no_head(const RuleContext& rule) {
  const auto* body = rule.recipe.model.node().find("body");
  if (!body || !body->is_map()) return;
  const auto choice = choice_of<Model>(*body);
  for (const std::string key : {"num_classes", "weights", "layer_groups"})
    if (rule.is_asked(choice, key))
      rule.error("model.body." + key, "write it as 'model.{}', for the body and its head", key);
}

void images_have_the_models_size(const RuleContext& rule) {
  const auto side = number_of(rule.value(rule.recipe.model, "image_size"));
  if (!side) return;
  for (const std::string split : {"train", "valid"}) {
    const auto out = size_of(rule, transforms_of(rule, split)).sides;
    if (out && !(*out == Sides{*side, *side}))
      rule.error("model.image_size", "{}, and data.transforms.{} gives {}", format_number(*side),
                 split, WrittenSize{out, {}}.text());
  }
}

/// How many classes the recipe itself says: those that it lists, or the model's outputs.
struct Classes {
  std::optional<std::size_t> listed;
  std::optional<std::size_t> outputs;
};

Classes classes_of(const RuleContext& rule) {
  Classes classes;
  const auto listed = items_of(rule.value(rule.recipe.data, "classes")).size();
  const auto* labels = rule.value(rule.recipe.data, "labels");
  if (listed > 0) classes.listed = listed;
  if (labels && labels->is_map() && !labels->members.empty())
    classes.listed = labels->members.size();
  const auto outputs = number_of(rule.value(rule.recipe.model, "num_classes"));
  if (outputs) classes.outputs = static_cast<std::size_t>(*outputs);
  return classes;
}

void each_class_has_an_output(const RuleContext& rule) {
  const auto [listed, outputs] = classes_of(rule);
  const bool one_for_two = outputs == 1U && listed == 2U;  // yes or no
  if (listed && outputs && *outputs < *listed && !one_for_two)
    rule.error("model.num_classes", "{}, and the data names {} classes; write 'auto'", *outputs,
               *listed);
}

void each_class_has_a_weight(const RuleContext& rule) {
  const auto [listed, outputs] = classes_of(rule);
  const auto classes = listed ? listed : outputs;
  for (const auto& [loss, path] : written_losses(rule))
    for (const std::string key : {"weight", "pos_weight"}) {
      const auto weights = items_of(rule.value(loss, key)).size();
      if (classes && weights > 0 && weights != *classes)
        rule.error(path + "." + key, "{} weights for {} classes", weights, *classes);
    }
}

void some_classes_are_left_out(const RuleContext& rule) {
  const auto [listed, outputs] = classes_of(rule);
  const auto classes = listed ? listed : outputs;
  const auto metrics = rule.metrics();
  for (std::size_t i = 0; classes && i < metrics.size(); ++i) {
    const auto k = number_of(rule.value(metrics[i], "k"));
    if (!k || *k < static_cast<double>(*classes)) continue;
    rule.warn(indexed("metrics", i), "the {} largest of {} scores always hold the target",
              format_number(*k), *classes);
  }
}

constexpr Rule kWeightsRules[] = {
    {{"weights-file", "Weights are in a .safetensors or .pth file, or in a run's folder.",
      "Other formats hold other things, such as a graph, and are not read.",
      "model: {weights: resnet18.onnx}", "model: {weights: resnet18.safetensors}"},
     weights_are_a_file},
    {{"weights-here", "Weights are on this machine.",
      "Nothing is fetched without a digest, and not while training.",
      "model: {weights: \"https://download.pytorch.org/models/resnet18-f37072fd.pth\"}",
      "model: {weights: resnet18-f37072fd.pth}"},
     weights_are_here},
    {{"weights-word", "Weights are a file, a run's folder, or a name of published ones.",
      "Which names there are depends on the model; 'ddptrain weights list' shows them, and "
      "'ddptrain weights get' fetches a file. Anything else is a .safetensors or .pth file, or a "
      "run's folder (runs/NAME/latest).",
      "model: {type: resnet18, weights: pretrained}", "model: {type: resnet18, weights: imagenet}"},
     weights_have_a_known_name},
    {{"weights-fetch", "Only published weights are fetched.",
      "A file or a folder is where the recipe says, or it is missing.",
      "model: {weights: {file: resnet18.pth, fetch: true}}",
      "model: {weights: {file: imagenet, fetch: true}}"},
     only_names_are_fetched},
    {{"weights-words", "Words of weights are for data of texts.",
      "They say which row of the file's embedding stands for which word of the texts.",
      "model: {weights: {file: lstm_wt103.pth, words: itos_wt103.pkl}}",
      "model: {weights: resnet18-f37072fd.pth}"},
     words_are_of_texts},
    {{"weights-digest", "A digest of weights is a whole sha256.",
      "Files are compared by all of it.",
      "model: {weights: {file: resnet18.pth, sha256: f37072fd}}",
      "model: {weights: resnet18-f37072fd.pth}"},
     digests_are_whole},
};

constexpr Rule kModelRules[] = {
    {{"body", "A body comes from a model that can lend it.",
      "What stands before the pooling must be known, and how pretrained files call it.",
      "model: {type: vision_learner, body: regnet_y_400mf}",
      "model: {type: vision_learner, body: resnet34}"},
     the_body_can_be_lent},
    {{"body-options", "What concerns the whole model is not written under model.body.",
      "The body comes without its head; classes, weights and layer groups are those of the whole.",
      "model: {type: vision_learner, body: {type: resnet34, weights: resnet34.pth}}",
      "model: {type: vision_learner, body: resnet34, weights: resnet34.pth}"},
     the_body_has_no_head},
    {{"image-size", "Transforms give images of the size that the model takes.",
      "A vision transformer has a position for each patch, and so takes images of one size.",
      "model: {type: vit_b_16, image_size: 224}", "model: {type: vit_b_16, image_size: 64}"},
     images_have_the_models_size},
    {{"num-classes", "A model has an output for each class.",
      "The labels of the last classes would be out of range.",
      "model: {num_classes: 2}\ndata: {classes: [cat, dog, horse]}",
      "model: {num_classes: auto}\ndata: {classes: [cat, dog, horse]}"},
     each_class_has_an_output},
    {{"class-weights", "A loss that weighs classes has a weight for each.",
      "A class without one would have to be guessed.",
      "model: {num_classes: 3}\nloss: {type: cross_entropy, weight: [1, 2]}",
      "model: {num_classes: 3}\nloss: {type: cross_entropy, weight: [1, 2, 2]}"},
     each_class_has_a_weight},
    {{"top-k", "top_k looks at fewer scores than there are classes.",
      "Among all scores the target always is: the metric is 1 whatever the model does.",
      "model: {num_classes: 5}\nmetrics: [accuracy, {type: top_k, k: 5}]",
      "model: {num_classes: 5}\nmetrics: [accuracy, {type: top_k, k: 2}]"},
     some_classes_are_left_out},
};

}  // namespace

std::vector<Rule> weights_rules() { return {std::begin(kWeightsRules), std::end(kWeightsRules)}; }
std::vector<Rule> model_rules() { return {std::begin(kModelRules), std::end(kModelRules)}; }

}  // namespace ddptrain
