// How shells write tables of words, and the functions that complete with them.
#pragma once

#include <string>

namespace ddptrain {

/// One shell's syntax: a function that prints the words of the case that its argument names.
struct Shell {
  virtual ~Shell() = default;
  virtual std::string open(const std::string& function) const = 0;
  virtual std::string row(const std::string& name, const std::string& words) const = 0;
  virtual std::string close() const = 0;
  virtual std::string head() const = 0;  // before the tables
  virtual std::string body() const = 0;  // after them
};

/// bash, zsh or fish; null for others.
const Shell* find_shell(const std::string& name);

}  // namespace ddptrain
