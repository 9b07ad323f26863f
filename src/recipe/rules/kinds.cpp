// Images, tables and texts: who gives them, and who takes them.
#include <array>

#include "base/text.h"
#include "recipe/rules/rules.h"
#include "recipe/targets.h"

namespace ddptrain {
namespace {

constexpr std::array<std::string_view, 3> kDataKinds{"images", "tables", "texts"};

/// What samples are; nothing where the catalog does not say.
std::optional<std::string> kind_of(const RuleContext& rule) {
  for (const auto kind : kDataKinds)
    if (rule.has(rule.recipe.data, "gives_" + std::string(kind))) return std::string(kind);
  return {};
}

/// "resnet18, resnet34, resnet50 and others": what has a trait.
std::string names_with(const RuleContext& rule, const std::string& catalog,
                       const std::string& trait) {
  const auto& all = *rule.catalogs.find(catalog)->second;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all.at(i).has(trait)) names.push_back(all.at(i).name);
  const bool more = names.size() > 3;
  if (more) names.resize(3);
  return join(names, ", ") + (more ? " and others" : "");
}

void the_model_takes_the_samples(const RuleContext& rule) {
  const auto given = kind_of(rule);
  if (!given || rule.has(rule.recipe.model, "takes_" + *given)) return;
  for (const auto kind : kDataKinds) {
    const std::string taken(kind);
    if (rule.has(rule.recipe.model, "takes_" + taken))
      rule.error("model", "'{}' takes {}, and '{}' gives {}; these take them: {}",
                 rule.recipe.model.type(), taken, rule.recipe.data.type(), *given,
                 names_with(rule, "model", "takes_" + *given));
  }
}

void the_model_gives_the_targets(const RuleContext& rule) {
  const auto kind = written_target(rule.recipe, rule.catalogs);
  const auto* model = rule.entry(rule.recipe.model);
  if (!kind || model == nullptr) return;
  const auto& models = *rule.catalogs.find(rule.recipe.model.kind())->second;
  const auto why = model_misfit(*model, models, rule.recipe.data.type(), *kind);
  if (!why.empty()) rule.error("model", why);
}

void only_images_are_mixed(const RuleContext& rule) {
  const auto given = kind_of(rule);
  const auto& mix = rule.data.mix;
  if (!mix) return;
  for (const auto& [each, path] : nested(rule, *mix, "data.mix"))
    if (given && *given != "images" && (*given == "texts" || rule.has(each, "wants_images"))) {
      rule.error(path, "'{}' computes with pixels, and '{}' gives {}", each.type(),
                 rule.recipe.data.type(), *given);
      break;
    }
  if (rule.has(rule.recipe.data, "gives_masks") || rule.has(rule.recipe.data, "gives_points"))
    rule.error("data.mix",
               "'{}' mixes images and their labels, and the targets of '{}' are places in an image",
               mix->type(), rule.recipe.data.type());
}

void losses_are_sums(const RuleContext& rule) {
  for (const auto& [loss, path] : written_losses(rule))
    if (rule.has(loss, "weight_of_whole_batch") && rule.is_asked(loss, "weight"))
      rule.error(path + ".weight",
                 "'{}' with class weights depends on how a batch is cut; write '{{type: "
                 "cross_entropy, label_smoothing: ..., weight: ...}}'",
                 loss.type());
}

void lengths_differ(const RuleContext& rule) {
  const auto given = kind_of(rule);
  const auto& sampler = rule.data.sampler;
  if (given && *given != "texts" && rule.has(sampler, "wants_texts"))
    rule.error("data.sampler",
               "'{}' is for samples of different lengths, and {} are all alike; 'shuffle' gives a "
               "random order",
               sampler.type(), *given);
}

/// What `padding` of texts says, short ("first") or whole; null: its default.
std::string padding_option(const Node* padding, const char* key, const std::string& initial) {
  if (padding == nullptr) return initial;
  if (padding->is_scalar()) return std::string(key) == "side" ? padding->text : initial;
  const auto* value = padding->find(key);
  return value ? value->text : initial;
}

void segments_are_padded_whole(const RuleContext& rule) {
  const auto* entry = rule.entry(rule.recipe.model);
  if (entry == nullptr || kind_of(rule) != "texts") return;
  if (written_target(rule.recipe, rule.catalogs) == TargetKind::tokens) return;  // none is padded
  const std::string name = "reads_segments ";
  for (const auto& trait : entry->traits) {
    if (!trait.starts_with(name)) continue;
    const auto option = trait.substr(name.size());
    const auto tokens = number_of(rule.value(rule.recipe.model, option));
    const auto* padding = rule.value(rule.recipe.data, "padding");
    const auto chunk = parse_number(padding_option(padding, "chunk", "72"));
    if (!tokens || !chunk) continue;
    const bool whole = padding_option(padding, "side", "last") == "chunks" && *chunk == *tokens;
    if (!whole)
      rule.error("data.padding",
                 "'{}' reads segments of {} tokens; write '{{side: chunks, chunk: {}}}'",
                 rule.recipe.model.type(), format_number(*tokens), format_number(*tokens));
  }
}

void samples_have_weights(const RuleContext& rule) {
  const auto& sampler = rule.data.sampler;
  if (!kind_of(rule) || !rule.has(sampler, "wants_weights")) return;
  if (text_of(rule.value(sampler, "by")) == "classes") return;
  if (!rule.has(rule.recipe.data, "gives_weights"))
    rule.error("data.sampler", "'{}' gives samples no weights; {} does; 'by: classes' needs none",
               rule.recipe.data.type(), names_with(rule, "data", "gives_weights"));
}

void windows_are_of_shards(const RuleContext& rule) {
  const auto* window = rule.value(rule.data.sampler, "window");
  if (!kind_of(rule) || !window || window->is_null()) return;
  if (rule.data.sampler.type() != "shuffle" || rule.has(rule.recipe.data, "gives_shards")) return;
  rule.error("data.sampler.window", "counts shards, and '{}' has none; {} does",
             rule.recipe.data.type(), names_with(rule, "data", "gives_shards"));
}

void channels_are_of_images(const RuleContext& rule) {
  const auto given = kind_of(rule);
  if (rule.recipe.train.channels_last.value.value_or(false) && given && *given != "images")
    rule.warn("train.channels_last", "{} have no channels to be last", *given);
}

void blocks_are_recomputed(const RuleContext& rule) {
  const auto& model = rule.recipe.model;
  if (rule.recipe.train.recompute == Recompute::none || !kind_of(rule)) return;
  if (!rule.has(model, "blocks"))
    rule.error("train.recompute", "'{}' has no blocks that can be computed again; {} have",
               model.type(), names_with(rule, "model", "blocks"));
}

constexpr Rule kKindRules[] = {
    {{"loss-weight", "A loss is a sum over rows divided by a sum of weights.",
      "fastai's label smoothing divides its weighted part by the weights of the rows and its "
      "uniform part by their number, so ranks and micro-batches would give another gradient "
      "than the whole batch. cross_entropy weighs both parts alike.",
      "loss: {type: fastai_label_smoothing, weight: [1, 2, 1]}",
      "loss: {type: cross_entropy, label_smoothing: 0.1, weight: [1, 2, 1]}"},
     losses_are_sums},
    {{"model-data", "A model takes the kind of samples that the data gives.",
      "An image is numbers, a text is words, and a table has both.",
      "model: resnet18\ndata: {type: text_folder, root: imdb, padding: chunks}",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks}"},
     the_model_takes_the_samples},
    {{"model-target", "A model gives an answer of the kind that the data asks for.",
      "A mask has a class for each pixel, other targets say something of a whole sample.",
      "model: {type: unet, body: resnet34}\ndata: {type: image_folder, root: pets}",
      "model: resnet34\ndata: {type: image_folder, root: pets}"},
     the_model_gives_the_targets},
    {{"mix-data", "Texts are not mixed, and boxes are cut out of images alone.",
      "There is no mean of two words, no box in a row of a table, and no mean of two masks.",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks, mix: mixup}",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks}"},
     only_images_are_mixed},
    {{"length-sorted", "Samples that are sorted by length have lengths.",
      "Images and rows of a table are all alike.", "data: {sampler: length_sorted}",
      "data: {sampler: shuffle}"},
     lengths_differ},
    {{"padding-segments", "A model that reads segments gets texts padded by whole segments.",
      "A text that begins or ends inside a segment would be read as if its padding were words. "
      "data.padding.chunk is the model's bptt, and whole chunks stand in front.",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: first}",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks}"},
     segments_are_padded_whole},
    {{"weighted", "Samples that are drawn by weight have weights.",
      "They are a column of a manifest; other data has none.", "data: {sampler: weighted}",
      "data: {type: manifest, file: labels.csv, sampler: weighted}"},
     samples_have_weights},
    {{"sampler-window", "A window of shards is of data in shards.",
      "Samples are shuffled within some shards, so that only these are read at a time. 'ddptrain "
      "data shards' writes data as shards.",
      "data: {type: image_folder, root: pets, sampler: {type: shuffle, window: 8}}",
      "data: {type: image_shards, root: pets, valid: {fraction: 0.1}, sampler: {type: shuffle, "
      "window: 8}}"},
     windows_are_of_shards},
    {{"channels-last", "channels_last is about images.",
      "It says in which order the numbers of an image lie in memory.",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks}\ntrain: "
      "{channels_last: true}",
      "model: awd_lstm\ndata: {type: text_folder, root: imdb, padding: chunks}"},
     channels_are_of_images},
    {{"recompute-blocks", "Blocks that are computed again are alike both times.",
      "A batch norm would count a batch twice. Transformers have blocks without one.",
      "model: resnet18\ntrain: {recompute: blocks}", "model: resnet18"},
     blocks_are_recomputed},
};

}  // namespace

std::vector<Rule> kind_rules() { return {std::begin(kKindRules), std::end(kKindRules)}; }

}  // namespace ddptrain
