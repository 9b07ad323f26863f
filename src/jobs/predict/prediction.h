// Samples through a model and onto paper: what `predict` does on each rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/predict/prediction_text.h"
#include "jobs/predict/predictor.h"
#include "train/loop/loop.h"

namespace ddptrain {

struct PredictJob {
  std::vector<PredictorJob> members;  // the first one's recipe is that of the process
  Placement placement;
  std::vector<std::string> paths;  // files and folders
  std::string stdin_file;          // what was read of stdin, which the path "-" stands for
  std::string output;              // empty: stdout
  PredictionFormat format = PredictionFormat::csv;
  CsvReader reader = CsvReader::program;
  std::int64_t top = 0;
  bool skip_bad = false;
  bool lines = false;  // each line of stdin is a text; there are no paths
};

/// Whether each prediction is also a file.
bool writes_files(const PredictJob& job);

/// Predicts all inputs in order; rank 0 writes. Returns the exit code.
int predict_all(const PredictJob& job, World& world, const Hooks& hooks);

}  // namespace ddptrain
