// Where a text ends because of what it says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Texts that end another one, wherever they begin and end in the pieces that it comes in.
class StopTexts {
 public:
  /// None may be empty.
  explicit StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  /// What of the text can be shown with a further piece: all up to the first stop text, which is
  /// left out, or else up to what may be the beginning of one. Not after stopped().
  std::string add(std::string_view piece);
  /// What was held back, when no piece follows.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace ddptrain
