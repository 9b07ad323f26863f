#include "on_stand_in/stand_in_run.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace ddptrain::end_to_end {
namespace {

constexpr const char* kLibraries[] = {
    "libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13",
    "libcudnn.so.9",   "libnccl.so.2",    "libcuda.so.1"};  // libnvjpeg lies next to libcudart

/// "step 3 launches 7 ...".
StandInCounts counts_of(const std::string& line) {
  StandInCounts counts;
  std::istringstream words(line);
  std::string name;
  for (std::int64_t number = 0; words >> name >> number;) counts[name] = number;
  return counts;
}

std::vector<StandInCounts> all_steps(const std::string& text) {
  std::vector<StandInCounts> steps;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) steps.push_back(counts_of(line));
  return steps;
}

/// A call of NCCL: "ncclAllReduce of group 123.1 of 2 ranks, 8 numbers of type 7".
struct Call {
  std::string text, group;
  int ranks = 0;
};

std::vector<Call> calls_of(const std::string& text) {
  std::vector<Call> calls;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto& call = calls.emplace_back(Call{line, {}, 0});
    std::istringstream words(line);
    std::string skipped;
    words >> skipped >> skipped >> skipped >> call.group >> skipped >> call.ranks;
  }
  return calls;
}

/// Ranks that call a group, by its name; those are all that it says it has.
using Members = std::map<std::string, std::set<std::size_t>>;

std::string first_difference(const std::vector<std::vector<Call>>& ranks, const Members& members,
                             std::size_t one, std::size_t other) {
  const auto shared = [&](std::size_t rank, std::size_t with) {
    std::vector<std::string> texts;
    for (const auto& call : ranks[rank])
      if (members.at(call.group).contains(with)) texts.push_back(call.text);
    texts.push_back("nothing more");
    return texts;
  };
  const auto a = shared(one, other), b = shared(other, one);
  const auto [at, there] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return at == a.end() ? "" : *at + " | " + *there;
}

}  // namespace

std::string collectives_that_differ(const StandInRun& run) {
  std::vector<std::vector<Call>> ranks;
  for (const auto& text : run.collectives) ranks.push_back(calls_of(text));
  Members members;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto& call : ranks[rank]) members[call.group].insert(rank);
  for (const auto& calls : ranks)
    for (const auto& call : calls)
      if (members[call.group].size() != static_cast<std::size_t>(call.ranks))
        return call.text + " | only " + std::to_string(members[call.group].size());
  for (std::size_t one = 0; one < ranks.size(); ++one)
    for (std::size_t other = one + 1; other < ranks.size(); ++other)
      if (auto difference = first_difference(ranks, members, one, other); !difference.empty())
        return difference;
  return {};
}

std::map<std::int64_t, int> sizes_of(const std::vector<StandInCounts>& marks) {
  std::map<std::int64_t, int> sizes;
  for (const auto& mark : marks) ++sizes[mark.at("bytes")];
  return sizes;
}

int median(const std::vector<StandInCounts>& steps, const std::string& name) {
  std::vector<std::int64_t> differences;
  for (std::size_t i = 1; i < steps.size(); ++i)
    differences.push_back(steps[i].at(name) - steps[i - 1].at(name));
  std::sort(differences.begin(), differences.end());
  return static_cast<int>(differences[differences.size() / 2]);
}

std::vector<StandInCounts> after_steps(const std::vector<StandInCounts>& marks, int count) {
  std::vector<StandInCounts> best;
  int most = 0;
  for (const auto& [bytes, times] : sizes_of(marks)) {
    if (times < count) continue;
    std::vector<StandInCounts> steps;
    for (const auto& mark : marks)
      if (mark.at("bytes") == bytes && steps.size() < static_cast<std::size_t>(count))
        steps.push_back(mark);
    const int work = median(steps, "step_launches") + median(steps, "graph_launches");
    if (work <= most) continue;
    most = work;
    best = std::move(steps);
  }
  return best;
}

std::string stand_in_folder() { return DDPTRAIN_CUDA_STAND_IN; }

std::map<std::string, std::string> stand_in_environment(const std::string& folder, int gpus) {
  std::string preload = test::build_folder() + "/fake_driver/nvidia_ml/libnvidia-ml.so.1";
  for (const auto* library : kLibraries) preload += " " + stand_in_folder() + "/" + library;
  return {{"LD_PRELOAD", preload},
          {"LD_LIBRARY_PATH", DDPTRAIN_CUDA_WHEEL "/lib"},
          {"FAKE_GPUS", std::to_string(gpus)},
          {"STAND_IN_REPORT", folder}};
}

StandInRun on_stand_in(const std::vector<std::string>& arguments, int gpus,
                       const std::map<std::string, std::string>& more,
                       const std::string& executable) {
  const Folder reports;
  auto environment = stand_in_environment(reports.path(), gpus);
  for (const auto& [name, value] : more) environment[name] = value;
  StandInRun run;
  run.ended = Program(arguments, reports.path(), environment, executable).wait();
  run.faults = read(reports / "faults");
  for (const auto& name : list(reports.path())) {
    const auto text = read(reports / name);
    if (name.starts_with("counts.")) run.steps.push_back(all_steps(text));
    if (name.starts_with("collectives.")) run.collectives.push_back(text);
    if (name.starts_with("loads.")) run.loads += text;
  }
  return run;
}

}  // namespace ddptrain::end_to_end
