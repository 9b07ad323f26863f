#include "checkpoint/tensor_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::string_view ending = ".safetensors";
constexpr std::string_view numbers = "-00001-of-00001";

[[noreturn]] void fail(const std::string& what, const std::string& path, int reason) {
  std::string why = std::strerror(reason);
  why[0] = static_cast<char>(std::tolower(why[0]));
  throw Error(Exit::data, "cannot {} '{}': {}", what, path, why);
}

std::int64_t data_bytes(const SafetensorsHeader& header) {
  std::int64_t bytes = 0;
  for (const auto& entry : header.entries) bytes += bytes_of(entry);
  return bytes;
}

bool are_numbers(std::string_view text) {
  if (text.size() != numbers.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(numbers[i])) != 0;
    if (digit ? std::isdigit(static_cast<unsigned char>(text[i])) == 0 : text[i] != numbers[i])
      return false;
  }
  return true;
}

/// "-00001-of-00002" of a name without its ending; empty: it has none.
std::string_view numbers_in(std::string_view name) {
  if (name.size() <= numbers.size()) return {};
  const auto last = name.substr(name.size() - numbers.size());
  return are_numbers(last) ? last : std::string_view();
}

std::string_view without_ending(const std::string& file) {
  const std::string_view name(file);
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : std::string_view();
}

/// Tensors one after another, as many as go into a file.
std::vector<std::vector<TensorEntry>> divided(std::vector<TensorEntry> tensors,
                                              std::int64_t largest) {
  std::vector<std::vector<TensorEntry>> files(1);
  std::int64_t bytes = 0;
  for (auto& tensor : tensors) {
    const auto more = bytes_of(tensor);
    if (!files.back().empty() && bytes + more > largest) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += more;
    files.back().push_back(std::move(tensor));
  }
  return files;
}

}  // namespace

std::vector<TensorFilePlan> plan_files(const std::string& stem, std::vector<TensorEntry> tensors,
                                       std::int64_t largest) {
  auto parts = divided(std::move(tensors), largest);
  std::vector<TensorFilePlan> plans;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number =
        parts.size() == 1 ? "" : fmt::format("-{:05}-of-{:05}", i + 1, parts.size());
    lay_out(parts[i]);
    plans.push_back(
        {stem + number + std::string(ending), {std::move(parts[i]), {{"format", "pt"}}}});
  }
  return plans;
}

std::string stem_of(const std::string& file) {
  auto name = without_ending(file);
  name.remove_suffix(numbers_in(name).size());
  return std::string(name);
}

std::vector<std::string> siblings_of(const std::string& file) {
  const auto digits = numbers_in(without_ending(file));
  if (digits.empty()) return {};
  const auto stem = stem_of(file);
  const auto count = parse_integer(std::string(digits.substr(digits.size() - 5))).value_or(0);
  std::vector<std::string> names;
  for (std::int64_t i = 1; i <= count; ++i)
    names.push_back(stem + fmt::format("-{:05}-of-{:05}", i, count) + std::string(ending));
  names.push_back(index_name(stem));
  return names;
}

std::string index_name(const std::string& stem) {
  return stem + std::string(ending) + ".index.json";
}

std::string index_text(const std::vector<TensorFilePlan>& files) {
  std::int64_t bytes = 0;
  std::map<std::string, std::string> places;
  for (const auto& file : files) {
    bytes += data_bytes(file.header);
    for (const auto& entry : file.header.entries) places.emplace(entry.name, file.name);
  }
  const nlohmann::json index{{"metadata", {{"total_size", bytes}}}, {"weight_map", places}};
  return index.dump(2) + "\n";
}

WrittenFile planned_file(const TensorFilePlan& plan) {
  for (const auto& entry : plan.header.entries)
    if (!safetensors_dtype(entry.dtype))
      throw Error(Exit::data, "'{}' cannot hold tensor '{}' of type {}", plan.name, entry.name,
                  c10::toString(entry.dtype));
  const auto text = to_text(plan.header);
  return {static_cast<std::int64_t>(text.size()) + data_bytes(plan.header), sha256(text)};
}

void make_file(const std::string& folder, const TensorFilePlan& plan) {
  const auto path = folder + "/" + plan.name;
  const auto header = write_file(path, to_text(plan.header));
  const auto size = header.size + data_bytes(plan.header);
  if (::truncate(path.c_str(), size) != 0) fail("write", path, errno);
}

TensorPlaces::TensorPlaces(const std::vector<TensorFilePlan>& files) {
  for (const auto& file : files) {
    const auto data = static_cast<std::int64_t>(to_text(file.header).size());
    for (const auto& entry : file.header.entries)
      places_.emplace(entry.name, Place{file.name, data + entry.begin, entry});
  }
}

}  // namespace ddptrain
