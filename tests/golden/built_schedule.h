// A schedule of a golden case.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "schedules/schedule.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {

inline std::string in_steps(const nlohmann::json& count) {
  return std::to_string(count.get<int>()) + " steps";
}

inline std::unique_ptr<Schedule> built_schedule(const nlohmann::json& recipe, double lr,
                                                double momentum = 0.9) {
  return catalog<Schedule>().build(fragment<Schedule>(recipe), ScheduleContext{lr, momentum});
}

/// The recipe with options of the input under their own names.
inline nlohmann::json with_keys(nlohmann::json recipe, const nlohmann::json& input,
                                const std::map<std::string, std::string>& keys) {
  for (const auto& [theirs, ours] : keys)
    if (input.contains(theirs)) recipe[ours] = input.at(theirs);
  return recipe;
}

}  // namespace ddptrain::golden
