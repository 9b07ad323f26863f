// `diff A B [key=value...]`: what differs between two recipes after layering.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "config/complete.h"
#include "config/encode.h"
#include "recipe/layers/option.h"
#include "recipe/load/load.h"
#include "recipe/load/origins.h"
#include "recipe/run_folders.h"

namespace ddptrain {
namespace {

constexpr int kDifferent = 1;  // as diff(1) says it; 0 is equal, 2 a recipe that is wrong

/// Whether a layer wrote the value or anything in it.
bool is_written(const Node& node) {
  return node.place.known() || std::any_of(node.items.begin(), node.items.end(), is_written) ||
         std::any_of(node.members.begin(), node.members.end(),
                     [](const Member& member) { return is_written(member.value); });
}

/// Without what is there by default.
Node written_part(const Node& node) {
  Node part = node;
  std::erase_if(part.members, [](const Member& member) { return !is_written(member.value); });
  for (auto& member : part.members) member.value = written_part(member.value);
  for (auto& item : part.items) item = written_part(item);
  return part;
}

/// A list item by its type and how many of that type stand before it.
struct Item {
  std::string type;
  std::ptrdiff_t before = 0;
  const Node* node = nullptr;
  std::string name;
  bool matches(const Item& other) const { return type == other.type && before == other.before; }
};

std::vector<Item> items_of(const Node& list) {
  std::vector<Item> items;
  const auto names = item_names(list);
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto* type = list.items[i].find("type");
    Item item{type ? type->text : "", 0, &list.items[i], names[i]};
    item.before = std::count_if(items.begin(), items.end(),
                                [&](const Item& other) { return other.type == item.type; });
    items.push_back(std::move(item));
  }
  return items;
}

const Item* find_match(const std::vector<Item>& items, const Item& wanted) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const Item& item) { return item.matches(wanted); });
  return found == items.end() ? nullptr : &*found;
}

bool holds_maps(const Node& list) {
  return list.is_list() && std::any_of(list.items.begin(), list.items.end(),
                                       [](const Node& item) { return item.is_map(); });
}

class Comparison {
 public:
  Comparison(bool full, const std::vector<std::string>& overrides)
      : full_(full), overrides_(overrides) {}

  void values(const std::string& path, const Node* a, const Node* b) {
    if (a && b && to_flow(*a) == to_flow(*b)) return;
    if (a && b && a->is_map() && b->is_map()) return maps(path, *a, *b);
    if (a && b && a->is_list() && b->is_list() && (holds_maps(*a) || holds_maps(*b)))
      return lists(path, *a, *b);
    const bool only_default = !(a && is_written(*a)) && !(b && is_written(*b));
    if (full_ || !only_default)
      lines.push_back(fmt::format("{}: {} -> {}", path, side(a, {}), side(b, overrides_)));
  }

  std::vector<std::string> lines;

 private:
  void maps(const std::string& path, const Node& a, const Node& b) {
    const auto inner = [&](const std::string& key) {
      return path.empty() ? key : path + "." + key;
    };
    for (const auto& member : a.members)
      values(inner(member.key), &member.value, b.find(member.key));
    for (const auto& member : b.members)
      if (!a.find(member.key)) values(inner(member.key), nullptr, &member.value);
  }

  void lists(const std::string& path, const Node& a, const Node& b) {
    const auto before = items_of(a), after = items_of(b);
    std::vector<std::string> order_before, order_after;
    for (const auto& item : before) {
      const auto* match = find_match(after, item);
      values(fmt::format("{}[{}]", path, item.name), item.node, match ? match->node : nullptr);
      if (match) order_before.push_back(item.name);
    }
    for (const auto& item : after) {
      const auto* match = find_match(before, item);
      if (!match) values(fmt::format("{}[{}]", path, item.name), nullptr, item.node);
      if (match) order_after.push_back(match->name);
    }
    if (order_before != order_after)
      lines.push_back(fmt::format("{}: order {} -> {}", path, join(order_before, ", "),
                                  join(order_after, ", ")));
  }

  std::string side(const Node* value, const std::vector<std::string>& overrides) const {
    if (!value) return "none";
    const auto shown = full_ || !is_written(*value) ? *value : written_part(*value);
    return fmt::format("{} ({})", to_flow(shown), origin_of(value->place, overrides));
  }

  bool full_;
  const std::vector<std::string>& overrides_;
};

/// A run folder stands for the recipe that it keeps.
std::string recipe_file(const std::string& word) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(word)) return word;
  auto file = (fs::path(word) / kRecipeYaml).lexically_normal();
  if (!fs::exists(file)) throw no_run_folder(word, Exit::recipe);
  return file.string();
}

/// Nothing where the recipe is wrong, which was then printed.
std::optional<Node> read_side(const std::string& word, const std::vector<std::string>& overrides,
                              const Catalogs& catalogs) {
  const auto loaded = load_recipe({recipe_file(word)}, overrides, catalogs);
  if (say_problems(loaded.problems)) return {};
  return normal(completed(loaded, catalogs), recipe_shape(), catalogs);
}

int diff(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (words.files.size() != 2)
    throw Error(Exit::recipe,
                "usage: ddptrain diff A B [key=value...]; A and B are recipes or run folders");
  const auto& catalogs = *arguments.program->catalogs;
  const auto a = read_side(words.files[0], {}, catalogs);
  const auto b = read_side(words.files[1], words.overrides, catalogs);
  if (!a || !b) return static_cast<int>(Exit::recipe);
  Comparison comparison(arguments.has("--full"), words.overrides);
  comparison.values("", &*a, &*b);
  for (const auto& line : comparison.lines) print_shown("%s\n", line.c_str());
  return comparison.lines.empty() ? 0 : kDifferent;
}

}  // namespace

Verb diff_verb() {
  return {.name = "diff",
          .usage = "A B [key=value...]",
          .summary =
              "what differs between two recipes or run folders; key=value changes B; exits 1 where "
              "they differ",
          .flags = {{"--full", "", "also defaults, where the two name different components"}},
          .min_words = 2,
          .run = diff};
}

}  // namespace ddptrain
