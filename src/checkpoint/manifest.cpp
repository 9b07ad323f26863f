#include "checkpoint/manifest.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

Manifest parse(const std::string& text, const std::string& file) try {
  const auto json = Json::parse(text);
  if (json.at("format") != 1)
    refuse(file, "has format " + json.at("format").dump() + ", this program reads format 1");
  Manifest manifest;
  manifest.step = json.at("step");
  for (const auto& [name, entry] : json.at("files").items()) {
    if (!is_plain_name(name)) refuse(file, "names a file outside its folder: '" + name + "'");
    ManifestFile listed{name, {entry.at("size"), entry.at("sha256")}, {}};
    const auto checksums = entry.value("crc32c", Json::object());
    for (const auto& [tensor, checksum] : checksums.items())
      listed.tensors.emplace_back(tensor, checksum);
    manifest.files.push_back(std::move(listed));
  }
  return manifest;
} catch (const Json::exception& error) {
  refuse(file, std::string("is no manifest of a checkpoint: ") + error.what());
}

// Which tensors of a file whose digest is wrong; empty where its header is broken or all are well.
std::string damaged_tensors(const std::string& path, const ManifestFile& listed) {
  std::vector<std::string> damaged;
  const auto content = read_safetensors(path);
  for (const auto& [name, tensor] : content.tensors) {
    const auto known = std::find_if(listed.tensors.begin(), listed.tensors.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known == listed.tensors.end() || known->second != tensor_checksum(tensor))
      damaged.push_back("'" + name + "'");
  }
  if (damaged.empty()) return " (in its header)";
  if (damaged.size() > 3) damaged.resize(3), damaged.emplace_back("...");
  return " (tensor " + join(damaged, ", ") + ")";
}

// A folder that was renamed would be taken for a newer one.
void check_place(const std::string& folder, const Manifest& manifest) {
  const auto name = fs::path(folder).filename().string();
  if (name.rfind("step-", 0) == 0 && parse_integer(name.substr(5)) != manifest.step)
    refuse(folder, "holds step " + std::to_string(manifest.step) + " by its manifest");
}

void verify_file(const std::string& folder, const ManifestFile& listed) {
  const auto path = folder + "/" + listed.name;
  std::error_code none;
  if (!fs::exists(path, none)) refuse(path, "is missing");
  if (!fs::is_regular_file(path, none)) refuse(path, "is not a file");
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  if (size != listed.written.size)
    refuse(path, "has " + std::to_string(size) + " bytes, MANIFEST.json says " +
                     std::to_string(listed.written.size));
  if (digest_file(DigestKind::sha256, path) == listed.written.sha256) return;
  std::string where;
  if (!listed.tensors.empty()) try {
      where = damaged_tensors(path, listed);
    } catch (const Error& error) {
      where = std::string(": ") + error.what();
    }
  refuse(path, "is damaged: its sha256 is not that of MANIFEST.json" + where);
}

}  // namespace

std::string tensor_checksum(const at::Tensor& tensor) {
  const auto bytes = tensor.detach().cpu().contiguous();
  char text[9];
  std::snprintf(text, sizeof text, "%08x",
                crc32c({static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()}));
  return text;
}

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
  auto text = json.dump(2) + "\n";
  text.replace(text.rfind(no_digest), 64, sha256(text));
  return text;
}

Manifest verify_checkpoint(const std::string& folder) {
  const auto path = folder + "/MANIFEST.json";
  const auto text = read_text(path);
  check_own_digest(text, path);
  auto manifest = parse(text, path);
  check_place(folder, manifest);
  for (const auto& file : manifest.files) verify_file(folder, file);
  return manifest;
}

}  // namespace ddptrain
