#include "sources/text/text_records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/text/json_shards.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

class LineReader {
 public:
  LineReader(const std::string& file, const TextRecordOptions& options, Labels labels,
             InvalidUtf8 invalid_utf8)
      : file_(file), options_(options), labels_(labels), invalid_utf8_(invalid_utf8) {}

  std::vector<TextRecord> run(const FileSystem& files) {
    visit_json(files, file_, [this](std::string_view json, const std::string& place) {
      place_ = place;
      read(json);
    });
    if (replaced_ > 0)
      log::warning("{}: {} not UTF-8 text; U+FFFD stands for bytes that are not; the first is {}",
                   file_, plural(replaced_, "line"), first_replaced_);
    return std::move(records_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Exit::data, "{}: {}", place_, what);
  }

  void read(std::string_view line) {
    const auto bad = find_invalid_utf8(line);
    if (!bad) return read_object(parsed(line));
    if (invalid_utf8_ == InvalidUtf8::error)
      fail(fmt::format("not UTF-8 text (byte {}); 'invalid_utf8: replace' reads it all the same",
                       *bad + 1));
    if (replaced_++ == 0) first_replaced_ = place_;
    read_object(parsed(replace_invalid_utf8(line)));
  }

  nlohmann::json parsed(std::string_view line) const {
    try {
      return nlohmann::json::parse(line);
    } catch (const nlohmann::json::parse_error& error) {
      fail(fmt::format("not JSON (at byte {})", error.byte));
    } catch (const nlohmann::json::exception&) {
      fail("not JSON: a number is too large");
    }
  }

  void read_object(const nlohmann::json& object) {
    if (!object.is_object()) fail("not an object, {\"text\": ..., \"label\": ...}");
    TextRecord record;
    record.place = place_;
    for (const auto& key : options_.text) {
      const auto& text = value(object, key);
      if (!text.is_string()) fail("'" + key + "' is not text");
      record.texts.push_back(text.get<std::string>());
    }
    if (labels_ == Labels::known) {
      record.label = label(object);
      if (options_.valid.column && !options_.valid_file)
        record.split = word(object, *options_.valid.column);
      if (const auto* groups = options_.groups()) record.group = word(object, *groups);
    }
    records_.push_back(std::move(record));
  }

  std::string label(const nlohmann::json& object) const {
    if (options_.task == TextTask::language_model) return {};
    return options_.task == TextTask::regression ? number(object, options_.label)
                                                 : word(object, options_.label);
  }

  const nlohmann::json& value(const nlohmann::json& object, const std::string& key) const {
    const auto found = object.find(key);
    if (found == object.end()) fail("no '" + key + "'");
    return *found;
  }

  std::string word(const nlohmann::json& object, const std::string& key) const {
    const auto& found = value(object, key);
    if (found.is_string() && !found.get_ref<const std::string&>().empty()) return found;
    if (found.is_number_integer() || found.is_boolean()) return found.dump();
    fail("'" + key + "' is neither a word nor a whole number");
  }

  /// As a number or its text; empty: missing.
  std::string number(const nlohmann::json& object, const std::string& key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    if (found->is_string()) return *found;
    if (!found->is_number()) fail("'" + key + "' is no number, and data.task is regression");
    return format_number(found->get<double>());
  }

  const std::string& file_;
  const TextRecordOptions& options_;
  const Labels labels_;
  const InvalidUtf8 invalid_utf8_;
  std::vector<TextRecord> records_;
  std::int64_t replaced_ = 0;
  std::string place_, first_replaced_;
};

}  // namespace

std::vector<TextRecord> read_json_lines(const std::string& file, const TextRecordOptions& options,
                                        Labels labels, InvalidUtf8 invalid_utf8,
                                        const FileSystem& files) {
  return LineReader(file, options, labels, invalid_utf8).run(files);
}

}  // namespace ddptrain
