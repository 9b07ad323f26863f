#include "on_stand_in/stand_in_run.h"

#include <filesystem>
#include <sstream>

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13",
                                      "libcudnn.so.9",   "libnccl.so.2",    "libcuda.so.1"};

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

}  // namespace

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
