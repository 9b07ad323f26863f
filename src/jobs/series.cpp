#include "jobs/series.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/shape.h"
#include "data/dataset.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostRuns = 1000;

std::int64_t count_of(const Arguments& arguments, const Flag& flag, const std::string& noun) {
  const auto text = arguments.value(flag.name);
  const auto count = parse_integer(text);
  if (!count || *count < 2 || *count > kMostRuns)
    throw Error(Exit::recipe, "{}: '{}' is not a number of {} from 2 to {}", flag.name, text, noun,
                kMostRuns);
  return *count;
}

/// Without looking at problems, which are reported when the recipe of a run is loaded.
Loaded load(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  return load_recipe(words.files, words.overrides, all_catalogs());
}

RunSeries seeds(const Arguments& arguments) {
  const auto count = count_of(arguments, kRepeat, "runs");
  const auto first = load(arguments).recipe.seed;
  RunSeries series{"seed", {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto seed = std::to_string(first + i);
    series.members.push_back({seed, {"seed=" + seed}});
  }
  return series;
}

const Shape* child(const Shape& record, std::string_view key) {
  const auto found = std::find_if(record.children.begin(), record.children.end(),
                                  [&](const Shape& option) { return option.key == key; });
  return found == record.children.end() ? nullptr : &*found;
}

void require_folds(const Node& data) {
  const auto* type = data.is_map() ? data.find("type") : &data;
  const auto* entry = type ? catalog<Dataset>().find(type->text) : nullptr;
  if (!entry) return;  // loading says what is wrong
  const auto* valid = child(entry->shape(), "valid");
  if (!valid || !child(*valid, "fold"))
    throw Error(
        Exit::recipe,
        "--folds: data '{}' has no 'valid.fold'; its held-out samples are a part of their own",
        type->text);
}

Node* descend(Node* from, std::string_view key) {
  return from && from->is_map() ? from->find(key) : nullptr;
}

/// `data.valid` with nothing but what says how folds are made.
Node fold_section(Node& tree, const Arguments& arguments) {
  auto* valid = descend(descend(&tree, "data"), "valid");
  auto section = Node::map(), fold = Node::map();
  section.set("fraction", Node::scalar("null"));
  if (const auto* seed = descend(valid, "seed")) section.set("seed", *seed);
  const auto* written = descend(valid, "fold");
  if (written && written->is_map()) fold = *written;
  if (arguments.has(kFoldBy.name)) {
    const auto by = arguments.value(kFoldBy.name);
    fold.set("by", Node::scalar(by));
    if (by != "groups") fold.set("groups", Node::scalar("null"));
  }
  section.set("fold", std::move(fold));
  return section;
}

RunSeries folds(const Arguments& arguments) {
  const auto count = count_of(arguments, kFolds, "folds");
  auto tree = load(arguments).tree;
  if (const auto* data = descend(&tree, "data")) require_folds(*data);
  auto section = fold_section(tree, arguments);
  RunSeries series{"fold", {}};
  for (std::int64_t i = 0; i < count; ++i) {
    auto* fold = descend(&section, "fold");
    fold->set("index", Node::scalar(std::to_string(i)));
    fold->set("of", Node::scalar(std::to_string(count)));
    series.members.push_back(
        {std::to_string(i + 1), {"data.valid=null", "data.valid=" + to_flow(section)}});
  }
  return series;
}

}  // namespace

bool asks_for_several(const Arguments& arguments) {
  const bool folded = arguments.has(kFolds.name);
  if (folded && arguments.has(kRepeat.name))
    throw Error(Exit::recipe,
                "--folds and --repeat exclude each other; '--folds' with another 'seed=' repeats "
                "all folds");
  if (arguments.has(kFoldBy.name) && !folded)
    throw Error(Exit::recipe, "--fold-by needs --folds, the number of folds");
  return folded || arguments.has(kRepeat.name);
}

RunSeries series_of(const Arguments& arguments) {
  return arguments.has(kFolds.name) ? folds(arguments) : seeds(arguments);
}

bool is_result(int code) {
  return code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect) ||
         code == static_cast<int>(Exit::non_finite);
}

int worse(int a, int b) {
  const auto weight = [](int code) {
    if (!is_result(code)) return 3;
    if (code == static_cast<int>(Exit::non_finite)) return 2;
    return code == static_cast<int>(Exit::expect) ? 1 : 0;
  };
  return weight(b) > weight(a) ? b : a;
}

}  // namespace ddptrain
