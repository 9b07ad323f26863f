// The run folder as rank 0 writes it, from the step at which training begins to the end.
#pragma once

#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "runs/best_evaluation.h"
#include "runs/run_folder.h"

namespace ddptrain {

struct Job;
struct RunResult;
struct Training;
struct World;

/// A folder that rank 0 made is removed where no run begins in it.
class NewRunFolder {
 public:
  NewRunFolder(const Job& job, const World& world, std::string folder);
  ~NewRunFolder();
  NewRunFolder(const NewRunFolder&) = delete;
  NewRunFolder& operator=(const NewRunFolder&) = delete;
  const std::string& path() const { return folder_; }

 private:
  const RunStart& start_;
  std::string folder_;
  bool made_;
};

/// What the run knows of itself stays in memory: of its files only those of earlier starts are
/// read.
class RecordedRun {
 public:
  /// Every rank has built and restored its part; until now the folder stayed as it was. Writes what
  /// the data or the devices decided of the recipe, run.json and data.json.
  RecordedRun(const Job& job, const Training& training, std::string folder);
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  /// Status line, texts, metrics.csv, tables, events.jsonl and TensorBoard's file. They hold on to
  /// this.
  Callbacks writers();
  /// With the best evaluation so far and how long earlier starts took, and run.json with all of it.
  void end(RunResult& ending) const;

 private:
  const Training& training_;
  std::string folder_;
  RunJson file_;
  std::optional<BestEvaluationSoFar> best_;  // empty: nothing says which one is better
};

}  // namespace ddptrain
