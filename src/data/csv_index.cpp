#include "data/csv_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t every(std::uint64_t byte) { return 0x0101010101010101U * byte; }

/// The high bit of each byte that is `wanted`, exactly (Hacker's Delight, 6-1).
std::uint64_t bytes_equal(std::uint64_t word, char wanted) {
  const auto other = word ^ every(static_cast<unsigned char>(wanted));
  return ~(((other & every(0x7f)) + every(0x7f)) | other | every(0x7f));
}

/// The bytes of a word that may end a cell.
std::uint64_t structure(std::uint64_t word) {
  return bytes_equal(word, ',') | bytes_equal(word, '\n') | bytes_equal(word, '"') |
         bytes_equal(word, '\r');
}

std::uint64_t word_at(std::string_view text, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  if (text.size() - at >= sizeof word)
    std::memcpy(&word, text.data() + at, sizeof word);
  else
    std::memcpy(&word, text.data() + at, text.size() - at);
  return word;
}

std::string without_doubled_quotes(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"') ++i;
  }
  return text;
}

/// The name of a field, read anew from the header: only for messages.
std::string field_name(std::string_view text, std::size_t field) {
  std::size_t begin = 0;
  bool in_quotes = false;
  for (std::size_t at = 0, number = 1; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : '\n';
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes || (c != ',' && c != '\n' && c != '\r')) continue;
    if (number++ == field) {
      const auto name = text.substr(begin, at - begin);
      return name.starts_with('"') ? without_doubled_quotes(name.substr(1, name.size() - 2))
                                   : std::string(name);
    }
    if (c != ',') break;
    begin = at + 1;
  }
  return {};
}

}  // namespace

CsvPlace place_of(std::string_view text, std::size_t at) {
  CsvPlace place;
  bool in_quotes = false;
  for (const char c : text.substr(0, at)) {
    if (c == '\n') ++place.line;
    if (c == '"') in_quotes = !in_quotes;
    if (!in_quotes && c == ',') ++place.field;
    if (!in_quotes && c == '\n') place.field = 1;
  }
  return place;
}

void fail_in_csv(std::string_view text, const std::string& path, const CsvPlace& place,
                 const std::string& what) {
  const auto name = place.line == 1 ? std::string() : field_name(text, place.field);
  const auto column = name.empty() ? std::to_string(place.field) : "'" + name + "'";
  throw Error(Exit::data,
              path + ":" + std::to_string(place.line) + ": column " + column + ": " + what);
}

/// Cuts a text into records and these into cells.
class CsvCutter {
 public:
  CsvCutter(std::string_view text, const std::string& path, CsvIndex& index)
      : text_(text), path_(path), index_(index) {}

  void cut() {
    if (text_.empty()) return;
    index_.starts_.push_back(0);
    for (std::size_t at = 0; at < text_.size(); at += sizeof(std::uint64_t)) {
      if (at > begin_ + longest) fail(begin_, "a row of more than 1 GiB");
      for (auto found = structure(word_at(text_, at)); found; found &= found - 1) {
        const auto here = at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
        if (here >= resume_) meet(here);
      }
    }
    if (begin_ < text_.size()) end_record(text_.size(), text_.size());
  }

 private:
  static constexpr std::size_t longest = CsvIndex::place - 2 * sizeof(std::uint64_t);

  void meet(std::size_t at) {
    if (text_[at] == ',') return index_.starts_.push_back(relative(at + 1));
    if (text_[at] == '\n') return end_record(at, at + 1);
    if (text_[at] == '\r') return end_carriage(at);
    if (relative(at) != index_.starts_.back()) fail(at, "a quote inside of an unquoted field");
    read_quoted(at);
  }

  void read_quoted(std::size_t open) {
    auto close = text_.find('"', open + 1);
    bool twice = false;
    while (close != std::string_view::npos && text_.substr(close + 1).starts_with('"')) {
      twice = true;
      close = text_.find('"', close + 2);
    }
    if (close == std::string_view::npos) fail(open, "a quote that is not closed");
    resume_ = close + 1;
    if (resume_ < text_.size() && text_[resume_] != ',' && text_[resume_] != '\n' &&
        text_[resume_] != '\r')
      fail(close, "text after the closing quote");
    if (close - begin_ > longest) fail(open, "a row of more than 1 GiB");
    index_.starts_.back() |= CsvIndex::quoted;
    if (!twice) return;
    index_.starts_.back() |= CsvIndex::doubled;
    index_.unquoted_.emplace(open,
                             without_doubled_quotes(text_.substr(open + 1, close - open - 1)));
  }

  void end_carriage(std::size_t at) {
    if (at + 1 < text_.size() && text_[at + 1] != '\n')
      fail(at, "a carriage return that ends no line; end lines in LF or CR LF, or quote the field");
    end_record(at, std::min(at + 2, text_.size()));
    resume_ = begin_;
  }

  void end_record(std::size_t end, std::size_t next) {
    index_.starts_.push_back(relative(end + 1));
    index_.begins_.push_back(begin_);
    const auto fields = index_.starts_.size() - first_ - 1;
    if (index_.columns_ == 0) index_.columns_ = fields;
    if (fields != index_.columns_) fail_ragged(end, fields);
    begin_ = next;
    first_ = index_.starts_.size();
    if (next < text_.size()) index_.starts_.push_back(0);
  }

  std::uint32_t relative(std::size_t at) const { return static_cast<std::uint32_t>(at - begin_); }

  [[noreturn]] void fail_ragged(std::size_t end, std::size_t fields) const {
    auto place = place_of(text_, begin_);
    place.field = std::min(fields, index_.columns_) + 1;
    fail_in_csv(text_, path_, place,
                plural(static_cast<std::int64_t>(fields), "field") + " where the header has " +
                    std::to_string(index_.columns_) + (end == begin_ ? " (an empty line)" : ""));
  }

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    fail_in_csv(text_, path_, place_of(text_, at), what);
  }

  std::string_view text_;
  const std::string& path_;
  CsvIndex& index_;
  std::size_t begin_ = 0;   // of the record
  std::size_t first_ = 0;   // its first start
  std::size_t resume_ = 0;  // bytes before it have been met
};

CsvIndex::CsvIndex(std::string_view text, const std::string& path) : text_(text) {
  CsvCutter(text, path, *this).cut();
}

}  // namespace ddptrain
