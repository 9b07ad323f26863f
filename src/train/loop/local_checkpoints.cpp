#include "train/loop/local_checkpoints.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "checkpoint/saving/local_parts.h"
#include "checkpoint/saving/shared_storage.h"
#include "checkpoint/verify.h"
#include "distributed/world.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChunk = 16 << 20;  // bytes of a file that travel at once
constexpr std::int64_t kUnreadable = -1;

/// What every rank did; the first failure, which all then know, or an empty text.
std::string first_failure(Group& group, const std::string& own) {
  const auto all = gather_text(group, own);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].empty()) return fmt::format("rank {}: {}", rank, all[rank]);
  return {};
}

std::string failure_of_work(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

LocalCheckpoints::LocalCheckpoints(World& world, std::string root)
    : world_(world), root_(std::move(root)), rank_(static_cast<std::size_t>(world.rank)) {
  std::string place;
  const auto failed = failure_of_work([&] { place = place_on_machine(root_); });
  if (const auto failure = first_failure(*world.control, failed); !failure.empty())
    throw Error(Exit::data, Option{"checkpoint.local.dir"}, failure);
  const auto places = gather_text(*world.control, place);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto earlier = std::ranges::find_if(
        first_, [&](std::size_t first) { return places[first] == places[rank]; });
    if (places[rank] == place) {
      node_ = static_cast<std::size_t>(earlier - first_.begin());
      if (rank < rank_) ++part_;
      ++parts_;
    }
    if (earlier == first_.end()) first_.push_back(rank);
  }
}

std::optional<Checkpoint> LocalCheckpoints::newest_after(std::int64_t step) {
  const auto mine = is_first_here() ? local_parts(root_) : std::vector<LocalPart>();
  const auto texts = gather_text(*world_.control, to_text(mine));
  std::vector<std::vector<LocalPart>> nodes;
  for (const auto first : first_) nodes.push_back(parse_local_parts(texts[first]));
  auto below = std::numeric_limits<std::int64_t>::max();
  while (true) {
    std::vector<std::string> notes;
    const auto whole = newest_whole(nodes, step, below, notes);
    if (world_.rank == 0)
      for (const auto& note : notes) log::warning(note);
    if (whole.step < 0) return {};
    const auto folder = root_ + "/" + checkpoint_name(whole.step);
    auto failure = fill(whole);
    if (failure.empty())
      failure = first_failure(*world_.control, failure_of_work([&] {
        verify_checkpoint(folder, {part_, parts_});
      }));
    if (failure.empty()) return map_checkpoint(folder);
    if (world_.rank == 0)
      log::warning("the local checkpoint of step {} is not used: {}", whole.step, failure);
    below = whole.step;
  }
}

std::string LocalCheckpoints::fill(const WholeLocal& whole) {
  const auto folder = root_ + "/" + checkpoint_name(whole.step);
  // Who has a file has the manifest and state.json, too.
  const auto has_any = [&](std::size_t node) {
    return std::ranges::find(whole.present[node], true) != whole.present[node].end();
  };
  std::string failure;
  std::size_t source = 0;
  while (source < first_.size() && !has_any(source)) ++source;
  for (std::size_t node = 0; node < first_.size(); ++node) {
    if (has_any(node)) continue;
    if (rank_ == first_[node]) {
      fs::remove_all(folder);
      failure = failure_of_work([&] { make_folders(folder); });
    }
    for (const std::string name : {"MANIFEST.json", kStateJson})
      copy_file(folder + "/" + name, source, node, failure);
  }
  const auto all = gather_text(*world_.control, std::to_string(ranks_in_manifest(folder, failure)));
  const auto ranks = std::stoll(all[first_[source]]);
  for (std::size_t file = 0; file < whole.files.size(); ++file)
    for (std::size_t node = 0; node < first_.size(); ++node)
      if (!whole.is_there(node, file))
        copy_file(folder + "/" + rank_file_name(whole.files[file], ranks), whole.holders[file],
                  node, failure);
  return first_failure(*world_.control, failure);
}

std::int64_t LocalCheckpoints::ranks_in_manifest(const std::string& folder,
                                                 std::string& failure) const {
  const auto file = folder + "/MANIFEST.json";
  if (!is_first_here() || !failure.empty() || !fs::exists(file)) return 0;
  const auto text = read_text(file);
  std::int64_t ranks = 0;
  if (!text.empty())
    failure = failure_of_work([&] { ranks = std::ssize(parse_manifest(text, file).rank_bytes); });
  return ranks;
}

void LocalCheckpoints::copy_file(const std::string& path, std::size_t from, std::size_t to,
                                 std::string& failure) const {
  if (rank_ == first_[from]) send_file(path, to);
  if (rank_ != first_[to]) return;
  if (const auto why = receive_file(path, from); failure.empty()) failure = why;
}

void LocalCheckpoints::send_file(const std::string& path, std::size_t to_node) const {
  const int to = static_cast<int>(first_[to_node]);
  std::unique_ptr<InputFile> file;
  const auto unread = failure_of_work([&] { file = std::make_unique<InputFile>(path); });
  const auto size = file ? static_cast<std::int64_t>(file->size()) : kUnreadable;
  world_.control->send(at::scalar_tensor(size, at::kLong), to);
  for (std::int64_t at = 0; at < size; at += kChunk) {
    const auto count = std::min(kChunk, size - at);
    const auto chunk = at::zeros({count}, at::kByte);
    // What cannot be read is sent as it is: who receives it sees that its checksums are wrong.
    failure_of_work([&] {
      file->read(static_cast<char*>(chunk.data_ptr()), static_cast<std::uint64_t>(count),
                 static_cast<std::uint64_t>(at));
    });
    world_.control->send(chunk, to);
  }
}

std::string LocalCheckpoints::receive_file(const std::string& path, std::size_t from_node) const {
  const int from = static_cast<int>(first_[from_node]);
  auto size = at::scalar_tensor(0, at::kLong);
  world_.control->receive(size, from);
  const auto bytes = size.item<std::int64_t>();
  if (bytes == kUnreadable) return fmt::format("rank {} cannot read its '{}'", from, path);
  std::unique_ptr<FileWriter> writer;
  auto failure = failure_of_work([&] {
    fs::remove(path);
    writer = std::make_unique<FileWriter>(path);
  });
  for (std::int64_t at = 0; at < bytes; at += kChunk) {
    auto chunk = at::empty({std::min(kChunk, bytes - at)}, at::kByte);
    world_.control->receive(chunk, from);
    if (failure.empty())
      failure = failure_of_work([&] {
        writer->write({static_cast<const char*>(chunk.const_data_ptr()),
                       static_cast<std::size_t>(chunk.numel())});
      });
  }
  if (failure.empty()) failure = failure_of_work([&] { writer->finish(); });
  return failure;
}

void LocalCheckpoints::forget_after(std::int64_t step) const {
  if (is_first_here()) forget_later_checkpoints(root_, step);
}

void LocalCheckpoints::remove() const {
  std::error_code ignored;
  if (is_first_here()) fs::remove_all(root_, ignored);
}

}  // namespace ddptrain
