// Values of samples that became "unknown", since what was fitted has no number for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"

namespace ddptrain {

enum class Split;

struct UnknownValues {
  std::string column;        // empty: words of texts
  std::string read_as = {};  // "#na#", "xxunk"
  std::int64_t values = 0;   // how many
  std::int64_t of = 0;       // of how many
  std::int64_t samples = 0;  // that have such a value
};

/// What a dataset with fitted words or categories is as well.
class CountsUnknown {
 public:
  virtual ~CountsUnknown() = default;
  /// Of the samples of a split, column by column; nothing where all is known.
  virtual std::vector<UnknownValues> unknown(Split split) const = 0;
};

/// Of any dataset; nothing where it fits neither words nor categories.
template <class Dataset>
std::vector<UnknownValues> unknown_values(const Dataset& data, Split split) {
  const auto* counts = dynamic_cast<const CountsUnknown*>(&data);
  return counts ? counts->unknown(split) : std::vector<UnknownValues>();
}

/// "column 'city': 3 of 20 samples (15.0 %) have a value that no training sample had: ..."
inline std::string to_text(const UnknownValues& unknown) {
  const auto share = 100 * static_cast<double>(unknown.values) / static_cast<double>(unknown.of);
  const auto percent = " (" + format_fixed(share, share < 1 ? 2 : 1) + " %)";
  const auto count = std::to_string(unknown.values) + " of ";
  if (unknown.column.empty())
    return count + plural(unknown.of, "token") + percent + ", in " +
           plural(unknown.samples, "text") + ", are no words of the model's vocabulary: read as '" +
           unknown.read_as + "'";
  return "column '" + unknown.column + "': " + count + plural(unknown.of, "sample") + percent +
         " have a value that no training sample had: read as '" + unknown.read_as +
         "', which is missing";
}

}  // namespace ddptrain
