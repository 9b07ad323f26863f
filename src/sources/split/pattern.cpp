#include "sources/split/pattern.h"

#include <re2/re2.h>

#include "base/error.h"

namespace ddptrain {

std::string Pattern::lacks_for_group(const std::string& text) {
  const re2::RE2 expression(text, re2::RE2::Quiet);
  if (!expression.ok()) return "is not a regular expression: " + expression.error();
  return expression.NumberOfCapturingGroups() == 0 ? "has no group ( )" : "";
}

Pattern::Pattern(const std::string& text)
    : expression_(std::make_unique<re2::RE2>(text, re2::RE2::Quiet)) {
  DDP_CHECK(expression_->ok(), "'" + text + "': " + expression_->error());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

bool Pattern::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

std::optional<std::string> Pattern::first_group(std::string_view text) const {
  std::string group;
  if (re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_, &group))
    return group;
  return {};
}

}  // namespace ddptrain
