#include "sources/image/mask_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostClasses = 255;  // of a byte, without void's

[[noreturn]] void refuse_option(const char* option, const std::string& why) {
  throw Error(Exit::recipe, Option{option}, why);
}

}  // namespace

void CodesOption::fields(Fields& f) {
  f("file", file,
    {.doc = "Text file with the name of a class in each line, the first that of 0; relative to "
            "root."});
  f("names", names, {.doc = "The names themselves.", .items = ItemOrder::distinct});
  f.require(exactly_one({"file", "names"}));
}

std::vector<std::string> code_names(const CodesOption& codes, const std::string& root,
                                    const FileSystem& files) {
  if (!codes.file) return codes.names;
  const auto file = (std::filesystem::path(root) / *codes.file).string();
  std::vector<std::string> names;
  int line = 0;
  for (const auto& text : split(read_text(files, file), '\n')) {
    ++line;
    const auto name = std::string(trim(text));
    if (name.empty()) continue;
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw Error(Exit::data, "{}:{}: class '{}' is there twice", file, line, name);
    names.push_back(name);
  }
  if (names.empty()) throw Error(Exit::data, "{}: no class; a name in each line is wanted", file);
  return names;
}

MaskCodes::MaskCodes(std::vector<std::string> names, const std::vector<std::int64_t>& values,
                     const std::vector<std::string>& void_names)
    : names_(std::move(names)) {
  if (names_.size() > kMostClasses)
    refuse_option("data.codes",
                  fmt::format("{} classes; a mask has at most {}", names_.size(), kMostClasses));
  if (!values.empty() && values.size() != names_.size())
    refuse_option("data.values",
                  fmt::format("{} numbers for {} codes", values.size(), names_.size()));
  classes_.fill(unknown);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    values_[i] =
        static_cast<std::uint8_t>(values.empty() ? static_cast<std::int64_t>(i) : values[i]);
    classes_[values_[i]] = static_cast<std::int16_t>(i);
  }
  for (const auto& word : void_names) add_void(word);
}

void MaskCodes::add_void(const std::string& word) {
  const auto found = std::find(names_.begin(), names_.end(), word);
  const auto number = parse_integer(word);
  if (found == names_.end() && !number)
    refuse_option("data.void", "'" + word + "' is none of the codes" +
                                   did_you_mean(nearest(word, names_)) +
                                   "; a number in the files may stand here too");
  if (found == names_.end() && (*number < 0 || *number > 255))
    refuse_option("data.void", "'" + word + "' is no number of a mask, 0 to 255");
  const auto value = found == names_.end()
                         ? static_cast<std::uint8_t>(*number)
                         : values_[static_cast<std::size_t>(found - names_.begin())];
  classes_[value] = void_code;
  if (!has_void_) values_[void_code] = value;
  has_void_ = true;
}

std::optional<std::int64_t> MaskCodes::void_of() const {
  if (!has_void_) return {};
  return void_code;
}

std::string MaskCodes::values_text() const {
  std::vector<std::string> known;
  for (std::size_t value = 0; value < classes_.size(); ++value)
    if (classes_[value] != unknown) known.push_back(std::to_string(value));
  if (known.size() > 1 && known.back() == std::to_string(known.size() - 1))
    return known.front() + " to " + known.back();
  if (known.size() > 12) known.resize(12), known.emplace_back("...");
  return join(known, ", ");
}

}  // namespace ddptrain
