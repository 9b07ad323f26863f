// Which maps and lists of YAML's block style are open, by the columns at which their entries start.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Follows the lines of a document. Columns and positions are bytes; whatever does not fit throws a
/// Finding.
class Indentation {
 public:
  explicit Indentation(std::string_view text) : text_(text) {}

  /// A line that is neither blank nor a comment starts with text at this column and position;
  /// whether it is a key or a dash.
  void line(std::size_t column, std::size_t at, bool is_entry);
  /// An entry of a list, or of a map, starts here; its value is still to come.
  void dash(std::size_t column, std::size_t at) { enter(column, at, true); }
  void key(std::size_t column, std::size_t at) { enter(column, at, false); }
  /// The value of the entry that was entered last stands on its line; whether it is plain text.
  void value(bool plain = false);
  /// The item of a list is plain text that starts at `at`.
  void plain_item(std::size_t at);
  /// A value that starts a line.
  void value_line(std::size_t column, std::size_t at, bool plain);
  void new_document();
  /// Throws where a plain key is certainly a mistake: "lr:0.1", "-relu", "batch {global".
  void refuse_key(std::size_t at, std::size_t end) const;

  /// Column of the innermost map or list; nothing outside of them.
  std::optional<std::size_t> column() const;

 private:
  struct Level {
    std::size_t column;
    bool list;
    bool open;  // its last entry has no value yet
  };
  struct Pending {
    std::size_t at;
    std::optional<std::size_t> parent;
  };

  void enter(std::size_t column, std::size_t at, bool list);
  bool continues_level(std::size_t column, std::size_t at, bool list);
  [[noreturn]] void not_an_entry(std::size_t at) const;
  [[noreturn]] void second_line(std::size_t at) const;
  void refuse_tight_dash(std::size_t at) const;
  void refuse_missing_space(std::size_t at) const;
  void refuse_missing_colon(std::size_t at) const;
  void refuse_item_with_keys(std::size_t at) const;

  std::string_view text_;
  std::vector<Level> levels_;
  std::optional<Pending> plain_;     // plain text that is a value so far, on a line of its own
  bool plain_value_ = false;         // the last value is plain text on the line of its key or dash
  std::optional<std::size_t> item_;  // where that is, if it is the item of a list
  bool empty_ = true;
};

}  // namespace ddptrain
