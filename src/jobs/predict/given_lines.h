// Texts of stdin as inputs of a run of texts.
#pragma once

#include <memory>

#include "data/text/text_lines.h"
#include "jobs/predict/prediction_input.h"

namespace ddptrain {

class GivenLines {
 public:
  /// An Error (Exit::recipe) where a text of this run has several fields.
  GivenLines(const Recipe& recipe, const SavedData& saved);
  PredictionInput input(std::shared_ptr<const NumberedLines> lines) const;

 private:
  std::function<std::string(const std::string&)> text_of_;
  std::shared_ptr<const LineTexts> texts_;
};

}  // namespace ddptrain
