#include "sources/shards/shard_labels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Class names that `data shards` wrote next to the shards; none without them.
std::vector<std::string> written_classes(const FileSystem& files, const std::string& root) {
  const auto path = root + "/index.json";
  if (files.info(path).kind != FileKind::file) return {};
  const auto index = nlohmann::json::parse(read_text(files, path), nullptr, false);
  if (!index.is_object() || !index.contains("classes")) return {};
  const auto& classes = index["classes"];
  const auto is_text = [](const nlohmann::json& each) { return each.is_string(); };
  if (!classes.is_array() || !std::all_of(classes.begin(), classes.end(), is_text))
    throw Error(Exit::data, "{}: 'classes' is not a list of names", path);
  return classes;
}

}  // namespace

void ShardLabelOptions::fields(Fields& f) {
  f("label", label,
    {.doc = "Extension of the file that says a sample's class: a number from 0 or a word.",
     .min_items = 1});
  f("field", field,
    {.doc = "Where that file is JSON, the field that is the class; dots lead into objects, as in "
            "'annotation.class'.",
     .min_items = 1});
  f("classes", classes,
    {.doc = "Names of the classes, by their numbers; none: those of index.json next to the shards, "
            "or what samples say.",
     .items = ItemOrder::distinct});
  f.require(needs(is("label", "json"), "field"));
}

std::vector<std::string> ShardLabels::names(const std::string& root) const {
  return options_.classes.empty() ? written_classes(files_, root) : options_.classes;
}

std::string ShardLabels::of(const ShardSample& sample, const std::string& shard) const {
  const auto* member = sample.column(options_.label);
  if (member == nullptr)
    throw Error(Exit::data, Option{"data.label"}, "shard '{}': sample '{}' has no .{}", shard,
                shown(sample.key), options_.label);
  const auto path = shard + "/" + member->name;
  const auto content = member->content ? *member->content : read_text(files_, path);
  auto text = options_.field ? field_of(content, path) : std::string(trim(content));
  if (text.empty()) throw Error(Exit::data, "'{}' is empty", path);
  return text;
}

std::string ShardLabels::field_of(const std::string& json, const std::string& what) const {
  const auto whole = nlohmann::json::parse(json, nullptr, false);
  if (whole.is_discarded()) throw Error(Exit::data, "'{}' is not JSON", what);
  const auto* value = &whole;
  for (const auto& key : split(*options_.field, '.')) {
    const bool there = value->is_object() && value->contains(key);
    if (!there)
      throw Error(Exit::data, Option{"data.field"}, "'{}' has no '{}'", what, *options_.field);
    value = &(*value)[key];
  }
  if (value->is_string()) return *value;
  if (value->is_number_integer() || value->is_boolean()) return value->dump();
  throw Error(Exit::data, Option{"data.field"}, "'{}': '{}' is neither a word nor a whole number",
              what, *options_.field);
}

}  // namespace ddptrain
