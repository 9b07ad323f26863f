#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/new_folder.h"
#include "checkpoint/older_checkpoints.h"
#include "checkpoint/tensor_files.h"
#include "checkpoint/tensor_image.h"
#include "checkpoint/verify.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";

std::optional<std::int64_t> step_of(const std::string& name) {
  if (name.rfind(prefix, 0) != 0) return {};
  return parse_integer(name.substr(prefix.size()));
}

bool verifies(const std::string& folder, std::string* why) {
  try {
    verify_checkpoint(folder);
    return true;
  } catch (const Error& error) {
    *why = error.what();
    return false;
  }
}

Checkpoint read_files(const std::string& folder, const Manifest& manifest,
                      Safetensors (*read)(const TensorImage&)) {
  Checkpoint checkpoint;
  checkpoint.step = manifest.step;
  for (const auto& file : manifest.files) {
    for (const auto& part : kTensorFiles)
      if (stem_of(file.name) == part.stem)
        for (auto& named : read(TensorImage(folder, manifest, file)).tensors)
          (checkpoint.*part.tensors).push_back(std::move(named));
    if (file.name == kStateJson) checkpoint.state = read_text(folder + "/" + file.name);
  }
  return checkpoint;
}

std::string target_of_best(const std::string& root) {
  std::error_code none;
  return fs::read_symlink(root + "/best", none).filename().string();
}

}  // namespace

std::string checkpoint_name(std::int64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

std::vector<TensorPart> whole_parts(const std::vector<NamedTensor>& tensors) {
  std::vector<TensorPart> parts;
  for (const auto& [name, tensor] : tensors)
    parts.push_back({name, tensor.sizes().vec(), 0, tensor, std::ssize(parts)});
  return parts;
}

CheckpointParts parts_of(const Checkpoint& checkpoint) {
  CheckpointParts parts{checkpoint.step, {}, {}, {}, {}, {}, checkpoint.state};
  for (const auto& file : kTensorFiles) parts.*file.parts = whole_parts(checkpoint.*file.tensors);
  return parts;
}

Checkpoint map_checkpoint(const std::string& folder) {
  const auto path = folder + "/MANIFEST.json";
  return read_files(folder, parse_manifest(read_text(path), path), map_safetensors);
}

Checkpoint load_checkpoint(const std::string& folder) {
  return read_files(folder, verify_checkpoint(folder), read_safetensors);
}

std::vector<std::string> checkpoint_folders(const std::string& root) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root, none))
    if (const auto step = step_of(entry.path().filename().string()))
      found.emplace_back(*step, entry.path());
  std::sort(found.begin(), found.end());
  std::vector<std::string> folders;
  for (auto& [step, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

std::vector<std::string> list_checkpoints(const std::string& root) {
  auto folders = checkpoint_folders(root);
  std::error_code none;
  std::erase_if(folders,
                [&](const auto& folder) { return !fs::exists(folder + "/MANIFEST.json", none); });
  return folders;
}

std::optional<std::string> newest_checkpoint(const std::string& root,
                                             std::vector<std::string>& notes) {
  const auto folders = checkpoint_folders(root);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    std::string why;
    if (verifies(*folder, &why)) return *folder;
    notes.push_back("the checkpoint '" + *folder + "' is not used: " + why);
  }
  return {};
}

std::string copy_checkpoint(const std::string& folder, const std::string& root) {
  make_folders(root);
  const auto name = fs::path(folder).filename().string();
  NewFolder copy(root, name);
  std::error_code code;
  fs::copy(folder, copy.path(), fs::copy_options::recursive, code);
  if (code) throw Error(Exit::data, "cannot copy '{}' to '{}': {}", folder, root, code.message());
  copy.put_at(root + "/" + name);
  return root + "/" + name;
}

void link_best(const std::string& root, const std::string& folder) {
  const auto code = replace_link(root + "/best", fs::path(folder).filename());
  if (code) throw Error(Exit::data, "cannot write '{}/best': {}", root, code.message());
  sync_folder(root);
}

void delete_older_checkpoints(const std::string& root, std::int64_t keep_last,
                              const std::string& best) {
  const auto folders = list_checkpoints(root);
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(keep_last, 1));
  const auto linked = target_of_best(root);
  for (std::size_t i = 0; i + keep < folders.size(); ++i) {
    const auto name = fs::path(folders[i]).filename().string();
    if (name != fs::path(best).filename().string() && name != linked) discard(root, name);
  }
}

void prune_checkpoints(const std::string& root, std::int64_t keep_last, const std::string& best) {
  const auto folders = list_checkpoints(root);
  if (std::ssize(folders) <= std::max<std::int64_t>(keep_last, 1)) return;
  std::string why;
  if (verifies(folders.back(), &why))
    delete_older_checkpoints(root, keep_last, best);
  else
    log::warning("older checkpoints are kept: {}", why);
}

}  // namespace ddptrain
