#include "data/csv_index.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t block = 64;

/// One bit for each of 64 bytes: those that may end a cell. Every x86-64, the only machine that the
/// LibTorch we build with is for, has SSE2.
std::uint64_t structure(const char* bytes) {
  const auto comma = _mm_set1_epi8(','), line = _mm_set1_epi8('\n');
  const auto quote = _mm_set1_epi8('"'), carriage = _mm_set1_epi8('\r');
  std::uint64_t found = 0;
  for (std::size_t at = 0; at < block; at += sizeof(__m128i)) {
    const auto some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    const auto hits =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(some, comma), _mm_cmpeq_epi8(some, line)),
                     _mm_or_si128(_mm_cmpeq_epi8(some, quote), _mm_cmpeq_epi8(some, carriage)));
    found |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(hits))) << at;
  }
  return found;
}

std::uint64_t structure(std::string_view text, std::size_t at) {
  if (text.size() - at >= block) return structure(text.data() + at);
  std::array<char, block> last{};
  std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), last.begin());
  return structure(last.data());
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
    make_room();
    add_start(0);
    for (std::size_t at = 0; at < text_.size(); at += block) {
      if (at > begin_ + longest) fail(begin_, "a row of more than 1 GiB");
      make_room();
      for (auto found = structure(text_, at); found; found &= found - 1) {
        const auto here = at + static_cast<std::size_t>(std::countr_zero(found));
        if (here >= resume_) meet(here);
      }
    }
    make_room();
    if (begin_ < text_.size()) end_record(text_.size(), text_.size());
    index_.starts_.resize(count_);
  }

 private:
  static constexpr std::size_t longest = CsvIndex::place - 2 * block;

  /// For what a block may bring: a start for each byte, and one more for each line.
  void make_room() {
    if (count_ + 2 * block + 2 > index_.starts_.size())
      index_.starts_.resize(2 * index_.starts_.size() + 4 * block);
    starts_ = index_.starts_.data();
  }
  void add_start(std::uint32_t start) { starts_[count_++] = start; }

  void meet(std::size_t at) {
    if (text_[at] == ',') return add_start(relative(at + 1));
    if (text_[at] == '\n') return end_record(at, at + 1);
    if (text_[at] == '\r') return end_carriage(at);
    if (relative(at) != starts_[count_ - 1]) fail(at, "a quote inside of an unquoted field");
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
    starts_[count_ - 1] |= CsvIndex::quoted;
    if (!twice) return;
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
    add_start(relative(end + 1));
    index_.begins_.push_back(begin_);
    const auto fields = count_ - first_ - 1;
    if (index_.columns_ == 0) index_.columns_ = fields;
    if (fields != index_.columns_) fail_ragged(end, fields);
    begin_ = next;
    first_ = count_;
    if (next < text_.size()) add_start(0);
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
  std::uint32_t* starts_ = nullptr;
  std::size_t count_ = 0;   // of starts
  std::size_t begin_ = 0;   // of the record
  std::size_t first_ = 0;   // its first start
  std::size_t resume_ = 0;  // bytes before it have been met
};

std::string_view CsvIndex::quoted_cell(std::size_t begin, std::size_t size) const {
  if (unquoted_.empty()) return text_.substr(begin + 1, size - 2);
  const auto found = unquoted_.find(begin);
  return found == unquoted_.end() ? text_.substr(begin + 1, size - 2) : found->second;
}

CsvIndex::CsvIndex(std::string_view text, const std::string& path) : text_(text) {
  CsvCutter(text, path, *this).cut();
}

}  // namespace ddptrain
