// Regular expressions as recipes write them (RE2's syntax, searched for anywhere in the text).
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
  /// What a text lacks to be a regular expression with a group ( ), "has no group ( )"; empty where
  /// it is one.
  static std::string lacks_for_group(const std::string& text);

  /// Of a text that is a regular expression, as the option's TextForm asks.
  explicit Pattern(const std::string& text);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  bool matches(std::string_view text) const;
  /// What the first group holds of the first match; nothing without a match. It must have a group.
  std::optional<std::string> first_group(std::string_view text) const;

 private:
  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace ddptrain
