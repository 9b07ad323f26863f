// What a rule refuses, it refuses inside another component too: a loss of a sum, the optimizer
// that lookahead wraps, one mix of several.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "cli/laid_over.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/layers/nested.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// A component with an option that takes a component of its own kind, or a list of them.
struct Wrapper {
  std::string kind, type, option;
  bool list = false;
  Node around(const Node& inside) const {
    return Node::map(
        {{"type", {}, Node::scalar(type)}, {option, {}, list ? Node::list({inside}) : inside}});
  }
};

/// Without models: a body is a part of another model, not that model.
std::vector<Wrapper> wrappers() {
  std::vector<Wrapper> found;
  for (const auto& [kind, catalog] : all_catalogs())
    for (std::size_t i = 0; kind != "model" && i < catalog->size(); ++i)
      for (const auto& option : catalog->at(i).shape().children) {
        const bool list = option.kind == Shape::Kind::list;
        const auto& shape = list ? option.children[0] : option;
        if (shape.kind == Shape::Kind::component && shape.component == kind)
          found.push_back({kind, catalog->at(i).name, option.key, list});
      }
  return found;
}

Node* at(Node& tree, const std::string& path) {
  Node* node = &tree;
  for (const auto& step : split(path, '.')) node = node ? node->find(step) : nullptr;
  return node;
}

/// Rules about what muon is for the whole model, not the optimizer of its other parameters.
bool is_about_the_first(const Rule& rule) {
  static const std::vector<std::string_view> ids{
      "batch",           "momentum-cycle", "nothing-to-schedule", "min-lr",       "callback-min-lr",
      "lookahead-twice", "lr-scaling",     "momentum-schedule",   "offload-state"};
  return std::find(ids.begin(), ids.end(), rule.id) != ids.end();
}

class Nested : public test::LaidOver {
 protected:
  /// Whether the rule fires where a component of what breaks it stands inside another one.
  void expect_broken(const Rule& rule, const Wrapper& wrapper, const std::string& path) {
    auto tree = laid_over(rule.wrong).tree;
    auto* node = at(tree, path);
    ASSERT_TRUE(node) << path;
    *node = wrapper.around(*node);
    write_atomically(fragment(), to_yaml(tree));
    const auto problems = load_recipe({fragment()}, {}, all_catalogs()).problems;
    EXPECT_TRUE(std::any_of(problems.begin(), problems.end(),
                            [&](const Problem& problem) { return problem.rule == rule.id; }))
        << rule.id << " inside " << wrapper.type << "." << wrapper.option << "\n"
        << to_yaml(*node) << render(problems);
  }
};

TEST_F(Nested, EveryRuleLooksInside) {
  int tried = 0;
  for (const auto& rule : all_rules()) {
    auto written = read_yaml(rule.wrong, "wrong.yaml").tree;
    for (const auto& [choice, path] : all_choices(laid_over(rule.wrong).tree, all_catalogs())) {
      if (path.find('[') != std::string::npos || !at(written, path)) continue;
      for (const auto& wrapper : wrappers()) {
        if (wrapper.kind != choice.kind()) continue;
        if (wrapper.type == "muon" && is_about_the_first(rule)) continue;
        expect_broken(rule, wrapper, path);
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 20);
}

TEST_F(Nested, AtAnyDepth) {
  const auto problems =
      laid_over(
          "loss: {type: combined, losses: [cross_entropy, {type: combined, losses: "
          "[{type: fastai_label_smoothing, weight: [1, 2]}]}]}")
          .problems;
  ASSERT_EQ(problems.size(), 1u) << render(problems);
  EXPECT_EQ(problems[0].rule, "loss-weight");
  EXPECT_EQ(problems[0].path, "loss.losses[1].losses[0].weight");
}

TEST_F(Nested, LayersDecideWhetherThereIsBatchNorm) {
  const std::string parallel = "parallel: {mode: ddp, devices: 2, sync_bn: true}\n";
  const auto rules = [&](const std::string& layers) {
    std::vector<std::string> ids;
    for (const auto& problem :
         laid_over(parallel + "model: {type: sequential, layers: [" + layers + "]}").problems)
      ids.push_back(problem.rule);
    return ids;
  };
  EXPECT_EQ(rules("{type: conv, out: 8}, flatten, linear"), std::vector<std::string>{"sync-bn"});
  EXPECT_EQ(rules("{type: conv, out: 8}, batch_norm, flatten, linear"), std::vector<std::string>{});
}

}  // namespace
}  // namespace ddptrain
