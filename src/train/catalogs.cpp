#include "train/catalogs.h"

#include "callbacks/callback.h"
#include "data/dataset.h"
#include "data/mix.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "models/layers/layer.h"
#include "models/model.h"
#include "optim/clip.h"
#include "optim/optimizer.h"
#include "schedules/schedule.h"
#include "sources/sampler.h"
#include "text/tokenizer.h"
#include "train/plugin_file.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

template <class... T>
Catalogs collect() {
  return Catalogs{{kind_name<T>, &catalog<T>()}...};
}

}  // namespace

const Catalogs& all_catalogs() {
  static const Catalogs all = [] {
    auto ours = collect<Model, Layer, Dataset, Sampler, Mix, Tokenizer, Transform, Loss, Metric,
                        Optimizer, Schedule, Clip, Callback>();
    ours.add_plugin = open_plugin_file;
    return ours;
  }();
  return all;
}

}  // namespace ddptrain
