#include "recipe/rules/rule_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/complete.h"
#include "config/decode.h"
#include "config/encode.h"
#include "recipe/layers/address.h"

namespace ddptrain {

RuleContext::RuleContext(const Recipe& r, const Node& t, const Catalogs& c, Problems& problems)
    : recipe(r),
      tree(t),
      catalogs(c),
      data(decode<DataSection>(r.data.node())),
      problems_(problems) {}

void RuleContext::report(Severity severity, const std::string& path,
                         const std::string& message) const {
  if (problems_.size() > kMostProblems + 1) return;  // no more are shown, and places take time
  problems_.push_back({severity, std::string(id_), nearest_place(tree, path), path, message});
}

void RuleContext::error(const std::string& path, const std::string& message) const {
  report(Severity::error, path, message);
}

void RuleContext::warn(const std::string& path, const std::string& message) const {
  report(Severity::warning, path, message);
}

void RuleContext::add(const Problems& more) const {
  problems_.insert(problems_.end(), more.begin(), more.end());
}

const EntryBase* RuleContext::entry(const ChoiceBase& choice) const {
  const auto catalog = catalogs.find(choice.kind());
  return catalog == catalogs.end() ? nullptr : catalog->second->find(choice.type());
}

bool RuleContext::has(const ChoiceBase& choice, std::string_view trait) const {
  const auto* known = entry(choice);
  return known && known->has(trait);
}

const Shape* RuleContext::option(const ChoiceBase& choice, std::string_view key) const {
  const auto* known = entry(choice);
  if (!known) return nullptr;
  const auto& options = known->shape().children;
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Shape& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

const Node* RuleContext::value(const ChoiceBase& choice, std::string_view key) const {
  const auto* value = choice.node().find(key);
  if (!value) {
    const auto* shape = option(choice, key);
    value = shape ? &shape->initial : nullptr;
  }
  return value && !value->is_null() ? value : nullptr;
}

bool RuleContext::is_asked(const ChoiceBase& choice, std::string_view key) const {
  const auto* written = choice.node().find(key);
  const auto* shape = written ? option(choice, key) : nullptr;
  return shape && to_yaml(complete(*written, *shape, catalogs)) !=
                      to_yaml(complete(shape->initial, *shape, catalogs));
}

Place nearest_place(const Node& tree, std::string path) {
  while (!path.empty()) {
    if (auto place = place_of(tree, path); place.known()) return place;
    const auto dot = path.rfind('.');
    path = dot == std::string::npos ? "" : path.substr(0, dot);
  }
  return tree.place;
}

std::optional<double> number_of(const Node* value) {
  return value && value->is_scalar() ? parse_number(value->text) : std::nullopt;
}

std::optional<Duration> duration_of(const Node* value) {
  Duration duration;
  std::string why;
  if (!value || !value->is_scalar() || !parse(*value, duration, why)) return {};
  return duration;
}

std::string text_of(const Node* value) {
  return value && value->is_scalar() ? value->text : std::string();
}

bool is_true(const Node* value) { return text_of(value) == "true"; }

std::vector<const Node*> items_of(const Node* value) {
  if (!value || value->is_null()) return {};
  if (!value->is_list()) return {value};
  std::vector<const Node*> items;
  for (const auto& item : value->items) items.push_back(&item);
  return items;
}

std::string indexed(const std::string& list, std::size_t index) {
  return fmt::format("{}[{}]", list, index);
}

std::vector<NestedChoice> nested(const RuleContext& rule, const ChoiceBase& choice,
                                 const std::string& path) {
  return with_nested(choice, path, rule.catalogs);
}

std::vector<NestedChoice> written_losses(const RuleContext& rule) {
  const auto& loss = rule.recipe.loss.value;
  return loss ? nested(rule, *loss, "loss") : std::vector<NestedChoice>();
}

InnerOptimizer inner_optimizer(const Recipe& recipe) {
  InnerOptimizer found{recipe.optimizer, "optimizer"};
  for (const auto* inner = recipe.optimizer.node().find("inner"); inner && !inner->is_null();
       inner = found.choice.node().find("inner")) {
    const Node node = *inner;  // the choice that holds it is about to change
    found.choice.choose(node);
    found.path += ".inner";
  }
  return found;
}

std::optional<double> rate_of(const RuleContext& rule) {
  const auto optimizer = inner_optimizer(rule.recipe).choice;
  if (rule.value(optimizer, "lr_batch")) return {};
  const auto* lr = rule.value(optimizer, "lr");
  return number_of(lr && lr->is_map() ? lr->find("to") : lr);
}

std::optional<Duration> whole_run(const Recipe& recipe) {
  const auto stages = stages_of(recipe);
  auto whole = stages.front().duration;
  for (std::size_t i = 1; i < stages.size(); ++i) {
    if (stages[i].duration.unit != whole.unit) return {};
    whole.count += stages[i].duration.count;
  }
  return whole;
}

bool is_longer(const Duration& a, const Duration& b) {
  return a.unit == b.unit && a.count > b.count;
}

std::optional<double> part_of(const Duration& duration, const Duration& run) {
  if (duration.unit == Duration::Unit::share) return duration.count;
  if (duration.unit != run.unit) return {};
  return duration.count / run.count;
}

}  // namespace ddptrain
