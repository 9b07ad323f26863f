// `eval.samples`: texts that a language model writes at each evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/units.h"
#include "recipe/sampling_options.h"

namespace ddptrain {

/// Named as the flags of `generate`.
struct SamplesSpec {
  static constexpr std::int64_t kDocuments = 3;
  static constexpr std::int64_t kTokens = 64;

  Auto<std::vector<std::string>> prompts;  // auto: beginnings of the first validation documents
  std::optional<std::int64_t> count;       // of those documents; null: kDocuments
  Auto<std::int64_t> tokens;               // auto: kTokens, or as many as fit
  SamplingOptions sampling;                // its options stand next to the others
  std::int64_t seed = 0;
  std::optional<std::string> stop;
  static constexpr std::string_view shorthand = "count";
  static constexpr std::string_view list_shorthand = "prompts";
  void fields(Fields& f);
};

}  // namespace ddptrain
