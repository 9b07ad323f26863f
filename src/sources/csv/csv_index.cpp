#include "sources/csv/csv_index.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/clones.h"
#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t block = 64;

/// One bit for each of 64 bytes.
struct Marks {
  std::uint64_t ends = 0;     // of cells, outside of quotes: separators and line feeds
  std::uint64_t lines = 0;    // line feeds
  std::uint64_t special = 0;  // quotes, carriage returns, NUL, bytes that are not ASCII
};

/// Every x86-64, the only machine that the LibTorch we build with is for, has SSE2.
[[gnu::always_inline]] inline Marks marks_of(const char* bytes, char separator) {
  const auto comma = _mm_set1_epi8(separator), line = _mm_set1_epi8('\n'), one = _mm_set1_epi8(1);
  const auto quote = _mm_set1_epi8('"'), carriage = _mm_set1_epi8('\r');
  const auto bits = [](__m128i hits, std::size_t at) {
    return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(hits))} << at;
  };
  Marks marks;
  for (std::size_t at = 0; at < block; at += sizeof(__m128i)) {
    const auto some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    const auto lines = _mm_cmpeq_epi8(some, line);
    const auto quotes = _mm_or_si128(_mm_cmpeq_epi8(some, quote), _mm_cmpeq_epi8(some, carriage));
    marks.ends |= bits(_mm_or_si128(_mm_cmpeq_epi8(some, comma), lines), at);
    marks.lines |= bits(lines, at);
    marks.special |= bits(_mm_or_si128(quotes, _mm_cmplt_epi8(some, one)), at);
  }
  return marks;
}

[[gnu::always_inline]] inline Marks marks_of(std::string_view text, std::size_t at,
                                             char separator) {
  if (text.size() - at >= block) return marks_of(text.data() + at, separator);
  std::array<char, block> last;
  last.fill(' ');
  std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), last.begin());
  return marks_of(last.data(), separator);
}

std::string without_doubled_quotes(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"') ++i;
  }
  return text;
}

/// The name of a field, read again from the header: only for messages.
std::string field_name(std::string_view text, std::size_t field, char separator) {
  std::size_t begin = 0;
  bool in_quotes = false;
  for (std::size_t at = 0, number = 1; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : '\n';
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes || (c != separator && c != '\n' && c != '\r')) continue;
    if (number++ == field) {
      const auto name = text.substr(begin, at - begin);
      return name.starts_with('"') ? without_doubled_quotes(name.substr(1, name.size() - 2))
                                   : std::string(name);
    }
    if (c != separator) break;
    begin = at + 1;
  }
  return {};
}

}  // namespace

std::string hexadecimal(char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return {'0', 'x', digits[value >> 4], digits[value & 15]};
}

CsvPlace place_of(std::string_view text, std::size_t at, const CsvDialect& dialect) {
  CsvPlace place;
  bool in_quotes = false;
  for (const char c : text.substr(0, at)) {
    if (c == '\n') ++place.line;
    if (c == '"') in_quotes = !in_quotes;
    if (!in_quotes && c == dialect.separator) ++place.field;
    if (!in_quotes && c == '\n') place.field = 1;
  }
  return place;
}

void fail_in_csv(std::string_view text, const std::string& path, const CsvPlace& place,
                 const std::string& what, const CsvDialect& dialect) {
  const bool named = dialect.header && place.line > 1;
  const auto name = named ? field_name(text, place.field, dialect.separator) : std::string();
  const auto column = name.empty() ? std::to_string(place.field) : "'" + name + "'";
  throw Error(Exit::data, "{}:{}: column {}: {}", path, place.line + dialect.skipped, column, what);
}

/// An Error where a text is not UTF-8 or holds a NUL: it comes before all others.
void check_text(std::string_view text, const std::string& path, const CsvDialect& dialect) {
  const auto bad = find_invalid_utf8(text).value_or(text.size());
  const auto nul = std::min(text.find('\0'), text.size());
  if (nul < bad) fail_in_csv(text, path, place_of(text, nul, dialect), "a NUL byte", dialect);
  if (bad < text.size())
    fail_in_csv(text, path, place_of(text, bad, dialect),
                "the byte " + hexadecimal(text[bad]) +
                    " is not UTF-8; save the file as UTF-8, or write 'data.csv.encoding: "
                    "windows-1252' where Windows saved it",
                dialect);
}

/// Finds the records of a text and their cells.
class CsvIndexer {
 public:
  CsvIndexer(std::string_view text, const std::string& path, const CsvDialect& dialect,
             CsvIndex& index)
      : text_(text), path_(path), dialect_(dialect), index_(index) {}

  DDPTRAIN_CLONES void index() {
    const char separator = dialect_.separator;
    make_room(0);
    ends_[end_count_++] = static_cast<std::uint32_t>(-1);
    for (std::size_t at = 0; at < text_.size(); at += block) {
      if (at > record_begin_ + longest) fail(record_begin_, "a row of more than 1 GiB");
      if (at != 0 && static_cast<std::uint32_t>(at) == 0) index_.wraps_.push_back(end_count_);
      make_room(at);
      const auto marks = marks_of(text_, at, separator);
      if (quoted_end_ <= at && (marks.special == 0 || only_returns_at_ends(at, marks)))
        append_bare_cells(at, marks);
      else
        parse_marked_bytes(at, marks);
    }
    if (record_begin_ < text_.size()) {
      add_end(text_.size());
      end_record(text_.size());
    }
    index_.ends_.resize(end_count_);
    if (maybe_no_text_) check_text(text_, path_, dialect_);
  }

 private:
  static constexpr std::size_t longest = (std::size_t{1} << 30) - 2 * block;

  /// For the ends of a block and one more. How many the text has follows from the share indexed so
  /// far.
  void make_room(std::size_t at) {
    constexpr std::size_t step = 4096;
    auto& ends = index_.ends_;
    if (end_count_ + block + 2 <= ends.size()) return;
    const double share = static_cast<double>(text_.size()) / static_cast<double>(at + block);
    if (ends.size() + step > ends.capacity())
      ends.reserve(
          std::max(ends.size() + ends.size() / 2,
                   static_cast<std::size_t>(1.1 * share * static_cast<double>(end_count_))) +
          step);
    ends.resize(ends.size() + step);
    ends_ = ends.data();
  }
  void add_end(std::size_t at) { ends_[end_count_++] = static_cast<std::uint32_t>(at); }

  /// A block of nothing but bare cells.
  [[gnu::always_inline]] inline void append_bare_cells(std::size_t at, const Marks& marks) {
    const auto before = end_count_;
    for (auto lines = marks.lines; lines; lines &= lines - 1) {
      end_count_ =
          before + static_cast<std::size_t>(std::popcount(marks.ends & (lines ^ (lines - 1))));
      end_record(at + static_cast<std::size_t>(std::countr_zero(lines)));
    }
    end_count_ = before + static_cast<std::size_t>(std::popcount(marks.ends));
    auto* to = ends_ + before;
    for (auto left = marks.ends; left;) {  // eight at once: fewer mispredicted branches
      for (int i = 0; i < 8; ++i, left &= left - 1)
        to[i] = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(std::countr_zero(left));
      to += 8;
    }
  }

  /// Whether the special bytes of a block are all carriage returns before its line feeds.
  bool only_returns_at_ends(std::size_t at, const Marks& marks) {
    if (marks.special >> (block - 1) != 0 || (marks.special << 1 & ~marks.lines) != 0) return false;
    for (auto found = marks.special; found; found &= found - 1)
      if (text_[at + static_cast<std::size_t>(std::countr_zero(found))] != '\r') return false;
    index_.returns_ = true;
    return true;
  }

  /// A block of any kind: its marked bytes one by one, but for those of a quoted cell.
  void parse_marked_bytes(std::size_t at, const Marks& marks) {
    for (auto found = marks.ends | marks.special; found; found &= found - 1) {
      const auto here = at + static_cast<std::size_t>(std::countr_zero(found));
      const auto c = static_cast<unsigned char>(text_[here]);
      if (c == 0 || c >= 0x80) maybe_no_text_ = true;
      if (c == '"') index_.quotes_ = true;
      if (c == '\r') index_.returns_ = true;
      if (here >= quoted_end_) parse_byte(here);
    }
  }

  void parse_byte(std::size_t at) {
    if (text_[at] == dialect_.separator) return add_end(at);
    switch (text_[at]) {
      case '\n':
        add_end(at);
        return end_record(at);
      case '\r':
        if (at + 1 < text_.size() && text_[at + 1] != '\n')
          fail(at,
               "a carriage return that ends no line; end lines in LF or CR LF, or quote the field");
        return;
      case '"':
        if (static_cast<std::uint32_t>(at) != ends_[end_count_ - 1] + 1)
          fail(at, "a quote inside of an unquoted field");
        return parse_quoted(at);
    }
  }

  void parse_quoted(std::size_t open) {
    auto close = text_.find('"', open + 1);
    bool doubled = false;
    while (close != std::string_view::npos && text_.substr(close + 1).starts_with('"')) {
      doubled = true;
      close = text_.find('"', close + 2);
    }
    if (close == std::string_view::npos) fail(open, "a quote that is not closed");
    quoted_end_ = close + 1;
    if (quoted_end_ < text_.size() && text_[quoted_end_] != dialect_.separator &&
        text_[quoted_end_] != '\n' && text_[quoted_end_] != '\r')
      fail(close, "text after the closing quote");
    if (close - record_begin_ > longest) fail(open, "a row of more than 1 GiB");
    if (!doubled) return;
    index_.unquoted_.emplace(open,
                             without_doubled_quotes(text_.substr(open + 1, close - open - 1)));
  }

  /// Of which the last cell has been counted.
  void end_record(std::size_t end) {
    const auto fields = end_count_ - record_first_;
    if (index_.columns_ == 0) index_.columns_ = fields;
    if (fields != index_.columns_) fail_ragged(end, fields);
    record_begin_ = end + 1;
    record_first_ = end_count_;
  }

  [[noreturn]] void fail_ragged(std::size_t end, std::size_t fields) const {
    check_text(text_, path_, dialect_);
    auto place = place_of(text_, record_begin_, dialect_);
    place.field = std::min(fields, index_.columns_) + 1;
    const auto record = text_.substr(record_begin_, end - record_begin_);
    const bool is_empty = record.empty() || record == "\r";
    const bool one_more = fields == index_.columns_ + 1 && last_is_empty(record);
    fail_in_csv(
        text_, path_, place,
        fmt::format("{} where the {} has {}{}", plural(static_cast<std::int64_t>(fields), "field"),
                    dialect_.header ? "header" : "first row", index_.columns_,
                    is_empty   ? " (an empty line)"
                    : one_more ? " (the row ends with a separator, the header does not)"
                               : ""),
        dialect_);
  }

  bool last_is_empty(std::string_view record) const {
    if (record.ends_with('\r')) record.remove_suffix(1);
    return record.ends_with(dialect_.separator);
  }

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    check_text(text_, path_, dialect_);
    fail_in_csv(text_, path_, place_of(text_, at, dialect_), what, dialect_);
  }

  std::string_view text_;
  const std::string& path_;
  const CsvDialect& dialect_;
  CsvIndex& index_;
  std::uint32_t* ends_ = nullptr;
  std::size_t end_count_ = 0;
  std::size_t record_begin_ = 0;  // its first byte
  std::size_t record_first_ = 1;  // its first end
  std::size_t quoted_end_ = 0;    // bytes before it belong to a quoted cell that was parsed
  bool maybe_no_text_ = false;    // there are NULs or bytes that are not ASCII
};

std::size_t CsvIndex::start_beyond_4gib(std::size_t number) const {
  if (number == 0) return 0;
  const auto wraps = std::upper_bound(wraps_.begin(), wraps_.end(), number) - wraps_.begin();
  return (static_cast<std::size_t>(wraps) << 32) + ends_[number] + 1;
}

std::string_view CsvIndex::quoted_cell(std::string_view cell) const {
  const auto found = unquoted_.find(static_cast<std::size_t>(cell.data() - text_.data()));
  return found == unquoted_.end() ? cell.substr(1, cell.size() - 2) : found->second;
}

CsvIndex::CsvIndex(std::string_view text, const std::string& path, const CsvDialect& dialect)
    : text_(text) {
  CsvIndexer(text, path, dialect, *this).index();
}

}  // namespace ddptrain
