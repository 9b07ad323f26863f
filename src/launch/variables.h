// Variables of one launcher, read strictly.
#pragma once

#include <functional>
#include <string>

namespace ddptrain {

/// The value of a variable, null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// What is wrong with a value is an Error (Exit::recipe) that names the variable.
class Variables {
 public:
  Variables(const Environment& environment, std::string launcher)
      : environment_(environment), launcher_(std::move(launcher)) {}

  /// Set, and not empty.
  bool has(const char* name) const { return !text(name).empty(); }
  /// Empty where it is not set.
  std::string text(const char* name) const;
  std::string required(const char* name) const;
  /// A whole number from 0.
  int number(const char* name, int most = 1'000'000) const;
  int number_or(const char* name, int otherwise) const {
    return has(name) ? number(name) : otherwise;
  }
  /// The first of `names` that is set; empty: none.
  std::string first_of(std::initializer_list<const char*> names) const;

  const std::string& launcher() const { return launcher_; }

 private:
  const Environment& environment_;
  std::string launcher_;
};

}  // namespace ddptrain
