// Regular expressions as recipes write them (RE2's syntax, searched for anywhere in the text).
// Torch-free.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace ddptrain {

class Pattern {
 public:
  /// Throws an Error (Exit::recipe) that names `option` where the text is no regular expression.
  Pattern(const std::string& text, const std::string& option);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// How many groups ( ) it has.
  int groups() const;
  bool matches(std::string_view text) const;
  /// What the first group holds of the first match; nothing without a match. It must have a group.
  std::optional<std::string> first_group(std::string_view text) const;

 private:
  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace ddptrain
