#include "metrics/ranking/ranking.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "losses/rows.h"
#include "metrics/labels.h"

namespace ddptrain {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Ranked RankedTable::column(std::size_t c) const {
  Ranked ranked;
  for (std::size_t row = 0; row < rows(); ++row) {
    ranked.scores.push_back(cells[2 * columns * row + c]);
    ranked.truths.push_back(cells[2 * columns * row + columns + c] != 0);
  }
  return ranked;
}

void RankingMetric::add(Terms& total, const Terms& batch) const {
  if (total.empty())
    total = batch;
  else
    total.insert(total.end(), batch.begin() + 1, batch.end());
}

at::Tensor RankingMetric::rows_of(const at::Tensor& scores, const at::Tensor& truths) {
  if (scores.dim() != 2) {
    std::ostringstream message;
    message << "a ranking of rows wants one axis of scores, and the output's shape is "
            << scores.sizes();
    throw Error(Exit::recipe, Option{"metrics"}, message.str());
  }
  const auto rows = at::cat({scores.to(at::kDouble), truths.to(at::kDouble)}, 1);
  const auto columns = number(static_cast<double>(scores.size(1)), scores);
  return at::cat({columns.view({1}), rows.reshape({-1})});
}

RankedTable RankingMetric::table_of(const Terms& total) {
  if (total.empty()) return {};
  return {static_cast<std::size_t>(total[0]), {total.begin() + 1, total.end()}};
}

double averaged(LabelAverage average, const RankedTable& table, RankingScore score) {
  double sum = 0;
  double weights = 0;
  Ranked all;
  for (std::size_t c = 0; c < table.columns; ++c) {
    const auto column = table.column(c);
    const auto yes = std::count(column.truths.begin(), column.truths.end(), true);
    const double weight = average == LabelAverage::weighted ? static_cast<double>(yes) : 1;
    if (weight > 0) sum += weight * score(column);
    weights += weight;
    all.scores.insert(all.scores.end(), column.scores.begin(), column.scores.end());
    all.truths.insert(all.truths.end(), column.truths.begin(), column.truths.end());
  }
  if (average == LabelAverage::micro) return score(all);
  return weights > 0 ? sum / weights : undefined;
}

namespace {

class BinaryRanking final : public RankingMetric {
 public:
  BinaryRanking(std::string name, RankingScore score) : name_(std::move(name)), score_(score) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    if (output.dim() < 2 || output.size(1) > 2)
      throw Error(Exit::recipe, Option{"metrics"}, "{} is for two classes", name_);
    const auto scores = full_precision(output);
    const auto second = scores.size(1) == 1 ? scores.sigmoid() : scores.softmax(1).slice(1, 1);
    return rows_of(second, labels_of(target, output.select(1, 0)).unsqueeze(1).eq(1));
  }
  Values values(const Terms& total) const override {
    const auto table = table_of(total);
    return {{name_, table.rows() == 0 ? undefined : score_(table.column(0))}};
  }

 private:
  std::string name_;
  RankingScore score_;
};

class LabelRanking final : public RankingMetric {
 public:
  LabelRanking(std::string name, const LabelRankingOptions& options, RankingScore score)
      : name_(std::move(name)), options_(options), score_(score) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto scores = full_precision(output);
    return rows_of(options_.sigmoid ? scores.sigmoid() : scores, true_labels(target, output));
  }
  Values values(const Terms& total) const override {
    return {{name_, averaged(options_.average, table_of(total), score_)}};
  }

 private:
  std::string name_;
  LabelRankingOptions options_;
  RankingScore score_;
};

}  // namespace

std::unique_ptr<Metric> make_binary_ranking(std::string name, RankingScore score) {
  return std::make_unique<BinaryRanking>(std::move(name), score);
}

void LabelRankingOptions::fields(Fields& f) {
  f("sigmoid", sigmoid, {.doc = "Outputs are logits: take their sigmoid first."});
  f("average", average,
    {.doc = "macro: the mean over labels; micro: of all labels' scores together; weighted: the "
            "mean weighted by how often a label is true."});
}

std::unique_ptr<Metric> make_label_ranking(std::string name, const LabelRankingOptions& options,
                                           RankingScore score) {
  return std::make_unique<LabelRanking>(std::move(name), options, score);
}

}  // namespace ddptrain
