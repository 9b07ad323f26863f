#include "runs/seed_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ddptrain {
namespace {

std::string seed_of(const RunOptions& options) {
  const auto seed = option_value(options, "seed"), of_data = option_value(options, "data_seed");
  const bool has_data_seed = !of_data.empty() && of_data != "null" && of_data != seed;
  return has_data_seed ? fmt::format("{} (data {})", seed, of_data) : seed;
}

void add(SeedGroup& group, std::size_t run, std::string seed) {
  if (std::find(group.seeds.begin(), group.seeds.end(), seed) != group.seeds.end()) {
    group.left_out.emplace_back(run, "repeats seed " + seed);
    return;
  }
  group.runs.push_back(run);
  group.seeds.push_back(std::move(seed));
}

/// The newest run of a seed counts, of those that began in the same second the last.
SeedGroup group_of(std::vector<std::size_t> members, const std::vector<const RunRecord*>& records) {
  std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(records[a]->began, a) > std::pair(records[b]->began, b);
  });
  SeedGroup group;
  for (const auto run : members)
    if (is_finished(*records[run]))
      add(group, run, seed_of(records[run]->options));
    else
      group.left_out.emplace_back(run, status_name(records[run]->status));
  std::sort(group.runs.begin(), group.runs.end());
  group.seeds.clear();
  for (const auto run : group.runs) group.seeds.push_back(seed_of(records[run]->options));
  std::sort(group.left_out.begin(), group.left_out.end());
  return group;
}

}  // namespace

std::vector<SeedGroup> seed_groups(const std::vector<const RunRecord*>& records) {
  std::vector<RunOptions> options;
  for (const auto* run : records) options.push_back(run->options);
  std::vector<SeedGroup> groups;
  for (auto& members : groups_by_seed(options)) {
    std::erase_if(members, [&](std::size_t run) { return options[run].empty(); });
    if (members.size() > 1) groups.push_back(group_of(std::move(members), records));
  }
  return groups;
}

std::string left_out_text(const SeedGroup& group, const std::vector<const RunRecord*>& records) {
  if (group.left_out.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [run, why] : group.left_out) parts.push_back(records[run]->name + " " + why);
  return fmt::format("; {} left out: {}", plural(std::ssize(parts), "run"), join(parts, ", "));
}

}  // namespace ddptrain
