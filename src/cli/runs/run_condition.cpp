#include "cli/runs/run_condition.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

using Relation = RunCondition::Relation;

// Longer ones first: "<=" is no "<".
constexpr std::array<std::pair<std::string_view, Relation>, 7> kSigns{{{"!=", Relation::unequal},
                                                                       {"<=", Relation::at_most},
                                                                       {">=", Relation::at_least},
                                                                       {"==", Relation::equal},
                                                                       {"=", Relation::equal},
                                                                       {"<", Relation::less},
                                                                       {">", Relation::more}}};

RunCondition read_condition(const std::string& text) {
  const auto at = text.find_first_of("=!<>");
  for (const auto& [sign, relation] : kSigns)
    if (at != std::string::npos && at > 0 && text.compare(at, sign.size(), sign) == 0) {
      const std::string value(trim(text.substr(at + sign.size())));
      if (value.empty() || value.find_first_of("=<>") == 0) break;
      return {std::string(trim(text.substr(0, at))), relation, value};
    }
  throw Error(
      Exit::recipe,
      "--where: '{}' is no condition; write 'state=done', 'optimizer.lr>=1e-3' or 'valid/loss<0.5'",
      text);
}

bool compare(Relation relation, double a, double b) {
  switch (relation) {
    case Relation::equal:
      return a == b;
    case Relation::unequal:
      return a != b;
    case Relation::less:
      return a < b;
    case Relation::at_most:
      return a <= b;
    case Relation::more:
      return a > b;
    case Relation::at_least:
      return a >= b;
  }
  return false;
}

}  // namespace

std::vector<RunCondition> read_conditions(const std::string& text) {
  std::vector<RunCondition> conditions;
  for (const auto& part : split(text, ',')) conditions.push_back(read_condition(part));
  return conditions;
}

bool holds(const RunCondition& condition, const RunCell& cell) {
  if (cell.text.empty()) return condition.relation == Relation::unequal;
  const auto number = parse_number(condition.value);
  if (number && cell.number) return compare(condition.relation, *cell.number, *number);
  if (condition.relation == Relation::unequal) return cell.text != condition.value;
  return condition.relation == Relation::equal && cell.text == condition.value;
}

}  // namespace ddptrain
