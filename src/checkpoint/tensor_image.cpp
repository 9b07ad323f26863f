#include "checkpoint/tensor_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_open = 64;

/// Mapped where a range and its file have the same place in a page. Ranges of fewer pages are read:
/// the system limits how many mappings a process has (vm.max_map_count, 65,530).
constexpr std::uint64_t fewest_mapped = 16 * static_cast<std::uint64_t>(kPageOfRanks);

bool map_pages(const InputFile& file, std::uint64_t at, std::uint64_t count, char* to) {
  return ::mmap(to, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                file.descriptor(), static_cast<off_t>(at)) != MAP_FAILED;
}

/// The bytes of [at, at + count) of a file, of which whole pages are mapped.
void map_range(const InputFile& file, std::uint64_t at, std::uint64_t count, char* to) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto place = reinterpret_cast<std::uintptr_t>(to);
  if (count < fewest_mapped || at % page != place % page) return file.read(to, count, at);
  const auto before = (page - at % page) % page;
  const auto whole = (count - before) / page * page;
  if (!map_pages(file, at + before, whole, to + before)) return file.read(to, count, at);
  file.read(to, before, at);
  file.read(to + before + whole, count - before - whole, at + before + whole);
}

}  // namespace

TensorImage::TensorImage(const std::string& path) : path_(path) {
  const auto& file = open_.emplace(0, InputFile(path)).first->second;
  size_ = file.size();
  if (size_ > 0) ranges_.push_back({0, static_cast<std::int64_t>(size_), 0, 0});
}

TensorImage::TensorImage(const std::string& folder, const Manifest& manifest,
                         const ManifestFile& listed)
    : path_(folder + "/" + listed.name), folder_(folder) {
  if (listed.ranges.empty()) {
    *this = TensorImage(path_);
    return;
  }
  size_ = static_cast<std::uint64_t>(listed.written.size);
  ranges_ = listed.ranges;
  ranks_ = std::ssize(manifest.rank_bytes);
}

std::string TensorImage::name_of(const FileRange& range) const {
  return ranks_ == 0 ? path_ : folder_ + "/" + rank_file_name(range.rank, ranks_);
}

const InputFile& TensorImage::file_of(const FileRange& range) const {
  const auto found = open_.find(range.rank);
  if (found != open_.end()) return found->second;
  if (open_.size() >= most_open) open_.clear();
  return open_.emplace(range.rank, InputFile(name_of(range))).first->second;
}

template <class Visit>
void TensorImage::visit(std::uint64_t offset, std::uint64_t count, const Visit& visit) const {
  const auto begin = static_cast<std::int64_t>(offset);
  const auto end = begin + static_cast<std::int64_t>(count);
  DDP_CHECK(offset + count <= size_, "a part of an image lies in it");
  auto range = std::ranges::upper_bound(ranges_, begin, {}, &FileRange::first);
  for (range = range == ranges_.begin() ? range : range - 1;
       range != ranges_.end() && range->first < end; ++range) {
    const auto from = std::max(begin, range->first);
    const auto to = std::min(end, range->first + range->count);
    if (from < to)
      visit(*range, static_cast<std::uint64_t>(range->at + from - range->first),
            static_cast<std::uint64_t>(to - from), static_cast<std::uint64_t>(from));
  }
}

void TensorImage::read(char* to, std::uint64_t count, std::uint64_t offset) const {
  visit(offset, count, [&](const FileRange& range, auto at, auto bytes, auto place) {
    file_of(range).read(to + (place - offset), bytes, at);
  });
}

void TensorImage::map(char* to) const {
  if (ranks_ == 0) {  // of a file that is cut later, all is missing that is missing
    if (size_ > 0 && !map_pages(file_of(ranges_.front()), 0, size_, to))
      throw Error(Exit::data, "cannot map '{}': {}", path_, std::strerror(errno));
    return;
  }
  visit(0, size_, [&](const FileRange& range, auto at, auto bytes, auto place) {
    map_range(file_of(range), at, bytes, to + place);
  });
}

std::vector<std::string> TensorImage::holders(std::uint64_t offset, std::uint64_t count) const {
  std::vector<std::string> names;
  visit(offset, count, [&](const FileRange& range, auto, auto, auto) {
    auto name = name_of(range);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

}  // namespace ddptrain
