// A run's model as a graph that other programs run: TorchScript and ONNX.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/saved_model.h"
#include "jobs/saved_run.h"

namespace ddptrain {

struct GraphFile {
  std::string path;            // *.pt or *.onnx
  std::int64_t rows = 0;       // of a batch, fixed; 0: any number
  bool half = false;           // weights and sums in fp16; inputs and outputs stay float32
  bool preprocessing = false;  // decoded images come in, and the graph resizes and normalizes them
  WhichWeights weights = WhichWeights::own;
};

/// Whether a path names one: ".pt", ".onnx".
bool is_graph_file(const std::string& path);

/// Traces the model in evaluation mode, compares the graph with the model on up to 64 validation
/// samples (of the training split where there are none), in batches of two sizes, and then puts the
/// file in place and says the largest difference. An Error where a model cannot be traced
/// (Exit::recipe), or where the two are not the same (Exit::expect): nothing is written then.
void export_graph(const SavedRun& run, const GraphFile& file);

}  // namespace ddptrain
