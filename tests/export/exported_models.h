// The networks with the options and data with which they are exported.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain::test {

enum class Reads { images, rows, texts };  // rows of categories and numbers

struct ExportedModel {
  std::string name;  // of the test
  nlohmann::json recipe;
  Reads reads = Reads::images;
  DataFacts facts;
  std::int64_t tokens = 17;  // of the texts that ONNX Runtime is given
};

/// Networks by their names alone and with the options that change their graphs: every option of the
/// catalog, but for networks that read segments. Very large networks have smaller ones of the same
/// layers stand for them.
std::vector<ExportedModel> exported_models();

/// A batch; `tokens` is the length of texts.
std::vector<at::Tensor> inputs_of(const ExportedModel& model, std::int64_t rows,
                                  std::int64_t tokens);

/// With weights and running statistics that differ from what a new model has.
std::unique_ptr<Model> made(const ExportedModel& model);

}  // namespace ddptrain::test
