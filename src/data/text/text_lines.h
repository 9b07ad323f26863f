// Texts in memory, to be predicted: lines that a user types or pipes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "sources/text/numericalize.h"
#include "sources/text/text_options.h"
#include "text/tokenizer.h"

namespace ddptrain {

/// Consecutive lines; the first one's number counts from 1.
struct NumberedLines {
  std::int64_t first = 1;
  std::vector<std::string> texts;
};

/// What samples are called in predictions: Dataset::name_kind().
inline constexpr const char* kLineName = "line";

/// Builds the tokenizer once, for as many datasets of lines as there are.
class LineTexts {
 public:
  /// `context` has the vocabulary and the classes of a checkpoint.
  LineTexts(const TextOptions& options, InvalidUtf8 invalid_utf8, const DataContext& context);
  ~LineTexts();

  /// A validation sample for each line, named by its number. Loading one that is not UTF-8 text, or
  /// has no token, throws an Error (Exit::data).
  std::unique_ptr<Dataset> dataset(const NumberedLines& lines) const;

 private:
  std::unique_ptr<Tokenizer> tokenizer_;
  PaddingOptions padding_;
  NumericalizeOptions how_;
  std::vector<std::string> classes_;
};

}  // namespace ddptrain
