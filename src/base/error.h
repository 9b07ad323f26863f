// The two kinds of failure: what a person wrote or a machine did is an Error with a message for
// that person; what only a bug can cause is a DDP_CHECK that aborts with the expression.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ddptrain {

/// A place in a file or on the command line. Lines and columns count characters from 1;
/// line 0 means the place is not known. `width` is how many characters a caret line underlines.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int width = 1;
  bool known() const { return line > 0; }
};

/// Exit codes of the program (docs/recipe.md, "Exit codes"). Signals give 128 + n.
enum class Exit {
  done = 0,
  recipe = 2,      // the recipe or the command line is wrong
  data = 3,        // missing, corrupt or unreadable data, disk full
  device = 4,      // device or communication, a peer died
  non_finite = 5,  // the loss is not finite
  expect = 6,      // short of `expect`, or `verify` and `export` found other numbers
  memory = 7,      // out of memory
  bug = 70,        // a bug in ddptrain
  hang = 124,      // a rank hung
};

/// An option of a recipe by its dotted path: "model.body", "data.transforms.train[1].size"; within
/// a component that does not know where it stands, the option's name alone.
struct Option {
  std::string path;
};

/// A failure that a person can act on: lower case, no full stop, values in quotes, and what would
/// do. A format has arguments ("'{}' is no number", text); a message without is text as it is.
class Error : public std::runtime_error {
 public:
  // Not inlined at each throw, which would take a third more time to compile.
  [[gnu::noinline]] Error(Exit code, const std::string& message, Place place = {})
      : std::runtime_error(message), code_(code), place_(std::move(place)) {}
  /// About an option, which what() begins with: "batch.global: 250 is no multiple of 3".
  [[gnu::noinline]] Error(Exit code, Option option, const std::string& message, Place place = {})
      : std::runtime_error(option.path + ": " + message),
        code_(code),
        option_(std::move(option)),
        place_(std::move(place)) {}
  template <class First, class... Rest>
  Error(Exit code, fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : Error(code, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
  template <class First, class... Rest>
  Error(Exit code, Option option, fmt::format_string<First, Rest...> format, First&& first,
        Rest&&... rest)
      : Error(code, std::move(option),
              fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  Exit code() const { return code_; }
  /// Empty where the failure is about no option.
  const std::string& option() const { return option_.path; }
  /// what() without the option.
  std::string message() const {
    return option_.path.empty() ? what() : what() + option_.path.size() + 2;
  }
  const Place& place() const { return place_; }
  /// The same at a place.
  Error at(Place place) const {
    Error placed = *this;
    placed.place_ = std::move(place);
    return placed;
  }

 private:
  Exit code_;
  Option option_;
  Place place_;
};

/// Prints expression, message and where, then aborts (the program then exits with 70).
[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const std::string& message);

}  // namespace ddptrain

/// What only a bug can violate.
#define DDP_CHECK(expression, message) \
  ((expression) ? void() : ::ddptrain::check_failed(#expression, __FILE__, __LINE__, (message)))
