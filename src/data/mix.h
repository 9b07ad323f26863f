// One sample made of two, for training: what `data.mix` names.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/catalog.h"
#include "data/batch.h"

namespace ddptrain {

/// What is drawn for a row: from a stream of its own, or from one that all rows of its global batch
/// start alike. Both are functions of (seed, epoch, position).
struct MixDraws {
  Stream row;
  Stream batch;
};

/// Whether each row draws for itself, or a global batch once.
enum class MixPer { row, batch };
std::span<const std::string_view> names(MixPer);
inline Stream& stream(MixDraws& draws, MixPer per) {
  return per == MixPer::row ? draws.row : draws.batch;
}

/// Columns left .. right - 1 of rows top .. bottom - 1.
struct Patch {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  std::int64_t area() const { return (right - left) * (bottom - top); }
};

/// What becomes of a row: itself, share x itself + (1 - share) x its partner, or itself with the
/// partner's patch.
struct RowMix {
  enum class How { nothing, blend, paste };
  How how = How::nothing;
  double share = 1;  // of the row's own targets in the loss, 0 .. 1
  Patch patch{};
};

class Mix {
 public:
  using Make = std::unique_ptr<Mix>();
  virtual ~Mix() = default;
  /// Throws an Error (Exit::recipe) where rows like those of `example` cannot be mixed.
  virtual void check(const Batch& example) const = 0;
  /// What becomes of a row whose inputs have these shapes; their values are not read.
  virtual RowMix draw(std::span<const at::Tensor> row, MixDraws& draws) const = 0;
  /// Whether it may draw RowMix::How::blend.
  virtual bool blends() const = 0;
};

template <>
const Catalog<Mix>& catalog<Mix>();

/// Options that mixes share.
struct MixOptions {
  double alpha = 1;
  double p = 1;
  MixPer per = MixPer::row;
  void fields(Fields& f);
};

/// One draw of Beta(a, a), 0 .. 1, as the ratio of two gamma variables (Marsaglia and Tsang, 2000),
/// taken in logarithms so that a small `a` does not underflow. a > 0.
double draw_beta(double a, Stream& random);

}  // namespace ddptrain
