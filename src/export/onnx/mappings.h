// The rows of the table of operators, by topic.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "export/onnx/conversion.h"

namespace ddptrain {

using OnnxMappings = std::vector<std::pair<std::string_view, OnnxMapping>>;

OnnxMappings arithmetic_mappings();
OnnxMappings activation_mappings();
OnnxMappings layer_mappings();  // convolutions, norms, pooling, embeddings, attention
OnnxMappings shape_mappings();

}  // namespace ddptrain
