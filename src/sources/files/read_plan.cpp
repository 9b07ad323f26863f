#include "sources/files/read_plan.h"

#include <algorithm>
#include <utility>

namespace ddptrain {

void ReadPlan::announce(int reader, const std::vector<std::string>& files,
                        std::span<const std::int32_t> reads) {
  Reads plan;
  for (const auto read : reads) {
    const auto& file = files[static_cast<std::size_t>(read)];
    if (plan.left[file]++ == 0) plan.order.push_back(file);
  }
  readers_[reader] = std::move(plan);
}

bool ReadPlan::did_read(const std::string& file) {
  bool counted = false, wanted = false;
  for (auto& [reader, plan] : readers_) {
    const auto found = plan.left.find(file);
    if (found == plan.left.end()) continue;
    if (!std::exchange(counted, true)) --found->second;
    if (found->second > 0)
      wanted = true;
    else
      plan.left.erase(found);
  }
  return wanted;
}

bool ReadPlan::is_wanted(const std::string& file) const {
  return std::any_of(readers_.begin(), readers_.end(),
                     [&](const auto& each) { return each.second.left.contains(file); });
}

void ReadPlan::visit(const std::function<bool(int, const std::string&)>& visit) const {
  for (const auto& [reader, plan] : readers_)
    for (const auto& file : plan.order)
      if (plan.left.contains(file) && !visit(reader, file)) break;
}

std::uint64_t bytes_at_once(const std::vector<std::string>& files,
                            std::span<const std::int32_t> reads, const ReadPlan::SizeOf& size_of) {
  std::vector<std::size_t> last(files.size());
  for (std::size_t i = 0; i < reads.size(); ++i) last[static_cast<std::size_t>(reads[i])] = i;
  std::vector<bool> open(files.size());
  std::uint64_t now = 0, most = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto file = static_cast<std::size_t>(reads[i]);
    if (!open[file]) now += size_of(files[file]);
    open[file] = true;
    most = std::max(most, now);
    if (last[file] == i) now -= size_of(files[file]);
  }
  return most;
}

}  // namespace ddptrain
