#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;
using c10::ScalarType;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::pair<const char*, ScalarType> dtypes[] = {
    {"F64", ScalarType::Double},    {"F32", ScalarType::Float},  {"F16", ScalarType::Half},
    {"BF16", ScalarType::BFloat16}, {"I64", ScalarType::Long},   {"I32", ScalarType::Int},
    {"I16", ScalarType::Short},     {"I8", ScalarType::Char},    {"U8", ScalarType::Byte},
    {"BOOL", ScalarType::Bool},     {"U64", ScalarType::UInt64}, {"U32", ScalarType::UInt32},
    {"U16", ScalarType::UInt16},
};

/// Says what is wrong with a file.
class Refusal {
 public:
  explicit Refusal(const std::string& file) : file_(file) {}
  [[noreturn]] void header(const std::string& what) const {
    throw Error(Exit::data, "'" + file_ + "' is no sound safetensors file: " + what);
  }
  [[noreturn]] void tensor(const std::string& name, const std::string& what) const {
    header("tensor '" + name + "' " + what);
  }

 private:
  const std::string& file_;
};

// The format knows three levels; keys may not come twice.
Json parse_json(std::string_view text, const Refusal& refuse) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 4) refuse.header("its header is nested too deeply");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      refuse.header("'" + parsed.get<std::string>() + "' comes twice in its header");
    return true;
  };
  if (text.empty() || text.front() != '{') refuse.header("its header does not begin with '{'");
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception&) {
    refuse.header("its header is not JSON");
  }
}

ScalarType dtype_of(const std::string& name, const Json& entry, const Refusal& refuse) {
  if (!entry.is_string()) refuse.tensor(name, "has no dtype");
  for (const auto& [text, dtype] : dtypes)
    if (entry == text) return dtype;
  refuse.tensor(name, "has the unknown dtype " + entry.dump());
}

// Whole numbers of 0 .. 2^63-1, nothing else.
std::vector<std::int64_t> numbers(const std::string& name, const char* what, const Json& entry,
                                  const Refusal& refuse) {
  if (!entry.is_array()) refuse.tensor(name, std::string("has no ") + what);
  std::vector<std::int64_t> result;
  for (const auto& value : entry) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX)
      refuse.tensor(name, std::string("has ") + value.dump() + " in its " + what);
    result.push_back(value.get<std::int64_t>());
  }
  return result;
}

std::int64_t size_of(const TensorEntry& entry, const Refusal& refuse) {
  // Strides overflow too when another dimension is 0.
  auto size = static_cast<std::int64_t>(c10::elementSize(entry.dtype));
  bool empty = false;
  for (const auto length : entry.shape) {
    empty = empty || length == 0;
    if (__builtin_mul_overflow(size, std::max<std::int64_t>(length, 1), &size))
      refuse.tensor(entry.name, "has a shape whose size overflows");
  }
  return empty ? 0 : size;
}

TensorEntry parse_entry(const std::string& name, const Json& json, const Refusal& refuse) {
  if (!json.is_object()) refuse.tensor(name, "is not described by an object");
  for (const auto& [key, value] : json.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      refuse.tensor(name, "has the unknown key '" + key + "'");
  TensorEntry entry;
  entry.name = name;
  entry.dtype = dtype_of(name, json.value("dtype", Json()), refuse);
  entry.shape = numbers(name, "shape", json.value("shape", Json()), refuse);
  if (entry.shape.size() > 64) refuse.tensor(name, "has more than 64 dimensions");
  const auto offsets = numbers(name, "data_offsets", json.value("data_offsets", Json()), refuse);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse.tensor(name, "has data_offsets that are no range");
  entry.begin = offsets[0];
  entry.end = offsets[1];
  if (entry.end - entry.begin != size_of(entry, refuse))
    refuse.tensor(name, "has a shape and data_offsets that disagree");
  return entry;
}

// Every byte of the data belongs to exactly one tensor.
void check_cover(const std::vector<TensorEntry>& entries, std::int64_t data_size,
                 const Refusal& refuse) {
  std::vector<const TensorEntry*> sorted;
  for (const auto& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::int64_t at = 0;
  for (const auto* entry : sorted) {
    if (entry->end > data_size) refuse.tensor(entry->name, "runs out of the file");
    if (entry->begin < at) refuse.tensor(entry->name, "overlaps another tensor");
    if (entry->begin > at) refuse.tensor(entry->name, "follows a gap");
    at = entry->end;
  }
  if (at != data_size)
    refuse.header("it has " + std::to_string(data_size - at) + " bytes behind its last tensor");
}

std::map<std::string, std::string> parse_metadata(const Json& json, const Refusal& refuse) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) refuse.header("its '__metadata__' is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse.header("'" + key + "' in its '__metadata__' is not text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

const char* safetensors_dtype(ScalarType dtype) {
  for (const auto& [text, known] : dtypes)
    if (known == dtype) return text;
  return nullptr;
}

std::string to_text(const SafetensorsHeader& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  for (const auto& entry : header.entries)
    json[entry.name] = {{"dtype", safetensors_dtype(entry.dtype)},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  std::string text = json.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_size,
                                           const std::string& file) {
  const Refusal refuse(file);
  const auto json = parse_json(text, refuse);
  if (!json.is_object()) refuse.header("its header is not an object");
  SafetensorsHeader header;
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__")
      header.metadata = parse_metadata(entry, refuse);
    else
      header.entries.push_back(parse_entry(name, entry, refuse));
  }
  check_cover(header.entries, data_size, refuse);
  return header;
}

}  // namespace ddptrain
