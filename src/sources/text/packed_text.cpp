#include "sources/text/packed_text.h"

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
/// magic, checksum of all behind it, then the header's length, the header (JSON) and the parts:
/// every array begins at a multiple of 8 bytes.
constexpr std::string_view magic = "ddptext1";
constexpr std::size_t prefix_bytes = 24;

constexpr std::size_t alignment = 8;

void align(std::string& out) { out.resize((out.size() + alignment - 1) / alignment * alignment); }

template <class T>
void append(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  align(out);
}

/// At least the bytes that append_part() adds.
std::size_t room_for(const TextPack::Part& part) {
  auto bytes = part.ids.size() * sizeof part.ids[0] + 5 * alignment;
  for (const auto& document : part.documents)
    bytes += 4 * sizeof part.ends[0] + document.name.size();
  return bytes;
}

void append_part(std::string& out, const TextPack::Part& part, bool regression) {
  std::vector<std::int64_t> labels, name_ends;
  std::vector<double> numbers;
  std::string names;
  for (const auto& document : part.documents) {
    labels.push_back(document.label);
    if (regression) numbers.push_back(document.number);
    names += document.name;
    name_ends.push_back(static_cast<std::int64_t>(names.size()));
  }
  append(out, part.ends);
  append(out, labels);
  append(out, numbers);
  append(out, name_ends);
  append(out, part.ids);
  out += names;
  align(out);
}

Json counts(const TextPack::Part& part) {
  std::size_t names = 0;
  for (const auto& document : part.documents) names += document.name.size();
  return {{"documents", part.documents.size()}, {"tokens", part.ids.size()}, {"names", names}};
}

void put(std::string& out, std::size_t at, std::uint64_t value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

std::uint64_t get(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Takes arrays one after the other off the bytes of a part.
class Arrays {
 public:
  explicit Arrays(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::span<const T> read(std::size_t count) {
    const auto bytes = read_bytes(count * sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), count};
  }
  std::string_view read_bytes(std::size_t count) {
    const auto whole = (count + 7) / 8 * 8;
    DDP_CHECK(whole <= bytes_.size(), "a packed text with a right checksum is whole");
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(whole);
    return taken;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string PackedText::encode(const TextPack& pack) {
  std::string parts;
  parts.reserve(room_for(pack.parts[0]) + room_for(pack.parts[1]));
  for (const auto& part : pack.parts) append_part(parts, part, pack.regression);
  Json header{{"classes", pack.classes},
              {"tokens", pack.tokens},
              {"padding", pack.padding},
              {"notes", pack.notes},
              {"parts", {counts(pack.parts[0]), counts(pack.parts[1])}},
              {"digest", sha256(parts)}};
  if (pack.regression) header["regression"] = true;
  const auto text = lossy_json_text(header);
  std::string out(magic);
  out.reserve(prefix_bytes + text.size() + alignment + parts.size());
  out.resize(prefix_bytes);
  out += text;
  align(out);
  out += parts;
  put(out, 16, text.size());
  put(out, 8, crc32c(std::string_view(out).substr(16)));
  return out;
}

std::optional<PackedText> PackedText::open(const std::string& path) {
  FileUse use(path);  // first, so that the file stays
  std::error_code unknown;
  if (!fs::exists(path, unknown) || fs::file_size(path, unknown) < prefix_bytes) return {};
  PackedText text{MappedFile(path), std::move(use)};
  if (!text.read()) return {};
  return text;
}

PackedText PackedText::in_memory(const TextPack& pack) {
  const auto bytes = encode(pack);
  PackedText text{MappedFile(std::vector<std::uint8_t>(bytes.begin(), bytes.end())), FileUse()};
  DDP_CHECK(text.read(), "what was encoded reads");
  return text;
}

bool PackedText::read() {
  const auto bytes = file_.bytes();
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!all.starts_with(magic) || get(all, 8) != crc32c(all.substr(16))) return false;
  const auto header_bytes = static_cast<std::size_t>(get(all, 16));
  const auto header = parse_json(all.substr(prefix_bytes, header_bytes));
  regression_ = header.value("regression", false);
  classes_ = header.at("classes");
  tokens_ = header.at("tokens");
  padding_ = header.at("padding");
  notes_ = header.at("notes");
  digest_ = header.at("digest");
  Arrays arrays(all.substr(prefix_bytes + (header_bytes + 7) / 8 * 8));
  for (std::size_t split = 0; split < 2; ++split) {
    const auto& counted = header.at("parts").at(split);
    auto& part = parts_[split];
    const std::size_t documents = counted.at("documents");
    part.ends = arrays.read<std::int64_t>(documents);
    part.labels = arrays.read<std::int64_t>(documents);
    if (regression_) part.numbers = arrays.read<double>(documents);
    part.name_ends = arrays.read<std::int64_t>(documents);
    part.ids = arrays.read<std::int32_t>(counted.at("tokens"));
    part.names = arrays.read_bytes(counted.at("names"));
  }
  return true;
}

std::span<const std::int32_t> PackedText::document(std::size_t split, std::size_t index) const {
  const auto& part = parts_[split];
  const auto first = static_cast<std::size_t>(index == 0 ? 0 : part.ends[index - 1]);
  return part.ids.subspan(first, static_cast<std::size_t>(part.ends[index]) - first);
}

std::string PackedText::name(std::size_t split, std::size_t index) const {
  const auto& part = parts_[split];
  const auto first = static_cast<std::size_t>(index == 0 ? 0 : part.name_ends[index - 1]);
  return std::string(
      part.names.substr(first, static_cast<std::size_t>(part.name_ends[index]) - first));
}

}  // namespace ddptrain
