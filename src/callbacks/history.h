// What of a run's files is still true at a step that it is resumed or continued from. Torch-free.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

/// Of metrics.csv the header and the rows up to a step.
struct KeptRows {
  std::string header;    // empty: there is none
  std::string text;      // header and rows
  bool shorter = false;  // rows of later steps were left out
};
KeptRows rows_until(const std::string& text, std::int64_t step);

/// Of events.jsonl the lines up to a step.
std::string events_until(const std::string& text, std::int64_t step);

}  // namespace ddptrain
