#include "callbacks/best.h"

#include "base/error.h"

namespace ddptrain {

double monitored(const RunView& run, const std::string& metric, const std::string& option) {
  const auto name = metric.find('/') == std::string::npos ? "valid/" + metric : metric;
  std::string known;
  for (const auto& [each, value] : run.metrics) {
    if (each == name) return value;
    known += (known.empty() ? "'" : ", '") + each + "'";
  }
  throw Error(Exit::recipe, Option{option}, "'{}' is not among what was evaluated: {}", metric,
              known);
}

BestMode resolve(const Auto<BestMode>& mode, const std::string& metric) {
  if (mode.value) return *mode.value;
  const auto holds = [&](const char* part) { return metric.find(part) != std::string::npos; };
  return holds("loss") || holds("error") ? BestMode::min : BestMode::max;
}

}  // namespace ddptrain
