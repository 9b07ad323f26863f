#include "checkpoint/checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/verify.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";
constexpr std::string_view temporary_prefix = ".tmp-";

std::optional<std::int64_t> step_of(const std::string& name) {
  if (name.rfind(prefix, 0) != 0) return {};
  return parse_integer(name.substr(prefix.size()));
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// What a killed process left behind. One run writes at a time.
void remove_leftovers(const std::string& root) {
  std::error_code none;
  std::vector<std::string> leftovers;
  for (const auto& entry : fs::directory_iterator(root, none))
    if (entry.path().filename().string().rfind(temporary_prefix, 0) == 0)
      leftovers.push_back(entry.path());
  for (const auto& path : leftovers) remove_quietly(path);
}

/// A folder under construction, deleted unless it was put in place.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {
    if (::mkdir(path_.c_str(), 0777) != 0) fail("make the folder", path_);
  }
  ~NewFolder() {
    if (!path_.empty()) remove_quietly(path_);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  const std::string& path() const { return path_; }

  /// In one step, so that there is a whole one at every moment; what was there goes with this.
  /// False where the file system cannot.
  bool exchange_with(const std::string& place) {
    sync_folder(path_);
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0)
      return false;
    sync_folder(fs::path(place).parent_path());
    return true;
  }
  void put_at(const std::string& place) {
    sync_folder(path_);
    if (::rename(path_.c_str(), place.c_str()) != 0) fail("write", place);
    path_.clear();
    sync_folder(fs::path(place).parent_path());
  }

 private:
  [[noreturn]] static void fail(const std::string& what, const std::string& path) {
    throw Error(Exit::data, "cannot " + what + " '" + path + "': " + std::strerror(errno));
  }

  std::string path_;
};

void check_space(const std::string& root, const Checkpoint& checkpoint) {
  std::int64_t needed = static_cast<std::int64_t>(checkpoint.state.size()) + (1 << 16);
  for (const auto& file : kTensorFiles)
    for (const auto& [name, tensor] : checkpoint.*file.tensors)
      needed += static_cast<std::int64_t>(tensor.nbytes() + name.size()) + 256;
  const auto free = free_space(root);
  if (free.unknown.empty() && free.bytes < needed)
    throw Error(Exit::data, "no space for a checkpoint in '" + root + "': " + format_bytes(needed) +
                                " are needed, " + format_bytes(free.bytes) +
                                " are free; delete something, or choose another 'output.dir'");
}

ManifestFile write_tensors(const std::string& folder, const std::string& name,
                           const std::vector<NamedTensor>& tensors) {
  Safetensors content{tensors, {{"format", "pt"}}};
  for (auto& named : content.tensors) named.tensor = named.tensor.detach().cpu().contiguous();
  ManifestFile file{name, write_safetensors(folder + "/" + name, content), {}};
  for (const auto& named : content.tensors)
    file.tensors.emplace_back(named.name, tensor_checksum(named.tensor));
  return file;
}

void write_all(const std::string& folder, const Checkpoint& checkpoint) {
  Manifest manifest{checkpoint.step, {}};
  auto& files = manifest.files;
  for (const auto& file : kTensorFiles)
    if (const auto& tensors = checkpoint.*file.tensors; file.always || !tensors.empty())
      files.push_back(write_tensors(folder, file.name, tensors));
  files.push_back({kStateJson, write_file(folder + "/" + kStateJson, checkpoint.state), {}});
  write_file(folder + "/MANIFEST.json", to_text(manifest));
}

bool verifies(const std::string& folder, std::string* why = nullptr) {
  try {
    verify_checkpoint(folder);
    return true;
  } catch (const Error& error) {
    if (why) *why = error.what();
    return false;
  }
}

// The manifests hold the digests of all files.
bool is_the_same(const std::string& place, const std::string& fresh) {
  return verifies(place) &&
         read_text(place + "/MANIFEST.json") == read_text(fresh + "/MANIFEST.json");
}

std::string target_of_best(const std::string& root) {
  std::error_code none;
  return fs::read_symlink(root + "/best", none).filename().string();
}

// Out of sight first: a folder that is half deleted is never listed.
void discard(const std::string& root, const std::string& name) {
  const auto hidden = root + "/" + std::string(temporary_prefix) + "old-" + name;
  std::error_code code;
  fs::rename(root + "/" + name, hidden, code);
  if (!code) fs::remove_all(hidden, code);
  if (code)
    log::warning("cannot delete the old checkpoint '" + root + "/" + name + "': " + code.message());
}

}  // namespace

std::string checkpoint_name(std::int64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

std::string save_checkpoint(const std::string& root, const Checkpoint& checkpoint) {
  make_folders(root);
  const auto name = checkpoint_name(checkpoint.step);
  const auto place = root + "/" + name;
  remove_leftovers(root);
  check_space(root, checkpoint);
  NewFolder folder(root + "/" + std::string(temporary_prefix) + name);
  write_all(folder.path(), checkpoint);
  if (fs::exists(place) && is_the_same(place, folder.path())) return place;
  if (fs::exists(place) && folder.exchange_with(place)) return place;
  if (fs::exists(place)) discard(root, name);
  folder.put_at(place);
  return place;
}

Checkpoint load_checkpoint(const std::string& folder) {
  const auto manifest = verify_checkpoint(folder);
  Checkpoint checkpoint;
  checkpoint.step = manifest.step;
  for (const auto& file : manifest.files) {
    const auto path = folder + "/" + file.name;
    for (const auto& part : kTensorFiles)
      if (file.name == part.name) checkpoint.*part.tensors = read_safetensors(path).tensors;
    if (file.name == kStateJson) checkpoint.state = read_text(path);
  }
  return checkpoint;
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
  NewFolder copy(root + "/" + std::string(temporary_prefix) + name);
  std::error_code code;
  fs::copy(folder, copy.path(), fs::copy_options::recursive, code);
  if (code)
    throw Error(Exit::data, "cannot copy '" + folder + "' to '" + root + "': " + code.message());
  copy.put_at(root + "/" + name);
  return root + "/" + name;
}

void link_best(const std::string& root, const std::string& folder) {
  const auto code = replace_link(root + "/best", fs::path(folder).filename());
  if (code) throw Error(Exit::data, "cannot write '" + root + "/best': " + code.message());
  sync_folder(root);
}

void prune_checkpoints(const std::string& root, std::int64_t keep_last, const std::string& best) {
  const auto folders = list_checkpoints(root);
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(keep_last, 1));
  if (folders.size() <= keep) return;
  std::string why;
  if (!verifies(folders.back(), &why)) {
    log::warning("older checkpoints are kept: " + why);
    return;
  }
  const auto linked = target_of_best(root);
  for (std::size_t i = 0; i + keep < folders.size(); ++i) {
    const auto name = fs::path(folders[i]).filename().string();
    if (name != fs::path(best).filename().string() && name != linked) discard(root, name);
  }
}

}  // namespace ddptrain
