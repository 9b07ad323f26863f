#include "checkpoint/saving/local_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/new_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

bool has_bytes(const std::string& path, std::int64_t bytes) {
  std::error_code none;
  return fs::is_regular_file(path, none) &&
         static_cast<std::int64_t>(fs::file_size(path, none)) == bytes;
}

LocalPart part_in(const std::string& folder) {
  const auto file = folder + "/MANIFEST.json";
  const auto text = read_text(file);
  const auto manifest = parse_manifest(text, file);
  LocalPart part{manifest.step, sha256(text), {}, {}};
  const auto ranks = std::ssize(manifest.rank_bytes);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto bytes = manifest.rank_bytes[static_cast<std::size_t>(rank)];
    if (bytes == 0) continue;
    part.needed.push_back(rank);
    if (has_bytes(folder + "/" + rank_file_name(rank, ranks), bytes)) part.here.push_back(rank);
  }
  return part;
}

const LocalPart* part_of(const std::vector<LocalPart>& machine, const WholeLocal& wanted) {
  const auto found = std::ranges::find_if(machine, [&](const LocalPart& part) {
    return part.step == wanted.step && part.manifest == wanted.manifest;
  });
  return found == machine.end() ? nullptr : &*found;
}

/// Who has which file; `missing` receives the ranks whose files none has.
WholeLocal gathered(const std::vector<std::vector<LocalPart>>& machines, const LocalPart& part,
                    std::vector<std::string>& missing) {
  WholeLocal whole{part.step, part.manifest, part.needed, {}, {}};
  for (const auto& machine : machines) {
    const auto* there = part_of(machine, whole);
    std::vector<bool> present;
    for (const auto rank : whole.files)
      present.push_back(there && std::ranges::binary_search(there->here, rank));
    whole.present.push_back(std::move(present));
  }
  for (std::size_t file = 0; file < whole.files.size(); ++file) {
    std::size_t holder = 0;
    while (holder < machines.size() && !whole.is_there(holder, file)) ++holder;
    if (holder == machines.size()) missing.push_back(std::to_string(whole.files[file]));
    whole.holders.push_back(holder);
  }
  return whole;
}

}  // namespace

std::vector<LocalPart> local_parts(const std::string& root) {
  std::vector<LocalPart> parts;
  for (const auto& folder : list_checkpoints(root)) try {
      parts.push_back(part_in(folder));
    } catch (const Error&) {
      continue;  // what a machine lost, another may have
    }
  std::ranges::reverse(parts);
  return parts;
}

std::string to_text(const std::vector<LocalPart>& parts) {
  auto json = Json::array();
  for (const auto& part : parts)
    json.push_back(Json::array({part.step, part.manifest, part.needed, part.here}));
  return json_text(json);
}

std::vector<LocalPart> parse_local_parts(const std::string& text) {
  std::vector<LocalPart> parts;
  for (const auto& each : parse_json(text))
    parts.push_back({each[0], each[1], each[2].get<std::vector<std::int64_t>>(),
                     each[3].get<std::vector<std::int64_t>>()});
  return parts;
}

WholeLocal newest_whole(const std::vector<std::vector<LocalPart>>& machines, std::int64_t step,
                        std::int64_t below, std::vector<std::string>& notes) {
  std::vector<const LocalPart*> candidates;
  std::set<std::pair<std::int64_t, std::string>> known;
  for (const auto& machine : machines)
    for (const auto& part : machine)
      if (part.step > step && part.step < below && known.emplace(part.step, part.manifest).second)
        candidates.push_back(&part);
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &LocalPart::step);
  for (const auto* part : candidates) {
    std::vector<std::string> missing;
    auto whole = gathered(machines, *part, missing);
    if (missing.empty()) return whole;
    notes.push_back(
        fmt::format("the local checkpoint of step {} is not used: no node has the {} of rank{} {}",
                    part->step, missing.size() == 1 ? "file" : "files",
                    missing.size() == 1 ? "" : "s", join(missing, ", ")));
  }
  return {-1, {}, {}, {}, {}};
}

void prune_local_checkpoints(const std::string& root, std::int64_t keep_last) {
  const auto folders = list_checkpoints(root);
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(keep_last, 1));
  for (std::size_t i = 0; i + keep < folders.size(); ++i)
    discard_quietly(root, fs::path(folders[i]).filename().string());
}

void forget_later_checkpoints(const std::string& root, std::int64_t step) {
  for (const auto& folder : checkpoint_folders(root)) {
    const auto name = fs::path(folder).filename().string();
    if (parse_integer(name.substr(name.rfind('-') + 1)).value_or(0) > step)
      discard_quietly(root, name);
  }
}

}  // namespace ddptrain
