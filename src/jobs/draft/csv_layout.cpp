#include "jobs/draft/csv_layout.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/text.h"
#include "sources/csv/csv_encoding.h"
#include "sources/files/mapped_file.h"

namespace ddptrain {
namespace {

constexpr std::size_t kSample = std::size_t{1} << 20;  // bytes that say how cells are separated
constexpr std::size_t kRecords = 200;
constexpr std::size_t kMostTitles = 10;

/// Bytes of UTF-16 without a byte order mark: every second one of plain text is 0.
bool looks_like_utf16(std::string_view bytes) {
  const auto sample = bytes.substr(0, 1000);
  std::size_t zeros = 0;
  for (std::size_t i = 1; i < sample.size(); i += 2) zeros += sample[i] == 0;
  return sample.size() >= 4 && 3 * zeros > sample.size();
}

CsvEncoding encoding_of(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") || looks_like_utf16(bytes))
    return CsvEncoding::utf_16;
  if (!find_invalid_utf8(bytes)) return CsvEncoding::utf_8;
  const bool no_windows = bytes.find_first_of("\x81\x8d\x8f\x90\x9d") != std::string_view::npos;
  return no_windows ? CsvEncoding::latin_1 : CsvEncoding::windows_1252;
}

struct SampledRecord {
  std::size_t fields = 1, filled = 0, lines = 1;
};

/// The first records, cut at a separator outside of quotes; without a last one that is not whole.
std::vector<SampledRecord> records_in(std::string_view text, char separator, bool whole) {
  std::vector<SampledRecord> records;
  SampledRecord record;
  bool in_quotes = false, empty = true;
  const auto end_field = [&] {
    record.filled += !empty;
    empty = true;
  };
  const auto end_record = [&] {
    end_field();
    records.push_back(record);
    record = {};
  };
  std::size_t at = 0;
  for (; at < text.size() && records.size() < kRecords; ++at) {
    const char c = text[at];
    if (c == '"') in_quotes = !in_quotes;
    if (c == '\n' && in_quotes) ++record.lines;
    if (c == '\n' && !in_quotes) {
      end_record();
    } else if (c == separator && !in_quotes) {
      end_field();
      ++record.fields;
    } else {
      empty = empty && (c == '\r' || c == ' ' || c == '"');
    }
  }
  if (whole && (record.fields > 1 || !empty) && records.size() < kRecords) end_record();
  return records;
}

/// Records of one number of fields, the commonest, below lines that are titles or comments.
struct SampledTable {
  std::size_t fields = 1;
  std::int64_t skipped = 0;  // lines
};

bool is_title(const SampledRecord& record, std::size_t fields) {
  if (record.fields < fields) return record.filled <= 1 && record.fields <= 2;
  return record.fields == fields && fields >= 3 && record.filled <= 1;
}

/// Nothing where records differ.
std::optional<SampledTable> table_in(const std::vector<SampledRecord>& records) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& record : records) ++counts[record.fields];
  const auto commonest =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (commonest == counts.end()) return {};
  SampledTable table{commonest->first, 0};
  std::size_t first = 0;
  while (first < std::min(kMostTitles, records.size()) && is_title(records[first], table.fields))
    table.skipped += static_cast<std::int64_t>(records[first++].lines);
  const bool even =
      std::all_of(records.begin() + static_cast<std::ptrdiff_t>(first), records.end(),
                  [&](const SampledRecord& record) { return record.fields == table.fields; });
  if (table.fields < 2 || !even || records.size() < first + 2) return {};
  return table;
}

std::int64_t comment_lines(std::string_view text) {
  std::int64_t count = 0;
  while (text.starts_with('#') || text.starts_with('\n') || text.starts_with("\r\n")) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    ++count;
  }
  return count;
}

std::string_view without_lines(std::string_view text, std::int64_t lines) {
  for (; lines > 0 && !text.empty(); --lines)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

constexpr std::array kSeparators{CsvSeparator::tab, CsvSeparator::semicolon, CsvSeparator::pipe,
                                 CsvSeparator::comma};

/// Of a first line 'sep=;'.
CsvSeparator announced_separator(char c) {
  for (const auto one : kSeparators) {
    CsvFormat format;
    format.separator = one;
    if (format.separator_char() == c) return one;
  }
  return CsvSeparator::comma;
}

}  // namespace

CsvFormat csv_layout(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  CsvFormat format;
  format.encoding = encoding_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::string decoded;
  auto text = csv_text(bytes, format.encoding, path, {}, decoded);
  if (text.starts_with("sep=") && text.size() > 4) {
    format.separator = announced_separator(text[4]);
    return format;  // whose reader says what is wrong
  }
  const auto comments = comment_lines(text);
  text = without_lines(text, comments);
  const bool whole = text.size() <= kSample;
  text = text.substr(0, kSample);
  format.skip_lines = comments;
  // A comma may be a decimal one: it separates only where nothing else does.
  for (const auto one : kSeparators) {
    format.separator = one;
    const auto found = table_in(records_in(text, format.separator_char(), whole));
    if (!found) continue;
    format.skip_lines += found->skipped;
    return format;
  }
  format.separator = CsvSeparator::comma;
  return format;
}

}  // namespace ddptrain
