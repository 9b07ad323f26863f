// Batches ahead of the loop: worker threads decode straight into batch slots, in an order that does
// not depend on them.
#pragma once

#include <cstdint>
#include <memory>

#include "data/dataset.h"
#include "data/mix.h"
#include "sources/order/shard.h"

namespace ddptrain {

struct LoaderOptions {
  Split split = Split::train;
  int workers = 1;   // threads; 0: the caller's own
  int prefetch = 4;  // batches ahead
  std::uint64_t seed = 0;
  const Mix* mix = nullptr;  // of rows with their neighbors in the epoch's order
  bool pinned = false;       // page-locked memory, for asynchronous copies to an accelerator
};

/// One epoch's micro-batches, in order. `order` is the epoch's global order of samples.
struct EpochPlan {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> order;
  std::vector<Micro> micros;  // this rank's, from where the run stands
  std::int64_t batch = 1;     // rows of a global batch
  bool whole = false;         // for the master replica alone, however many there are
};

class Loader {
 public:
  virtual ~Loader() = default;
  /// Starts on an epoch; batches under way of an earlier one are dropped.
  virtual void start(EpochPlan plan) = 0;
  /// The next micro-batch, bad samples left out; throws what loading threw. Must not be called
  /// after the last.
  virtual Batch next() = 0;
  /// next() would not wait.
  virtual bool ready() { return true; }
};

/// The dataset and the mix must outlive the loader. An Error (Exit::recipe) where the data cannot
/// be mixed.
std::unique_ptr<Loader> make_loader(const Dataset& dataset, const LoaderOptions& options);

}  // namespace ddptrain
