#include "data/csv.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Cuts text into records, one at a time.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  bool done() const { return at_ == text_.size(); }
  int line() const { return line_; }

  std::vector<std::string> record() {
    std::vector<std::string> fields;
    do fields.push_back(field(fields.size() + 1));
    while (take(','));
    end_line(fields.size());
    return fields;
  }

 private:
  std::string field(std::size_t number) {
    if (take('"')) return quoted(number);
    const auto end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string value(text_.substr(at_, end - at_));
    if (value.find('"') != std::string::npos) fail(number, "a quote inside of an unquoted field");
    at_ = end;
    return value;
  }

  std::string quoted(std::size_t number) {
    const int first_line = line_;
    std::string value;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return value;
      if (c == '\n') ++line_;
      value += c;
    }
    line_ = first_line;
    fail(number, "a quote that is not closed");
  }

  void end_line(std::size_t number) {
    take('\r');
    if (!done() && !take('\n')) fail(number, "text after the closing quote");
    ++line_;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(std::size_t number, const std::string& what) const {
    throw Error(Exit::data, path_ + ":" + std::to_string(line_) + ": column " +
                                std::to_string(number) + ": " + what);
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  int line_ = 1;
};

void check_header(const std::string& path, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw Error(Exit::data, path + ":1: two columns are called '" + *twice + "'");
}

}  // namespace

Csv::Csv(const std::string& path) : path_(path) {
  const auto content = read_text(path);
  if (const auto bad = find_invalid_utf8(content))
    throw Error(Exit::data, path + ": not UTF-8 text (byte " + std::to_string(*bad + 1) + ")");
  std::string_view text = content;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Scanner scanner(text, path);
  if (!scanner.done()) header_ = scanner.record();
  check_header(path, header_);
  while (!scanner.done()) {
    const int line = scanner.line();
    auto record = scanner.record();
    if (record.size() != header_.size())
      throw Error(Exit::data, path + ":" + std::to_string(line) + ": " +
                                  plural(static_cast<std::int64_t>(record.size()), "field") +
                                  " where the header has " + std::to_string(header_.size()));
    rows_.push_back(std::move(record));
    lines_.push_back(line);
  }
  if (rows_.empty()) throw Error(Exit::data, path + ": no rows below the header");
}

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return {};
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t Csv::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  throw Error(Exit::data, path_ + ":1: no column '" + std::string(name) + "'; there are '" +
                              join(header_, "', '") + "'");
}

void Csv::fail(std::size_t row, std::size_t column, const std::string& what) const {
  throw Error(Exit::data, path_ + ":" + std::to_string(lines_[row]) + ": column '" +
                              header_[column] + "': " + what);
}

}  // namespace ddptrain
