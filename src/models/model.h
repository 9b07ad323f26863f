// A whole network as a recipe names it.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/catalog.h"
#include "models/memory.h"
#include "models/module.h"
#include "models/name_table.h"
#include "models/projection.h"
#include "recipe/data_facts.h"

namespace ddptrain {

/// What a model is built from: facts of the data, and the generator that draws its first weights
/// (torch's CPU generator, in torch's order of initialization, so that torch.manual_seed(seed)
/// gives the peer's weights where the constructors agree).
struct ModelContext {
  DataFacts data;
  at::Generator generator;
};

struct Body;

/// Inputs of a batch to outputs (logits). `forward` of a module takes one tensor; a model with
/// several inputs overrides `run`.
class Model : public Module {
 public:
  using Make = std::unique_ptr<Model>(const ModelContext&);

  virtual at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) {
    return forward(inputs.at(0), pass);
  }

  /// Where it is defined, `run` returns hidden states [rows, places, width], and outputs are
  /// project() of them.
  virtual Projection projection() const { return {}; }

  /// The longest sequence that `extend` can read; none: any.
  virtual std::optional<std::int64_t> positions() const { return {}; }
  /// An empty memory, for models that write text; null for others.
  virtual std::unique_ptr<Memory> make_memory() { return nullptr; }
  /// Reads further tokens, adds them to the memory, and returns the hidden state behind the last
  /// one of each sequence, [sequences, width]. Without gradients, in evaluation mode. What a
  /// sequence gets does not depend on the others.
  virtual at::Tensor extend(const Continuation& continuation, Memory& memory);

  /// Parts of the model from input to output whose parameters make up each layer group, as fastai's
  /// splitters divide it: what is frozen and what has a rate of its own. Empty where the model has
  /// no division of its own (models/layer_groups.h).
  virtual std::vector<std::vector<Module*>> layer_groups() { return {}; }

  /// Gives the layers before the pooling away (models/vision/body.h), after which the model is of
  /// no more use. Only models with the trait "body" can.
  virtual Body take_body();

  /// For a model that was made of a part of another: the beginnings of names in the other's files,
  /// and what stands here in their place.
  virtual std::map<std::string, std::string> borrowed_names() const { return {}; }
  /// The parts that such a file lacks, names without their dots.
  virtual std::vector<std::string> own_parts() const { return {}; }

  /// How libraries that have this network call its tensors, or those of the network whose part it
  /// has; the first table of a library is of its files today, the others of older ones. None where
  /// no other library has it.
  virtual std::vector<NameTable> name_tables() const { return {}; }
  /// The keys of transformers' config.json and their values as JSON; empty where transformers has
  /// no such network.
  virtual std::vector<std::pair<std::string, std::string>> published_config() const { return {}; }
  /// The tensor [1, places, features] with a position for each patch of a square grid, after those
  /// of tokens before them; empty where there is none.
  virtual std::string patch_positions() const { return {}; }

 protected:
  /// A body of what torchvision calls `features`, in one layer group, or in two: the first `first`
  /// parts and the others.
  Body take_features(std::size_t first = 0);
};

template <>
const Catalog<Model>& catalog<Model>();

}  // namespace ddptrain
