#include "train/training.h"

#include "callbacks/callback.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/mix.h"
#include "distributed/engine.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "optim/state_stream.h"
#include "sources/sampler.h"
#include "train/stages.h"

namespace ddptrain {

Training::Training() = default;
Training::~Training() = default;
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;

bool has_streams(const Training& training) {
  const auto& tokens = training.data->facts().tokens;
  return tokens && tokens->streams;
}

}  // namespace ddptrain
