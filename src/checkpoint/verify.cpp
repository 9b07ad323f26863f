#include "checkpoint/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/block_checksums.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/tensor_files.h"
#include "checkpoint/tensor_image.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDamaged = "is damaged: its checksums are not those of MANIFEST.json";

[[noreturn]] void refuse_file(const std::string& file, const std::string& what) {
  throw Error(Exit::data, "'{}' {}", file, what);
}

std::string list_of_tensors(std::vector<std::string> names) {
  for (auto& name : names) name = fmt::format("'{}'", name);
  if (names.size() > 3) names.resize(3), names.emplace_back("...");
  return fmt::format(" (tensor {})", join(names, ", "));
}

const std::string* checksums_in(const ManifestFile& listed, const std::string& name) {
  const auto known =
      std::ranges::find(listed.tensors, name, &std::pair<std::string, std::string>::first);
  return known == listed.tensors.end() ? nullptr : &known->second;
}

// Which tensors of a file whose digest is wrong; empty where its header is broken or all are well.
std::string damaged_tensors(const std::string& path, const ManifestFile& listed) {
  std::vector<std::string> damaged;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) {
    const auto* known = checksums_in(listed, name);
    if (!known || *known != tensor_checksum(tensor)) damaged.push_back(name);
  }
  return damaged.empty() ? " (in its header)" : list_of_tensors(damaged);
}

/// What a verifier finds of tensors, by the file on the disk that has their bytes: "'a'", or "'a'
/// or 'b'" where a block is in two.
class Findings {
 public:
  void note(const std::string& holder, const std::string& tensor, bool right) {
    auto& found = by_holder_[holder];
    found.seen.insert(tensor);
    if (right) return;
    auto& damaged = found.damaged;
    if (damaged.empty() || damaged.back() != tensor) damaged.push_back(tensor);
  }

  /// Throws where there is damage. `all`: every block was looked at.
  void require_none(bool all) const {
    for (const auto& [holder, found] : by_holder_) {
      const auto count = found.damaged.size();
      if (all && count > 1 && count == found.seen.size())
        throw Error(Exit::data,
                    "{} is of another checkpoint: MANIFEST.json has other checksums of all tensors",
                    holder);
      if (count > 0)
        throw Error(Exit::data, "{} {}{}", holder, kDamaged, list_of_tensors(found.damaged));
    }
  }

 private:
  struct OfHolder {
    std::set<std::string> seen;
    std::vector<std::string> damaged;  // in the file's order
  };
  std::map<std::string, OfHolder> by_holder_;
};

std::string holder_of(const TensorImage& file, std::uint64_t first, std::uint64_t bytes) {
  const auto names = file.holders(first, bytes);
  return names.empty() ? fmt::format("'{}'", file.path()) : one_of(names);
}

/// A file's blocks one after another, of which a verifier looks at some.
class Blocks {
 public:
  Blocks(const TensorImage& file, const SafetensorsHeader& header, BlockShare share)
      : file_(file), header_(header), share_(share), buffer_(kBlockBytes, '\0') {}

  /// `checksums`: those of the manifest; null: it has none.
  void look_at(const TensorEntry& entry, const std::string* checksums, Findings& findings) {
    const auto size = bytes_of(entry);
    const auto count = blocks_in(size);
    const bool known = checksums && std::ssize(*checksums) == 8 * count;
    for (std::int64_t block = 0; block < count; ++block) {
      if (next_++ % share_.parts != share_.part && known) continue;
      const auto first = block * kBlockBytes;
      const auto bytes = static_cast<std::uint64_t>(std::min(kBlockBytes, size - first));
      const auto at = header_.size + static_cast<std::uint64_t>(entry.begin + first);
      const bool right = known && checksum_at(at, bytes) == checksum_of_block(*checksums, block);
      findings.note(holder_of(file_, at, bytes), entry.name, right);
      if (!known) return;
    }
  }

 private:
  std::string checksum_at(std::uint64_t at, std::uint64_t bytes) {
    file_.read(buffer_.data(), bytes, at);
    return digits_of(crc32c({buffer_.data(), bytes}));
  }

  const TensorImage& file_;
  const SafetensorsHeader& header_;
  BlockShare share_;
  std::string buffer_;
  std::int64_t next_ = 0;
};

/// Throws where the first bytes of a file are not those that the manifest knows.
void verify_beginning(const TensorImage& file, std::uint64_t bytes, const ManifestFile& listed) {
  std::string text(bytes, '\0');
  file.read(text.data(), text.size(), 0);
  if (sha256(text) == listed.written.sha256) return;
  const bool whole = bytes == file.size();
  throw Error(Exit::data, "{} {}{}", holder_of(file, 0, bytes), kDamaged,
              whole ? " ('" + listed.name + "')" : " (in its header)");
}

/// Where the header ends, when it is the one that the manifest knows.
SafetensorsHeader verified_header(const TensorImage& file, const ManifestFile& listed) {
  SafetensorsHeader header;
  try {
    header = read_safetensors_header(file);
  } catch (const Error& error) {
    if (listed.ranges.empty()) throw;
    throw Error(Exit::data, "{} is damaged: {}", holder_of(file, 0, 1), error.what());
  }
  verify_beginning(file, header.size, listed);
  return header;
}

void verify_blocks(const TensorImage& file, const ManifestFile& listed, BlockShare share) {
  const auto header = verified_header(file, listed);
  Blocks blocks(file, header, share);
  Findings findings;
  for (const auto& entry : header.entries)
    blocks.look_at(entry, checksums_in(listed, entry.name), findings);
  findings.require_none(share.parts == 1);
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
  const auto require = [&](const std::string& name, auto&& is_it) {
    if (std::ranges::none_of(manifest.files, is_it))
      refuse_file(folder + "/MANIFEST.json", fmt::format("does not list '{}'", name));
  };
  const auto named = [](const std::string& name) {
    return [name](const ManifestFile& file) { return file.name == name; };
  };
  for (const std::string stem : {"model", "optimizer"})
    require(stem + ".safetensors",
            [&](const ManifestFile& file) { return stem_of(file.name) == stem; });
  require(kStateJson, named(kStateJson));
  for (const auto& file : manifest.files)
    for (const auto& name : siblings_of(file.name)) require(name, named(name));
}

void verify_size(const std::string& path, std::int64_t expected) {
  std::error_code none;
  if (!fs::exists(path, none)) refuse_file(path, "is missing");
  if (!fs::is_regular_file(path, none)) refuse_file(path, "is not a file");
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  if (size != expected)
    refuse_file(path, fmt::format("has {} bytes, MANIFEST.json says {}", size, expected));
}

/// The files of ranks are there, and as long as they were.
void verify_rank_file(const std::string& folder, const Manifest& manifest, std::size_t rank) {
  const auto bytes = manifest.rank_bytes[rank];
  const auto name =
      rank_file_name(static_cast<std::int64_t>(rank), std::ssize(manifest.rank_bytes));
  if (bytes > 0) verify_size(folder + "/" + name, bytes);
}

void verify_ranges(const TensorImage& file, const ManifestFile& listed, BlockShare share) {
  if (listed.in_blocks) return verify_blocks(file, listed, share);
  verify_beginning(file, file.size(), listed);
}

void verify_file(const std::string& folder, const Manifest& manifest, const ManifestFile& listed,
                 BlockShare share = {}) {
  if (!listed.ranges.empty())
    return verify_ranges(TensorImage(folder, manifest, listed), listed, share);
  const auto path = folder + "/" + listed.name;
  verify_size(path, listed.written.size);
  if (listed.in_blocks) return verify_blocks(TensorImage(path), listed, share);
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
  return digits_of(crc32c({static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()}));
}

Manifest verify_checkpoint(const std::string& folder, BlockShare share) {
  const auto path = folder + "/MANIFEST.json";
  auto manifest = parse_manifest(read_text(path), path);
  check_place(folder, manifest);
  check_files(folder, manifest);
  for (std::size_t rank = 0; rank < manifest.rank_bytes.size(); ++rank)
    verify_rank_file(folder, manifest, rank);
  for (const auto& file : manifest.files) verify_file(folder, manifest, file, share);
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
  const auto before = damages.size();
  for (std::size_t rank = 0; rank < manifest.rank_bytes.size(); ++rank)
    look([&] { verify_rank_file(folder, manifest, rank); });
  const bool has_ranks = damages.size() == before;  // else what lies in them cannot be read
  for (const auto& file : manifest.files)
    if (file.ranges.empty() || has_ranks) look([&] { verify_file(folder, manifest, file); });
  return damages;
}

}  // namespace ddptrain
