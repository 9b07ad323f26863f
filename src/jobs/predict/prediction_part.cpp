#include "jobs/predict/prediction_part.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ddptrain {

std::string packed(const PredictionPart& part) {
  std::string text = fmt::format("{}\n{}\n", part.signal, part.errors.size());
  for (const auto& error : part.errors) text += error + "\n";
  return text + part.rows;
}

PredictionPart unpacked(const std::string& text) {
  std::size_t at = 0;
  const auto line = [&] {
    const auto end = text.find('\n', at);
    const auto found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  PredictionPart part;
  part.signal = static_cast<int>(parse_integer(line()).value_or(0));
  part.errors.resize(static_cast<std::size_t>(parse_integer(line()).value_or(0)));
  for (auto& error : part.errors) error = line();
  part.rows = text.substr(at);
  return part;
}

}  // namespace ddptrain
