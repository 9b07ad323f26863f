// What every `data` section has, whatever its type: where to fetch it, how stores are read, order,
// loading; the options of each dataset visit these fields too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/choice.h"
#include "config/fields.h"
#include "recipe/store_spec.h"

namespace ddptrain {

/// How an epoch's order is dealt to ranks. global_batch: ours, the same samples in step k for every
/// world size. contiguous: fastai now. interleaved: fastai before and PyTorch's DistributedSampler.
/// round_robin: Accelerate. split: Accelerate with split_batches.
enum class Layout { global_batch, contiguous, interleaved, round_robin, split, dispatch };
std::span<const std::string_view> names(Layout);

/// An archive to fetch (url) or to unpack (file), with its digest and, if it is known, its size;
/// never fetched without being named.
struct SourceSpec {
  std::optional<std::string> url;
  std::optional<std::string> file;
  std::optional<std::string> md5;
  std::optional<std::string> sha256;
  std::optional<Size> size;
  void fields(Fields& f);
};

struct LoaderSpec {
  Auto<std::int64_t> workers;  // threads per rank
  std::int64_t prefetch = 4;   // batches ahead
  bool drop_last = true;       // leave out the incomplete last global batch of an epoch
  Layout shard = Layout::global_batch;
  bool pad = true;  // the other layouts repeat samples until all ranks have equally many
  void fields(Fields& f);
};

struct DataSection {
  std::optional<SourceSpec> source;
  StoreSpec store;
  Choice<Sampler> sampler{"shuffle"};
  std::optional<Choice<Mix>> mix;
  LoaderSpec loader;
  void fields(Fields& f);
};

}  // namespace ddptrain
