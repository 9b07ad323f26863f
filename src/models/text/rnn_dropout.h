// The dropouts of a recurrent network (Gal and Ghahramani 2016; Merity et al. 2018), as fastai has
// them: masks that stay over time, drawn again for each segment of a text.
#pragma once

#include "models/module.h"

namespace ddptrain {

/// A piece of a text in time, and the rows of the batch that have it.
struct Segment {
  std::int64_t number = 0;      // from 0; with step and module path it says which masks
  std::int64_t batch_rows = 0;  // of the whole batch
  at::Tensor rows;              // which of these, int64 on the CPU; undefined: all
  /// Tokens of each row, int64 [rows], of which those behind are padding that no layer reads;
  /// undefined: layers read all places.
  at::Tensor lengths = {};
};

/// fastai.text.models.awdlstm.RNNDropout: drops features of a row over all of a segment.
class RnnDropout final : public Module {
 public:
  explicit RnnDropout(double p) : p_(p) {}
  /// [rows of the segment, time, features] to the same.
  at::Tensor drop(const at::Tensor& input, const Segment& segment, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  double p_;
};

/// What masks without a row follow from: they are the same for every row, so on every rank.
struct SharedMask {
  std::string path;  // of the module that drops
  std::int64_t segment = 0;
  double p = 0;
};

/// [size] or [out, in] times its mask of 0 and 1 / (1 - p).
at::Tensor drop_shared(const at::Tensor& tensor, const SharedMask& mask, const Pass& pass);

/// The mask itself, like `like`.
at::Tensor shared_mask(const at::Tensor& like, const SharedMask& mask, const Pass& pass);

}  // namespace ddptrain
