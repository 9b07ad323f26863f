#include "jobs/setup/cuda_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/base64.h"
#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "sources/fetch/fetch.h"
#include "sources/fetch/file.h"
#include "sources/fetch/package_index.h"
#include "sources/fetch/unpack.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSpace = std::int64_t{4} << 30;  // 3.3 GB unpacked, and one wheel at a time
constexpr std::size_t kLargestPage = std::size_t{64} << 20;
constexpr const char* kNote = "wheels.txt";  // those whose files are in the folder

std::string line_of(const PinnedWheel& wheel) {
  return fmt::format("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256);
}

std::string text_of(const PinnedWheel& wheel) { return wheel.package + " " + wheel.version; }

std::string noted(const fs::path& folder) {
  return fs::exists(folder / kNote) ? read_text(folder / kNote) : "";
}

bool is_of_cuda(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto has = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (has(path, ".dist-info/")) return true;  // with the license
  if (path.starts_with("nvidia/")) return has(path, "/lib/") && has(name, ".so");
  return path.starts_with("torch/lib/lib") &&
         (has(name, "cuda") || has(name, "nvrtc") || has(name, "nvshmem"));
}

/// The digest of a file as a wheel's RECORD has it, in base64url without padding (PEP 376, 427);
/// empty where it is not in it.
std::string recorded_digest(const std::string& record, std::string_view file) {
  for (const auto& line : split(record, '\n'))
    if (line.starts_with(std::string(file) + ",sha256="))
      return std::string(split(line, ',')[1].substr(7));
  return {};
}

std::string record_digest_of(const std::string& path) {
  const auto digits = digest_file(DigestKind::sha256, path);
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  auto text = base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text.substr(0, text.find('='));
}

void move_files(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    const auto target = to / entry.path().lexically_relative(from);
    fs::create_directories(target.parent_path());
    fs::rename(entry.path(), target);
  }
}

std::int64_t size_of(const fs::path& folder) {
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
  return bytes;
}

class Installation {
 public:
  explicit Installation(const CudaLibraries& wanted)
      : wanted_(wanted),
        wheels_(pinned_wheels(wanted.wheels)),
        target_(fs::path(wanted.libraries) / "cuda"),
        begun_(fs::path(wanted.libraries) / ".cuda") {}

  bool run() {
    if (is_whole()) return false;
    if (wanted_.folder && !fs::is_directory(*wanted_.folder))
      throw Error(Exit::data, "'{}' is not a folder", *wanted_.folder);
    if (!is_writable(wanted_.libraries))
      throw Error(Exit::data,
                  "cannot write to '{}', where CUDA's libraries belong; call it as the user who "
                  "installed ddptrain",
                  wanted_.libraries);
    const FileLock lock(begun_.string() + ".lock");
    if (is_whole()) return false;  // another process was first
    begin();
    for (const auto& wheel : wheels_)
      if (noted(begun_).find(line_of(wheel)) == std::string::npos) add(wheel);
    fs::remove_all(target_);
    fs::rename(begun_, target_);
    sync_folder(wanted_.libraries);
    return true;
  }

 private:
  bool is_whole() const {
    std::string all;
    for (const auto& wheel : wheels_) all += line_of(wheel);
    return noted(target_) == all;
  }

  /// What an earlier call left is continued if it was after the same wheels.
  void begin() const {
    for (const auto& wheel : pinned_wheels(noted(begun_)))
      if (wanted_.wheels.find(wheel.sha256) == std::string::npos) fs::remove_all(begun_);
    make_folders(begun_.string());
    const auto space = free_space(begun_.string());
    if (space.unknown.empty() && space.bytes + size_of(begun_) < kSpace)
      throw Error(Exit::data, "CUDA's libraries need {}, and '{}' has {} free",
                  format_bytes(kSpace), wanted_.libraries, format_bytes(space.bytes));
  }

  void add(const PinnedWheel& wheel) const {
    const auto fetched = (begun_ / "wheel" / (wheel.sha256 + ".whl")).string();
    if (!wanted_.folder) fetch_wheel(wheel, fetched);
    const auto scratch = begun_ / "unpacked";
    fs::remove_all(scratch);
    make_folders(scratch.string());
    unpack(wanted_.folder ? given_wheel(wheel) : fetched, scratch.string(), is_of_cuda);
    if (wheel.package == "torch") require_libtorch_of(wheel, scratch);
    move_files(scratch, begun_);
    sync_disk(begun_.string());
    write_atomically((begun_ / kNote).string(), noted(begun_) + line_of(wheel));
    fs::remove_all(scratch);
    fs::remove_all(begun_ / "wheel");
  }

  void fetch_wheel(const PinnedWheel& wheel, const std::string& path) const {
    if (fs::exists(path)) return;
    const auto address = fmt::format("{}/{}/", wanted_.index, wheel.package);
    const auto page = (begun_ / "page").string();
    fs::remove(page);
    fetch(address, page, kLargestPage);
    const auto link = link_with_digest(read_text(page, kLargestPage), address, wheel.sha256);
    fs::remove(page);
    if (link.empty())
      throw Error(Exit::data, "the package index '{}' has no {} with sha256 {}; PyPI has it",
                  shown_url(wanted_.index), text_of(wheel), wheel.sha256);
    if (!lower(link).starts_with("https://"))
      throw Error(Exit::data, "the package index '{}' names '{}' for {}, which is not https",
                  shown_url(wanted_.index), shown_url(link), text_of(wheel));
    provide_file({link, {}, wheel.sha256}, path);
  }

  /// Its name is that of the package with '_', and the version (PEP 427).
  std::string given_wheel(const PinnedWheel& wheel) const {
    auto start = wheel.package + "-" + wheel.version + "-";
    std::replace(start.begin(), start.begin() + std::ssize(wheel.package), '-', '_');
    for (const auto& entry : fs::directory_iterator(*wanted_.folder)) {
      const auto path = entry.path().string();
      if (!entry.path().filename().string().starts_with(start) || !path.ends_with(".whl")) continue;
      if (const auto digest = digest_file(DigestKind::sha256, path); digest != wheel.sha256)
        throw Error(Exit::data, "sha256 of '{}' is {}, and should be {}", path, digest,
                    wheel.sha256);
      return path;
    }
    throw Error(Exit::data,
                "'{}' has no wheel of {}; 'ddptrain setup cuda --list' prints what pip has to "
                "download",
                *wanted_.folder, text_of(wheel));
  }

  /// Both halves of LibTorch are of one build.
  void require_libtorch_of(const PinnedWheel& wheel, const fs::path& unpacked) const {
    const auto record = unpacked / fmt::format("torch-{}.dist-info", wheel.version) / "RECORD";
    const auto path = wanted_.libraries + "/libtorch_cpu.so";
    if (fs::exists(record) &&
        recorded_digest(read_text(record.string()), "torch/lib/libtorch_cpu.so") ==
            record_digest_of(path))
      return;
    throw Error(Exit::data,
                "'{}' is not that of {}'s wheel on PyPI, whose CUDA libraries would not fit it",
                path, text_of(wheel));
  }

  const CudaLibraries& wanted_;
  std::vector<PinnedWheel> wheels_;
  fs::path target_, begun_;
};

}  // namespace

bool install(const CudaLibraries& wanted) {
  try {
    return Installation(wanted).run();
  } catch (const fs::filesystem_error& error) {
    throw Error(Exit::data, "cannot write '{}': {}", error.path1().string(),
                error.code().message());
  }
}

}  // namespace ddptrain
