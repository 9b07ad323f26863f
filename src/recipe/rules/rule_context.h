// What a rule reads, and where it reports.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/catalog.h"
#include "config/problem.h"
#include "config/shape.h"
#include "recipe/data_section.h"
#include "recipe/layers/nested.h"
#include "recipe/recipe.h"

namespace ddptrain {

class RuleContext {
 public:
  /// All must outlive the context.
  RuleContext(const Recipe& recipe, const Node& tree, const Catalogs& catalogs, Problems& problems);

  const Recipe& recipe;
  const Node& tree;
  const Catalogs& catalogs;
  const DataSection data;  // what every dataset has of recipe.data

  /// As written, or settled by what is; empty where only the data tell.
  std::vector<Choice<Metric>> metrics() const {
    return recipe.metrics.value.value_or(std::vector<Choice<Metric>>{});
  }

  /// The id under which the next problems are reported.
  void report_as(std::string_view id) { id_ = id; }
  void error(const std::string& path, const std::string& message) const;
  void warn(const std::string& path, const std::string& message) const;
  /// The same with a format and its arguments; a message without is text as it is.
  template <class First, class... Rest>
  void error(const std::string& path, fmt::format_string<First, Rest...> format, First&& first,
             Rest&&... rest) const {
    error(path, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  template <class First, class... Rest>
  void warn(const std::string& path, fmt::format_string<First, Rest...> format, First&& first,
            Rest&&... rest) const {
    warn(path, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  /// The same problems, if any, with places and ids of their own.
  void add(const Problems& more) const;

  /// What the catalog says of a component; null where it says nothing.
  const EntryBase* entry(const ChoiceBase& choice) const;
  bool has(const ChoiceBase& choice, std::string_view trait) const;
  /// An option as written, or else its default; null where the component has none or it is null.
  const Node* value(const ChoiceBase& choice, std::string_view key) const;
  /// Whether an option differs from its default: a resolved recipe writes every default, so only
  /// other values count as asked for.
  bool is_asked(const ChoiceBase& choice, std::string_view key) const;

 private:
  void report(Severity severity, const std::string& path, const std::string& message) const;
  const Shape* option(const ChoiceBase& choice, std::string_view key) const;

  Problems& problems_;
  std::string_view id_;
};

/// The place of an option ("optimizer.lr"), or of what holds it where it is not written.
Place nearest_place(const Node& tree, std::string path);

/// Options that may be absent (null), as plain values; nothing where they are no such thing.
std::optional<double> number_of(const Node* value);
std::optional<Duration> duration_of(const Node* value);
std::string text_of(const Node* value);
bool is_true(const Node* value);
/// The items of a list, a lone value as one item, nothing for null.
std::vector<const Node*> items_of(const Node* value);

/// A choice out of a node of the tree, such as an inner optimizer or a transform of a list.
template <class T>
Choice<T> choice_of(const Node& node) {
  Choice<T> choice;
  choice.choose(node);
  return choice;
}

std::string indexed(const std::string& list, std::size_t index);  // "callbacks[2]"

/// What a section chooses and every component inside it, at any depth.
std::vector<NestedChoice> nested(const RuleContext& rule, const ChoiceBase& choice,
                                 const std::string& path);
/// The loss as written and those inside it; none where the data decides.
std::vector<NestedChoice> written_losses(const RuleContext& rule);

/// The optimizer itself where others wrap it (lookahead), and its dotted path.
struct InnerOptimizer {
  Choice<Optimizer> choice;
  std::string path;
};
InnerOptimizer inner_optimizer(const Recipe& recipe);

/// The rate of the last layer group as the recipe or the optimizer's default has it; nothing where
/// it depends on the batch.
std::optional<double> rate_of(const RuleContext& rule);

/// How long all stages are together, where their units are the same.
std::optional<Duration> whole_run(const Recipe& recipe);

/// Whether a is longer than b, where their units can be compared.
bool is_longer(const Duration& a, const Duration& b);
/// Which part of a run of `run` a duration takes, where units can be compared.
std::optional<double> part_of(const Duration& duration, const Duration& run);

}  // namespace ddptrain
