// Where samples come from and in which order.
#include <fmt/format.h>

#include "base/text.h"
#include "recipe/rules/rules.h"
#include "recipe/targets.h"

namespace ddptrain {
namespace {

void source_has_a_digest(const RuleContext& rule) {
  const auto& source = rule.data.source;
  if (source && !source->md5 && !source->sha256)
    rule.error("data.source", "nothing is fetched or unpacked without its md5 or sha256");
}

void source_is_one_archive(const RuleContext& rule) {
  const auto& source = rule.data.source;
  if (source && source->url.has_value() == source->file.has_value())
    rule.error("data.source", source->url ? "'url' and 'file' are two archives; keep one of them"
                                          : "which archive? write 'url' or 'file'");
  if (source && source->size && source->size->bytes == 0)
    rule.error("data.source.size", "an archive has at least one byte");
}

/// A reference to a variable is known only where it is fetched, and is looked at there.
void source_is_https(const RuleContext& rule) {
  const auto& source = rule.data.source;
  if (!source || !source->url || source->url->starts_with("${")) return;
  if (lower(source->url->substr(0, 8)) != "https://")
    rule.error("data.source.url",
               "only https:// is fetched; fetch the archive yourself and name it under 'file'");
}

void check_digits(const RuleContext& rule, const std::optional<std::string>& digest,
                  const std::string& key, std::size_t digits) {
  if (!digest) return;
  const bool hex = digest->find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!hex || digest->size() != digits)
    rule.error("data.source." + key, "'{}' is no {}, which has {} hexadecimal digits", *digest, key,
               digits);
}

void digests_are_digests(const RuleContext& rule) {
  if (!rule.data.source) return;
  check_digits(rule, rule.data.source->md5, "md5", 32);
  check_digits(rule, rule.data.source->sha256, "sha256", 64);
}

void samples_are_held_out_once(const RuleContext& rule) {
  const auto* valid = rule.recipe.data.node().find("valid");
  if (!valid || !valid->is_map()) return;
  std::vector<std::string> ways;
  for (const std::string way : {"folder", "fraction", "list", "fold"})
    if (const auto* value = valid->find(way); value && !value->is_null())
      ways.push_back(fmt::format("'{}'", way));
  if (ways.size() > 1)
    rule.error("data.valid", "{} both say what is held out; keep one of them", join(ways, " and "));
}

void cached_images_are_libjpegs(const RuleContext& rule) {
  const auto* cache = rule.value(rule.recipe.data, "cache");
  const auto where = text_of(rule.value(rule.recipe.data, "decode_device"));
  if (cache && cache->is_map() && is_true(cache->find("decoded")) && !where.empty() &&
      where != "cpu")
    rule.error(
        "data.decode_device",
        "images of 'data.cache' are decoded once, on the CPU; drop the cache or write 'cpu'");
}

void targets_are_taken(const RuleContext& rule) {
  const auto kind = written_target(rule.recipe, rule.catalogs);
  if (!kind) return;
  const auto check = [&](const ChoiceBase& choice, const std::string& path) {
    const auto* entry = rule.entry(choice);
    if (!entry) return;
    const auto why = target_misfit(*entry, *rule.catalogs.find(choice.kind())->second, {*kind});
    if (!why.empty()) rule.error(path, why);
  };
  for (const auto& [loss, path] : written_losses(rule)) check(loss, path);
  const auto metrics = rule.metrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) check(metrics[i], indexed("metrics", i));
}

constexpr Rule kDataRules[] = {
    {{"digest", "What is fetched or unpacked has a digest.",
      "A file that changed on its way or at its source would silently train another model.",
      "data: {source: {url: \"https://example.org/images.tgz\"}}",
      "data: {source: {url: \"https://example.org/images.tgz\", md5: "
      "e793b78cc4c9e9a4ccc0c1155377a412}}"},
     source_has_a_digest},
    {{"source", "A source is one archive.",
      "It is fetched from a url, or unpacked from a file on this machine.",
      "data: {source: {url: \"https://example.org/a.tgz\", file: a.tgz, md5: "
      "e793b78cc4c9e9a4ccc0c1155377a412}}",
      "data: {source: {file: a.tgz, md5: e793b78cc4c9e9a4ccc0c1155377a412}}"},
     source_is_one_archive},
    {{"https", "A source is fetched by https.",
      "Anyone on the network path could read, and change, data that another protocol transfers.",
      "data: {source: {url: \"http://example.org/a.tgz\", md5: e793b78cc4c9e9a4ccc0c1155377a412}}",
      "data: {source: {url: \"https://example.org/a.tgz\", md5: "
      "e793b78cc4c9e9a4ccc0c1155377a412}}"},
     source_is_https},
    {{"digest-digits", "A digest has all its digits.",
      "No archive can have it, and an hour of fetching would be for nothing.",
      "data: {source: {file: a.tgz, md5: e793b78c}}",
      "data: {source: {file: a.tgz, md5: e793b78cc4c9e9a4ccc0c1155377a412}}"},
     digests_are_digests},
    {{"held-out", "Samples are held out in one way.",
      "A folder, a fraction, a list and a fold would each hold out others.",
      "data: {valid: {folder: val, fraction: 0.2}}", "data: {valid: {fraction: 0.2}}"},
     samples_are_held_out_once},
    {{"decode-cache", "Cached images are decoded on the CPU.",
      "Evaluation and other runs read the same cache, whose pixels are libjpeg's.",
      "data: {decode_device: auto, cache: {decoded: true}}", "data: {cache: {decoded: true}}"},
     cached_images_are_libjpegs},
    {{"target", "Losses and metrics take the kind of target that the data give.",
      "Zeros and ones for each label would be taken for the probabilities of one class, or numbers "
      "of classes for quantities.",
      "data: {type: manifest, file: labels.csv, label_delimiter: \" \"}\n"
      "loss: cross_entropy\nmetrics: [accuracy_multi]",
      "data: {type: manifest, file: labels.csv, label_delimiter: \" \"}\n"
      "loss: bce_with_logits\nmetrics: [accuracy_multi]"},
     targets_are_taken},
};

}  // namespace

std::vector<Rule> data_rules() { return {std::begin(kDataRules), std::end(kDataRules)}; }

}  // namespace ddptrain
