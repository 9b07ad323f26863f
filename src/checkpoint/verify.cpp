#include "checkpoint/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(const std::string& file, const std::string& what) {
  throw Error(Exit::data, "'" + file + "' " + what);
}

// Which tensors of a file whose digest is wrong; empty where its header is broken or all are well.
std::string damaged_tensors(const std::string& path, const ManifestFile& listed) {
  std::vector<std::string> damaged;
  const auto content = read_safetensors(path);
  for (const auto& [name, tensor] : content.tensors) {
    const auto known =
        std::find_if(listed.tensors.begin(), listed.tensors.end(),
                     [&name = name](const auto& entry) { return entry.first == name; });
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
    refuse_file(folder, fmt::format("holds step {} by its manifest", manifest.step));
}

// Of every checkpoint; others are there where a run has them. A manifest whose own digest is right
// may lack one all the same, and a run would resume as if it had just begun.
void check_files(const std::string& folder, const Manifest& manifest) {
  for (const std::string name : {"model.safetensors", "optimizer.safetensors", kStateJson})
    if (std::ranges::none_of(manifest.files,
                             [&](const ManifestFile& file) { return file.name == name; }))
      refuse_file(folder + "/MANIFEST.json", "does not list '" + name + "'");
}

void verify_file(const std::string& folder, const ManifestFile& listed) {
  const auto path = folder + "/" + listed.name;
  std::error_code none;
  if (!fs::exists(path, none)) refuse_file(path, "is missing");
  if (!fs::is_regular_file(path, none)) refuse_file(path, "is not a file");
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  if (size != listed.written.size)
    refuse_file(path,
                fmt::format("has {} bytes, MANIFEST.json says {}", size, listed.written.size));
  if (digest_file(DigestKind::sha256, path) == listed.written.sha256) return;
  std::string where;
  if (!listed.tensors.empty()) try {
      where = damaged_tensors(path, listed);
    } catch (const Error& error) {
      where = std::string(": ") + error.what();
    }
  refuse_file(path, "is damaged: its sha256 is not that of MANIFEST.json" + where);
}

}  // namespace

std::string tensor_checksum(const at::Tensor& tensor) {
  const auto bytes = tensor.detach().cpu().contiguous();
  char text[9];
  std::snprintf(text, sizeof text, "%08x",
                crc32c({static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()}));
  return text;
}

Manifest verify_checkpoint(const std::string& folder) {
  const auto path = folder + "/MANIFEST.json";
  auto manifest = parse_manifest(read_text(path), path);
  check_place(folder, manifest);
  check_files(folder, manifest);
  for (const auto& file : manifest.files) verify_file(folder, file);
  return manifest;
}

std::vector<std::string> damages_of(const std::string& folder) {
  std::vector<std::string> damages;
  const auto look = [&](const auto& check) {
    try {
      check();
    } catch (const Error& error) {
      damages.emplace_back(error.what());
    }
  };
  Manifest manifest;
  look([&] {
    const auto path = folder + "/MANIFEST.json";
    if (!fs::exists(path)) refuse_file(path, "is missing");
    manifest = parse_manifest(read_text(path), path);
    check_place(folder, manifest);
    check_files(folder, manifest);
  });
  for (const auto& file : manifest.files) look([&] { verify_file(folder, file); });
  return damages;
}

}  // namespace ddptrain
