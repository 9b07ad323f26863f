#include "recipe/eval_splits.h"

namespace ddptrain {

std::string split_path(const std::string& name) {
  return name == kTestSplit ? "eval.test" : "eval.splits." + name;
}

std::vector<SplitSection> split_sections(const Recipe& recipe) {
  std::vector<SplitSection> sections;
  const auto add = [&](const std::string& name, const Choice<Dataset>& data) {
    sections.push_back({name, split_path(name), data});
  };
  for (const auto& [name, data] : recipe.eval.splits) add(name, data);
  if (recipe.eval.test) add(std::string(kTestSplit), *recipe.eval.test);
  return sections;
}

void set_split(Recipe& recipe, const SplitSection& section) {
  if (section.name == kTestSplit)
    recipe.eval.test = section.data;
  else
    recipe.eval.splits.at(section.name) = section.data;
}

void drop_splits(Recipe& recipe) {
  recipe.eval.splits.clear();
  recipe.eval.test.reset();
}

std::string samples_of(std::string prefix) {
  for (const std::string_view end : {"_tta", "_ema", "_swa"})
    if (prefix.ends_with(end)) {
      prefix.resize(prefix.size() - end.size());
      if (end != "_tta") break;
    }
  return prefix;
}

}  // namespace ddptrain
