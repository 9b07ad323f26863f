// Rows of saved tensors, or places along another dimension, matched by name to those of a model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

/// Which saved place each place here takes; of a name that is listed twice there the last counts
/// (fastai.text.learner.match_embeds).
struct NameMatch {
  std::vector<std::int64_t> from;  // for each name here its place there; -1: not there
  std::int64_t names_there = 0;
  std::int64_t copied = 0;                              // at the same place
  std::int64_t moved = 0;                               // from another place
  std::int64_t fresh = 0;                               // not there
  std::int64_t dropped = 0;                             // places there whose name is not here
  std::vector<std::string> fresh_names, dropped_names;  // each once, in order
};

/// Linear in the number of names.
NameMatch match_names(const std::vector<std::string>& there, const std::vector<std::string>& here);

/// What becomes of places that the saved tensor has no name for.
enum class FreshPlaces {
  mean,  // over the named places there; of whole numbers: ones that no place there has
  own    // those of the model
};

/// `own` with the places of `saved` along `dim` that match, in the type of `saved`. Beyond the
/// names both may have further places: those are saved's where there are as many, else own. The
/// sizes of all other dimensions must be equal.
at::Tensor matched(const at::Tensor& saved, const at::Tensor& own, std::int64_t dim,
                   const NameMatch& match, FreshPlaces fresh);

}  // namespace ddptrain
