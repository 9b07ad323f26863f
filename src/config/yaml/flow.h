// Brackets of YAML's flow style: `[a, b]` and `{key: value}`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Where the quoted text that starts at `at` ends, behind its closing quote; throws a Finding at
/// the opening one when it is not closed before `end`, and at an escape that is none. Surrogate
/// pairs are added to `pairs`.
std::size_t end_of_quoted(std::string_view text, std::size_t at, std::size_t end,
                          std::vector<std::size_t>& pairs);

/// The first closing bracket that no bracket of the text opens; 0 when there is none.
char surplus_bracket(std::string_view text);

/// Throws a Finding where no value, key or item can start with this character.
void refuse_start(std::string_view text, std::size_t at);

/// Follows the brackets of one value, line by line; whatever does not fit throws a Finding.
class Flow {
 public:
  /// `pairs` is where surrogate pairs are noted; it must outlive the object.
  Flow(std::string_view text, std::vector<std::size_t>& pairs) : text_(text), pairs_(pairs) {}

  bool open() const { return !brackets_.empty(); }
  /// Reads on from `at` until the outermost bracket closes or the line ends at `end`; where it
  /// stopped.
  std::size_t read(std::size_t at, std::size_t end);
  /// A line of the brackets starts with text at `at`, its column not behind that of the value's
  /// key: only a closing bracket may stand there.
  void line_outside(std::size_t at) const;
  /// The text ended.
  void end() const;

 private:
  struct Bracket {
    char kind;
    std::size_t at;
    std::size_t entry = 0;  // where the entry under way starts
    std::size_t value = 0;  // where the value behind the last ':' starts
    bool content = false;
    bool colon = false;
    bool done = false;      // a key or value has ended: a ':' or ',' must follow
    std::size_t pairs = 0;  // of a '[': where the first of the last "key: value" entries starts
  };

  [[noreturn]] void unclosed() const;
  /// Whether a ':', ',' or closing bracket stands there; it is read.
  bool mark(std::size_t at, std::size_t end);
  std::size_t token(std::size_t at, std::size_t end);
  void start(std::size_t at);
  [[noreturn]] void missing_mark(std::size_t at) const;
  [[noreturn]] void wrong_bracket(std::size_t at) const;
  void colon(std::size_t at);
  void end_entry();
  [[noreturn]] void no_value() const;
  void close(std::size_t at);
  void refuse_word(std::size_t at, std::size_t end) const;
  std::size_t plain(std::size_t at, std::size_t end) const;
  bool is_colon(std::size_t at, std::size_t end) const;

  std::string_view text_;
  std::vector<std::size_t>& pairs_;
  std::vector<Bracket> brackets_;
};

}  // namespace ddptrain
