// The run folders below a folder.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// A sweep's folder and its runs, or a run alone.
struct RunsFolder {
  std::string path;
  std::vector<std::string> runs;  // of a sweep; none of a run
  bool is_sweep = false;
};

/// What is found in `root`, at most four folders down (runs/NAME/sweep-001/001), sorted by path
/// with numbers as numbers: the folder itself where it is a run or a sweep. Links are not followed.
/// An Error (Exit::data) where it is no folder.
std::vector<RunsFolder> find_runs(const std::string& root);

}  // namespace ddptrain
