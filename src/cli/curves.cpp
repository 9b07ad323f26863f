#include "cli/curves.h"

#include <algorithm>

#include "base/text.h"
#include "config/complete.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

/// The innermost optimiser's options, defaults filled in.
Node optimizer_options(const Recipe& recipe, const Catalogs& catalogs) {
  auto node = complete_component(recipe.optimizer.node(), "optimizer", catalogs);
  for (const Node* inner = node.find("inner"); inner; inner = node.find("inner")) {
    Node next = complete_component(*inner, "optimizer", catalogs);
    node = std::move(next);
  }
  return node;
}

double rate_of(const Node& lr) {
  const auto* number = lr.is_map() ? lr.find("to") : &lr;
  return number ? parse_number(number->text).value_or(0) : 0;
}

/// What a schedule may cycle: `momentum`, where it is not 0, or the first beta.
std::optional<double> momentum_of(const Node& options) {
  const auto* momentum = options.find("momentum");
  if (momentum && momentum->is_scalar()) {
    const auto number = parse_number(momentum->text);
    return number == 0.0 ? std::nullopt : number;
  }
  const auto* betas = options.find("betas");
  if (betas && !betas->items.empty()) return parse_number(betas->items.front().text);
  return {};
}

}  // namespace

ScheduleContext optimizer_rates(const Recipe& recipe, const Catalogs& catalogs) {
  const auto options = optimizer_options(recipe, catalogs);
  return {rate_of(*options.find("lr")), momentum_of(options)};
}

std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points) {
  const auto own = optimizer_rates(recipe, catalogs);
  const auto plan = plan_rates(recipe, length, own);
  std::vector<RatesAt> rates;
  const auto last = length.total - 1;
  const auto count = std::min(points, length.total);
  for (std::int64_t i = 0; i < count; ++i) {
    rates.push_back(plan.at(count == 1 ? last : i * last / (count - 1)));
    if (!rates.back().momentum) rates.back().momentum = own.momentum;
  }
  return rates;
}

}  // namespace ddptrain
