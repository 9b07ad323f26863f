// A step of the `sequential` model, chosen by `type` like every component.
#pragma once

#include <memory>

#include "models/model.h"

namespace ddptrain {

/// What the layers before left: the shape of one sample ([channels, height, width] or [features]),
/// which each layer updates when it is made.
struct LayerContext {
  std::vector<std::int64_t> shape;
  const ModelContext& model;
};

class Layer {
 public:
  using Make = std::unique_ptr<Module>(LayerContext&);
};

template <>
const Catalog<Layer>& catalog<Layer>();

}  // namespace ddptrain
