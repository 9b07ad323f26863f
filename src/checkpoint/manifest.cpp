#include "checkpoint/manifest.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"

namespace ddptrain {
namespace {

const std::string no_digest(64, '0');
constexpr std::string_view digest_key = "\"manifest_sha256\": \"";

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(Exit::data, "'{}' {}", file, what);
}

// The manifest's own digest is that of its text with zeros in the digest's place.
void check_own_digest(std::string text, const std::string& file) {
  const auto at = text.rfind(digest_key);
  if (at == std::string::npos || at + digest_key.size() + 64 > text.size())
    refuse(file, "is damaged: it has no digest of its own");
  const auto digest = text.substr(at + digest_key.size(), 64);
  text.replace(at + digest_key.size(), 64, no_digest);
  if (sha256(text) != digest) refuse(file, "is damaged: its digest is another one");
}

// Names come from a file: they must stay inside the folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name[0] != '.';
}

/// A number such as 7e40 would not fit.
std::int64_t whole_number(const Json& value, const std::string& key, const std::string& file) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    refuse(file, fmt::format("has a {} that is not a whole number: {}", key, json_text(value)));
  return value.get<std::int64_t>();
}

constexpr int format_of_blocks = 2;
constexpr int format_of_ranks = 3;
constexpr const char* header_key = "header_sha256";

bool are_blocks(const std::string& checksums) {
  return !checksums.empty() && checksums.size() % 8 == 0 &&
         checksums.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// [rank, place in its file, bytes], one range behind another.
std::vector<FileRange> parse_ranges(const std::string& name, const Json& list,
                                    const std::vector<std::int64_t>& rank_bytes,
                                    const std::string& file) {
  std::vector<FileRange> ranges;
  std::int64_t next = 0;
  for (const auto& each : list) {
    FileRange range{next, whole_number(each.at(2), "length of a range", file),
                    whole_number(each.at(0), "rank", file),
                    whole_number(each.at(1), "place in a file", file)};
    const auto known = range.rank < std::ssize(rank_bytes);
    const auto bytes = known ? rank_bytes[static_cast<std::size_t>(range.rank)] : 0;
    if (range.count == 0 || range.count > bytes || range.at > bytes - range.count)
      refuse(file, "has a range of '" + name + "' that is in no file: " + json_text(each));
    next += range.count;
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<std::int64_t> parse_rank_bytes(const Json& json, const std::string& file) {
  std::vector<std::int64_t> bytes;
  for (const auto& each : json.value("rank_bytes", Json::array()))
    bytes.push_back(whole_number(each, "size", file));
  return bytes;
}

ManifestFile parse_file(const std::string& name, const Json& entry,
                        const std::vector<std::int64_t>& rank_bytes, const std::string& file) {
  if (!is_plain_name(name)) refuse(file, "names a file outside its folder: '" + name + "'");
  ManifestFile listed{name, {whole_number(entry.at("size"), "size", file), ""}, {}};
  if (entry.contains("ranges")) {
    listed.ranges = parse_ranges(name, entry["ranges"], rank_bytes, file);
    const auto end = listed.ranges.empty() ? FileRange() : listed.ranges.back();
    if (end.first + end.count != listed.written.size)
      refuse(file, fmt::format("has ranges of '{}' that are not all of it", name));
  }
  listed.in_blocks = entry.contains(header_key);
  listed.written.sha256 = entry.at(listed.in_blocks ? header_key : "sha256");
  const auto checksums = entry.value("crc32c", Json::object());
  for (const auto& [tensor, checksum] : checksums.items()) {
    listed.tensors.emplace_back(tensor, checksum);
    if (listed.in_blocks && !are_blocks(listed.tensors.back().second))
      refuse(file, "has checksums of '" + tensor + "' that are none: " + json_text(checksum));
  }
  return listed;
}

}  // namespace

std::string rank_file_name(std::int64_t rank, std::int64_t ranks) {
  return fmt::format("rank-{:05}-of-{:05}.bin", rank, ranks);
}

std::string to_text(const Manifest& manifest) {
  Json json;
  const bool has_ranks = !manifest.rank_bytes.empty();
  json["format"] = has_ranks ? format_of_ranks : format_of_blocks;
  json["step"] = manifest.step;
  if (has_ranks) json["rank_bytes"] = manifest.rank_bytes;
  for (const auto& file : manifest.files) {
    auto& entry = json["files"][file.name];
    entry = {{"size", file.written.size},
             {file.in_blocks ? header_key : "sha256", file.written.sha256}};
    for (const auto& [name, checksum] : file.tensors) entry["crc32c"][name] = checksum;
    for (const auto& range : file.ranges)
      entry["ranges"].push_back({range.rank, range.at, range.count});
  }
  json["manifest_sha256"] = no_digest;
  auto text = json_text(json, 2) + "\n";
  text.replace(text.rfind(no_digest), 64, sha256(text));
  return text;
}

Manifest parse_manifest(const std::string& text, const std::string& file) try {
  check_own_digest(text, file);
  const auto json = parse_json(text);
  const auto& format = json.at("format");
  if (format != 1 && format != format_of_blocks && format != format_of_ranks)
    refuse(file, "has format " + json_text(format) +
                     " and needs a newer ddptrain; this one reads formats 1 to 3");
  Manifest manifest;
  manifest.step = whole_number(json.at("step"), "step", file);
  manifest.rank_bytes = parse_rank_bytes(json, file);
  for (const auto& [name, entry] : json.at("files").items())
    manifest.files.push_back(parse_file(name, entry, manifest.rank_bytes, file));
  return manifest;
} catch (const Json::exception& error) {
  refuse(file, std::string("is no manifest of a checkpoint: ") + error.what());
}

}  // namespace ddptrain
