#include "checkpoint/manifest.h"

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"

namespace ddptrain {
namespace {

const std::string no_digest(64, '0');
constexpr std::string_view digest_key = "\"manifest_sha256\": \"";

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(Exit::data, "'" + file + "' " + what);
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
    refuse(file, "has a " + key + " that is not a whole number: " + json_text(value));
  return value.get<std::int64_t>();
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  Json json;
  json["format"] = 1;
  json["step"] = manifest.step;
  for (const auto& file : manifest.files) {
    auto& entry = json["files"][file.name];
    entry = {{"size", file.written.size}, {"sha256", file.written.sha256}};
    for (const auto& [name, checksum] : file.tensors) entry["crc32c"][name] = checksum;
  }
  json["manifest_sha256"] = no_digest;
  auto text = json_text(json, 2) + "\n";
  text.replace(text.rfind(no_digest), 64, sha256(text));
  return text;
}

Manifest parse_manifest(const std::string& text, const std::string& file) try {
  check_own_digest(text, file);
  const auto json = parse_json(text);
  if (json.at("format") != 1)
    refuse(file, "has format " + json_text(json.at("format")) + ", this program reads format 1");
  Manifest manifest;
  manifest.step = whole_number(json.at("step"), "step", file);
  for (const auto& [name, entry] : json.at("files").items()) {
    if (!is_plain_name(name)) refuse(file, "names a file outside its folder: '" + name + "'");
    const auto size = whole_number(entry.at("size"), "size", file);
    ManifestFile listed{name, {size, entry.at("sha256")}, {}};
    const auto checksums = entry.value("crc32c", Json::object());
    for (const auto& [tensor, checksum] : checksums.items())
      listed.tensors.emplace_back(tensor, checksum);
    manifest.files.push_back(std::move(listed));
  }
  return manifest;
} catch (const Json::exception& error) {
  refuse(file, std::string("is no manifest of a checkpoint: ") + error.what());
}

}  // namespace ddptrain
