// Gradients of many parameters in a few flat buffers, each summed over ranks as soon as backward
// has filled it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distributed/group.h"
#include "distributed/power_sgd.h"
#include "distributed/sharding/flat.h"
#include "models/module.h"

namespace ddptrain {

struct BucketSize {
  std::int64_t ends = 1 << 20;  // bytes of the first, so that communication begins early, and of
                                // the last, which nothing hides
  std::int64_t others = 25 << 20;
};

/// Which parameters share a bucket, given their bytes: in reverse order, since the last layers'
/// gradients come first; a bucket is closed when it holds its bytes, and what is left for the last
/// is divided where it is more than two of `ends`. A function of the model alone,
/// so the order of summation is the same at every step and after a resume.
std::vector<std::vector<std::size_t>> bucket_layout(std::span<const std::int64_t> bytes,
                                                    const BucketSize& size);

/// The same layout as buffers.
std::vector<Flat> bucket_flats(const std::vector<NamedTensor>& parameters, const BucketSize& size,
                               Room room = Room::dense);

struct BucketOptions {
  BucketSize size = {};
  /// Which parameters share a bucket; empty: as bucket_layout has it. With cuts, a rank has the
  /// sums of its slice of a bucket alone.
  std::vector<Flat> flats = {};
  bool views = true;
  std::optional<at::ScalarType> wire = {};
};

/// Sums gradients over a group. Buckets leave in their order, whatever the order in which backward
/// fills them, so every rank sends the same ones. With `views`, a gradient is a view into its
/// bucket from its first accumulation on (on an accelerator once all of the bucket have arrived, or
/// 4 MiB, which copies them together); without, it is copied in and out. With a `wire` type,
/// gradients are rounded to it before they are summed, and sums are of it (torch's
/// bf16_compress_hook). With a `compression`, which outlives it, they travel as that has them from
/// its first step on.
class Buckets {
 public:
  Buckets(std::vector<NamedTensor> parameters, const BucketOptions& options, Group& group,
          PowerSgd* compression = nullptr);
  ~Buckets();
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  /// A window begins; gradients must be undefined.
  void begin();
  /// The backward that follows is the last of the window of that step: buckets leave as they fill.
  void release(std::int64_t step = 0);
  /// Sends what has not left, and waits for all.
  void finish();
  /// As after finish(), in a window in which these parameters received a gradient: a graph of the
  /// device has repeated it.
  void restore(const std::vector<bool>& used);
  /// Which parameters received a gradient here since begin().
  std::vector<bool> used() const;
  /// Gives the parameters that are used on any rank their sums; the others have no gradient.
  void assign_gradients(const std::vector<bool>& used_anywhere);

  std::size_t count() const { return buckets_.size(); }
  /// Of all buffers.
  std::int64_t bytes() const;
  const Flat& flat(std::size_t bucket) const { return buckets_[bucket].flat; }
  const at::Tensor& buffer(std::size_t bucket) const { return buckets_[bucket].buffer; }

 private:
  friend struct GradientHook;
  struct Slot {
    std::string name;
    at::Tensor parameter;
    at::Tensor view;  // into the bucket, in the parameter's strides
    std::size_t bucket = 0;
    bool used = false;
    bool ready = false;
  };
  struct Bucket {
    Flat flat;  // its members are slots
    at::Tensor buffer;
    at::Tensor wire;           // what travels, where that is not `buffer`
    std::size_t missing = 0;   // gradients that the last backward of the window still owes
    std::size_t unfilled = 0;  // members without a gradient in this window
    std::size_t uncopied = 0;  // bytes of gradients that are not in the buffer yet
    std::unique_ptr<Pending> pending;
    std::unique_ptr<PowerSgd::Transfer> compressed;
  };

  void allocate(std::size_t index);
  void arrived(std::size_t slot);
  void fill(std::span<const std::size_t> members);
  void send(Bucket& bucket);
  void receive(Bucket& bucket);
  std::vector<NamedTensor> gradients_of(const Bucket& bucket) const;

  Group& group_;
  PowerSgd* compression_;  // null: none
  std::int64_t step_ = 0;
  bool views_;
  bool released_ = false;
  std::size_t next_ = 0;  // the first bucket that has not left
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
};

}  // namespace ddptrain
