#include "jobs/model_config.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/shape.h"
#include "models/model.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

Json read_config(const std::string& file) {
  auto json = json_or_null(read_text(file));
  if (!json.is_object()) throw Error(Exit::data, "'{}' is no JSON object", file);
  return json;
}

void require_type(const Json& config, const std::string& type, const std::string& file) {
  const auto found = config.find("model_type");
  const auto there = found != config.end() && found->is_string() ? found->get<std::string>() : "";
  if (there == type) return;
  throw Error(Exit::data, Option{"model.weights"},
              "'{}' has the model_type '{}', and the recipe has '{}'; write the folder of another "
              "model, or its type",
              file, there, type);
}

/// What a config.json calls an option.
std::string key_there(const std::string& option) {
  return option == "vocabulary" ? "vocab_size" : option;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

bool agree(const std::string& here, const std::string& there) {
  const auto a = parse_number(here), b = parse_number(there);
  return a && b ? *a == *b : here == there;
}

/// An option that a recipe leaves to the file, or that must be what the file says.
void settle_option(Node& node, const Shape& option, const Json& value, const std::string& file) {
  const auto* written = node.find(option.key);
  const auto here = written ? written->text : option.initial.text;
  if (option.automatic && here == "auto") {
    node.set(option.key, Node::scalar(text_of(value)));
    return;
  }
  if (agree(here, text_of(value))) return;
  throw Error(Exit::recipe, Option{"model." + option.key}, "'{}' is not what '{}' says: '{}'{}",
              here, file, text_of(value), option.automatic ? "; write 'auto'" : "")
      .at(written ? written->place : Place{});
}

void require_valid(const Node& node, const Shape& shape, const std::string& file) {
  for (const auto& option : shape.children) {
    const auto* value = node.find(option.key);
    if (value == nullptr || value->place.known()) continue;  // what the recipe has was checked
    Shape alone;
    alone.children = {option};
    Node map = Node::map();
    map.set(option.key, *value);
    const auto problems = check(map, alone, {});
    if (!problems.empty())
      throw Error(Exit::data, Option{"model.weights"}, "'{}', {}: {}", file, key_there(option.key),
                  problems.front().message);
  }
}

}  // namespace

void settle_model_config(Choice<Model>& model, const std::string& folder) {
  const auto& entry = *catalog<Model>().find(model.type());
  const auto type = trait_argument(entry, "huggingface");
  const auto file = (fs::path(folder) / "config.json").string();
  if (!type || !fs::is_regular_file(file)) return;
  const auto config = read_config(file);
  require_type(config, *type, file);
  auto node = model.node();
  for (const auto& option : entry.shape().children) {
    const auto found = config.find(key_there(option.key));
    // Probabilities of dropout are of a training, not of a network.
    if (found == config.end() || !(option.automatic || option.kind == Shape::Kind::boolean))
      continue;
    if (found->is_primitive() && !found->is_null()) settle_option(node, option, *found, file);
  }
  require_valid(node, entry.shape(), file);
  model.choose(std::move(node));
  log::info("model: options of {}", file);
}

}  // namespace ddptrain
