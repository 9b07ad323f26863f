#include "checkpoint/safetensors_header.h"

#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/tensor_image.h"

namespace ddptrain {
namespace {

using c10::ScalarType;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

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
    throw Error(Exit::data, "'{}' is no sound safetensors file: {}", file_, what);
  }
  [[noreturn]] void tensor(const std::string& name, const std::string& what) const {
    header(fmt::format("tensor '{}' {}", shown(name, 200), what));
  }

 private:
  const std::string& file_;
};

/// Takes the header as it is parsed, without a tree of it: time and memory are linear in its size.
/// The format knows three levels, whole numbers from 0, and each key once.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const Refusal& refuse) : refuse_(refuse) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (level_ == 2) value("an object");
    if (level_ > 2) refuse_.header("its header is nested too deeply");
    ++level_;
    if (level_ == 2) begin_entry();
    return true;
  }
  bool end_object() override {
    if (level_ == 2 && !metadata_) header_.entries.push_back(finished());
    --level_;
    return true;
  }
  bool key(string_t& key) override {
    if (level_ == 1) {
      if (!names_.insert(key).second) twice(key);
      name_ = key;
    } else {
      if (!metadata_ && key != "dtype" && key != "shape" && key != "data_offsets")
        refuse_.tensor(name_, fmt::format("has the unknown key '{}'", shown(key, 200)));
      if (!keys_.insert(key).second) twice(key);
      key_ = key;
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (level_ == 2 && !metadata_ && key_ != "dtype") return level_ = 3, true;
    if (level_ == 3) refuse_.header("its header is nested too deeply");
    return value("a list");
  }
  bool end_array() override { return level_ = 2, true; }
  bool string(string_t& text) override {
    if (level_ == 2 && metadata_) return header_.metadata[key_] = text, true;
    if (level_ != 2 || key_ != "dtype") return value(fmt::format("\"{}\"", text));
    entry_.dtype = dtype_of(text);
    return has_dtype_ = true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (level_ != 3 || number > INT64_MAX) return value(std::to_string(number));
    (key_ == "shape" ? entry_.shape : offsets_).push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool null() override { return value("null"); }
  bool boolean(bool on) override { return value(on ? "true" : "false"); }
  bool binary(binary_t&) override { return value("bytes"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    refuse_.header("its header is not JSON");
  }

 private:
  /// A value that may not stand where it does.
  [[noreturn]] bool value(const std::string& text) const {
    if (level_ <= 1 && name_ == "__metadata__")
      refuse_.header("its '__metadata__' is not an object");
    if (level_ <= 1) refuse_.tensor(name_, "is not described by an object");
    if (metadata_) refuse_.header("'" + shown(key_, 200) + "' in its '__metadata__' is not text");
    if (level_ == 2) refuse_.tensor(name_, "has no " + key_);
    refuse_.tensor(name_, fmt::format("has {} in its {}", shown(text, 200), key_));
  }
  [[noreturn]] void twice(const std::string& key) const {
    refuse_.header(fmt::format("'{}' comes twice in its header", shown(key, 200)));
  }

  void begin_entry() {
    metadata_ = name_ == "__metadata__";
    keys_.clear();
    entry_ = {};
    offsets_.clear();
    has_dtype_ = false;
  }
  ScalarType dtype_of(const std::string& written) const {
    for (const auto& [text, dtype] : dtypes)
      if (written == text) return dtype;
    refuse_.tensor(name_, fmt::format("has the unknown dtype \"{}\"", shown(written, 200)));
  }
  TensorEntry finished();

  const Refusal& refuse_;
  SafetensorsHeader header_;
  std::unordered_set<std::string> names_, keys_;  // seen at the first level; in this object
  int level_ = 0;                                 // of braces and brackets
  bool metadata_ = false, has_dtype_ = false;
  std::string name_, key_;
  TensorEntry entry_;
  std::vector<std::int64_t> offsets_;
};

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

TensorEntry HeaderReader::finished() {
  if (!has_dtype_) refuse_.tensor(name_, "has no dtype");
  if (!keys_.contains("shape")) refuse_.tensor(name_, "has no shape");
  if (entry_.shape.size() > 64) refuse_.tensor(name_, "has more than 64 dimensions");
  if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
    refuse_.tensor(name_, "has data_offsets that are no range");
  entry_.name = name_;
  entry_.begin = offsets_[0];
  entry_.end = offsets_[1];
  if (entry_.end - entry_.begin != size_of(entry_, refuse_))
    refuse_.tensor(name_, "has a shape and data_offsets that disagree");
  return std::move(entry_);
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
    refuse.header(fmt::format("it has {} behind its last tensor", plural(data_size - at, "byte")));
}

}  // namespace

const char* safetensors_dtype(ScalarType dtype) {
  for (const auto& [text, known] : dtypes)
    if (known == dtype) return text;
  return nullptr;
}

std::string to_text(const SafetensorsHeader& header) {
  // Not one object of them all: its keys would be sought one by one.
  std::string text = "{";
  const auto add = [&](const std::string& key, const Json& value) {
    text += (text.size() > 1 ? "," : "") + json_text(Json(key)) + ":" + json_text(value);
  };
  if (!header.metadata.empty()) add("__metadata__", header.metadata);
  for (const auto& entry : header.entries)
    add(entry.name, {{"dtype", safetensors_dtype(entry.dtype)},
                     {"shape", entry.shape},
                     {"data_offsets", {entry.begin, entry.end}}});
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

void lay_out(std::vector<TensorEntry>& entries) {
  std::vector<TensorEntry*> order;
  for (auto& entry : entries) order.push_back(&entry);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* entry) { return c10::elementSize(entry->dtype); });
  std::int64_t at = 0;
  for (auto* entry : order) {
    entry->begin = at;
    entry->end = at += bytes_of(*entry);
  }
}

std::int64_t bytes_of(const TensorEntry& entry) {
  return c10::multiply_integers(entry.shape) *
         static_cast<std::int64_t>(c10::elementSize(entry.dtype));
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_size,
                                           const std::string& file) {
  const Refusal refuse(file);
  if (text.empty() || text.front() != '{') refuse.header("its header does not begin with '{'");
  if (text.find('\0') != std::string_view::npos) refuse.header("there is a NUL in its header");
  HeaderReader reader(refuse);
  Json::sax_parse(text, &reader);
  auto header = reader.take();
  check_cover(header.entries, data_size, refuse);
  return header;
}

SafetensorsHeader read_safetensors_header(const TensorImage& file) {
  const Refusal refuse(file.path());
  if (file.size() < 8) refuse.header(fmt::format("it has only {} bytes", file.size()));
  std::uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length, 0);
  if (length > longest_header) refuse.header(fmt::format("its header claims {} bytes", length));
  if (length > file.size() - 8) refuse.header("its header is cut short");
  std::string json(length, '\0');
  file.read(json.data(), length, 8);
  auto header = parse_safetensors_header(json, static_cast<std::int64_t>(file.size() - 8 - length),
                                         file.path());
  header.size = 8 + length;
  return header;
}

}  // namespace ddptrain
