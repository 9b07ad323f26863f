#include "train/build/batch_norm_rows.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "data/dataset.h"
#include "data/loader/lengths.h"
#include "distributed/engine.h"
#include "models/layers/norm.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/stages.h"
#include "train/step/kept_buffers.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// rows[k] of the k-th micro-batch of an epoch, on one rank.
std::vector<std::int64_t> rows_of_rank(std::int64_t samples, const ShardPlan& plan,
                                       std::int64_t rank) {
  std::vector<std::int64_t> rows;
  for (const auto& step : shard(samples, plan, rank))
    for (const auto& micro : step) rows.push_back(std::ssize(micro.positions));
  return rows;
}

/// The smallest piece that has rows; 0 where none has.
std::int64_t smallest_piece(std::int64_t rows, std::int64_t pieces) {
  return rows < pieces ? std::min<std::int64_t>(rows, 1) : rows / pieces;
}

void keep_fewest(std::int64_t& fewest, std::int64_t rows) {
  if (rows > 0) fewest = fewest == 0 ? rows : std::min(fewest, rows);
}

/// Made-up rows of every shape that training samples have in the run.
std::vector<Batch> single_rows(const Dataset& data) {
  const auto lengths = lengths_of(data, Split::train);
  std::vector<Batch> batches;
  if (!lengths.empty())
    batches.push_back(
        data.allocate_length(Split::train, 1, *std::max_element(lengths.begin(), lengths.end())));
  else
    batches.push_back(data.allocate_train(0, 1));
  for (const auto epoch : data.changes_of_shape()) batches.push_back(data.allocate_train(epoch, 1));
  for (auto& batch : batches)
    for (const auto& input : batch.inputs) input.fill_(data.facts().padding == 0 ? 1 : 0);
  return batches;
}

/// In the stages' order, as the engine will be prepared for them.
bool takes_one_row(Training& t) {
  KeptBuffers kept(t.engine->model());
  const auto rows = single_rows(*t.data);
  const Pass pass{.training = true, .seed = static_cast<std::uint64_t>(t.recipe.seed)};
  bool takes = true;
  try {
    for (const auto& stage : t.stages) {
      freeze(t.engine->model(), stage.frozen);
      for (const auto& row : rows) t.engine->forward(row, pass);
    }
  } catch (const TooFewValues&) {
    takes = false;
  }
  freeze(t.engine->model(), t.stages.front().frozen);
  kept.put_back();
  return takes;
}

std::string remedies(const ShardPlan& plan, const StatisticsCut& cut) {
  std::string text;
  if (!plan.drop_last) text = "write 'data.loader.drop_last: true', or ";
  if ((plan.world > 1 || cut.replicas > 1) && !cut.together)
    text += "'parallel.sync_bn: true', or ";
  return text + "another batch.global";
}

}  // namespace

std::int64_t fewest_rows(std::int64_t samples, const ShardPlan& plan, const StatisticsCut& cut) {
  std::int64_t fewest = 0;
  std::vector<std::int64_t> sums;
  for (std::int64_t rank = 0; rank < plan.world; ++rank) {
    const auto rows = rows_of_rank(samples, plan, rank);
    sums.resize(std::max(sums.size(), rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sums[i] += rows[i];
      if (!cut.together) keep_fewest(fewest, smallest_piece(rows[i], cut.replicas));
    }
  }
  for (const auto rows : sums)
    if (cut.together) keep_fewest(fewest, rows);
  return fewest;
}

void require_rows_for_batch_norm(Training& t, const ShardPlan& plan, const StatisticsCut& cut) {
  const auto samples = std::ssize(t.sampler->order(0));
  if (fewest_rows(samples, plan, cut) != 1 || takes_one_row(t)) return;
  throw Error(Exit::recipe, Option{"batch.global"},
              "{} training samples an epoch in batches of {} leave a batch of one row, of which "
              "batch norm has no variance; {}",
              samples, plan.global, remedies(plan, cut));
}

void require_rows_for_batch_norm(Training& t) {
  require_rows_for_batch_norm(
      t, shard_plan(t), {t.placement.replicas, t.recipe.parallel.sync_bn.value.value_or(false)});
}

}  // namespace ddptrain
