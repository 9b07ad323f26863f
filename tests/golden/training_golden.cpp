// Whole small trainings by a real fastai Learner, through the loop that every recipe goes through.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/norm.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "metrics/smooth_loss.h"
#include "optim/groups.h"
#include "recipe/optimizer_options.h"
#include "support/fastai_optimizer.h"
#include "support/golden.h"
#include "support/node.h"
#include "support/training_parts.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"

namespace ddptrain {
namespace {

using nlohmann::json;

/// Images u(j, 777) of 3 x 6 x 6 and their labels: the first `train` train, the rest validate.
class FormulaImages final : public Dataset {
 public:
  FormulaImages(std::int64_t train, std::int64_t valid) : sizes_{train, valid} {
    facts_.classes = {"0", "1", "2"};
    facts_.sample = {3, 6, 6};
  }
  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override { return sizes_[split == Split::valid]; }
  Batch allocate(Split, std::int64_t rows) const override {
    Batch batch;
    batch.inputs = {at::empty({rows, 3, 6, 6}, at::kDouble)};
    batch.targets = {at::empty({rows}, at::kLong)};
    return batch;
  }
  bool load(Split split, std::int64_t index, const Draw&, Batch& batch,
            std::int64_t row) const override {
    const auto image = index + (split == Split::valid ? sizes_[0] : 0);
    auto* pixels = batch.inputs[0].mutable_data_ptr<double>() + row * 108;
    for (std::int64_t j = 0; j < 108; ++j)
      pixels[j] =
          static_cast<float>(golden::formula(static_cast<std::uint64_t>(image * 108 + j), 777));
    batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = (5 * image + image / 3) % 3;
    return true;
  }
  std::string sample_name(Split, std::int64_t index) const override {
    return std::to_string(index);
  }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return "formula"; }

 private:
  std::int64_t sizes_[2];
  DataFacts facts_;
};

/// Keeps what the loop reports.
class Record final : public Callback {
 public:
  struct Kept {
    std::vector<double> step_losses, train_losses, valid_losses, accuracies;
  };
  Record(Kept& kept, const Training& training) : kept_(kept), training_(training) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::step_end) {
      kept_.step_losses.push_back(run.train_loss);
      for (const auto& stage : training_.stages)  // fine_tune is two fits, each with its own mean
        if (run.step == stage.first + 1) smooth_ = SmoothLoss();
      smooth_.add(run.train_loss);
    }
    if (moment != Moment::evaluated) return;
    kept_.train_losses.push_back(smooth_.value());
    for (const auto& [name, value] : run.metrics) {
      if (name == "valid/loss") kept_.valid_losses.push_back(value);
      if (name == "valid/accuracy") kept_.accuracies.push_back(value);
    }
  }

 private:
  Kept& kept_;
  const Training& training_;
  SmoothLoss smooth_;
};

/// fit(n, lr, wd=w), fit_one_cycle(n, lr), fit_flat_cos(n, lr, wd=w), fine_tune(n, lr) and
/// fit_sgdr(cycles, epochs, lr) as a recipe says them; lr may be slice(first, last).
struct Call {
  std::string name;
  double epochs = 0;
  json lr;
  std::optional<double> weight_decay;
};

double whole_cycles(double cycles, double first) {
  return first * (std::pow(2, cycles) - 1);  // each lasts twice as long as the one before
}

Call parse_call(const std::string& text) {
  Call call;
  const auto open = text.find('(');
  auto comma = text.find(',');
  call.name = text.substr(0, open);
  call.epochs = std::stod(text.substr(open + 1));
  if (call.name == "fit_sgdr") {
    call.epochs = whole_cycles(call.epochs, std::stod(text.substr(comma + 1)));
    comma = text.find(',', comma + 1);
  }
  if (const auto slice = text.find("slice("); slice != std::string::npos)
    call.lr = {{"from", std::stod(text.substr(slice + 6))},
               {"to", std::stod(text.substr(text.find(',', slice) + 1))}};
  else
    call.lr = std::stod(text.substr(comma + 1));
  if (const auto wd = text.find("wd="); wd != std::string::npos)
    call.weight_decay = std::stod(text.substr(wd + 3));
  return call;
}

json optimizer_of(const golden::Case& c, const Call& call) {
  auto name = c.input.at("optimizer").get<std::string>();
  json options{{"lr", call.lr}};
  if (const auto mom = name.find(" mom "); mom != std::string::npos) {
    options["mom"] = std::stod(name.substr(mom + 5));
    name = name.substr(0, mom);
  }
  if (call.weight_decay) options["wd"] = *call.weight_decay;
  auto made = golden::fastai_optimizer(name, options);
  made["no_decay"] = c.input.value("wd_bn_bias", false) ? json::array() : json({"norm", "bias"});
  return made;
}

json schedule_of(const Call& call, bool has_momentum) {
  if (call.name == "fit_flat_cos") return "flat_cosine";
  if (call.name == "fit_sgdr")
    return {{"type", "cosine_restarts"}, {"like", "fastai"}, {"period", "1 epochs"}, {"mult", 2}};
  if (call.name != "fit_one_cycle") return "constant";
  json schedule{{"type", "one_cycle"}};
  if (!has_momentum) schedule["moms"] = nullptr;
  return schedule;
}

/// The layer groups as patterns: "0,1,2" is ["0.*", "1.*"], since layer 2 has no parameters;
/// without, one.
json groups_of(const golden::Case& c) {
  json groups = json::array();
  for (const auto& text : c.input.value("groups", std::vector<std::string>{"*"})) {
    json patterns = json::array();
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
      if (word == "*" || std::string("015").find(word) != std::string::npos)
        patterns.push_back(word == "*" ? word : word + ".*");
    groups.push_back(std::move(patterns));
  }
  return groups;
}

json network() {
  return {{"type", "sequential"},
          {"layers",
           {{{"type", "conv"}, {"out", 4}, {"kernel", 3}, {"padding", 1}},
            "batch_norm",
            "relu",
            {{"type", "adaptive_avg_pool"}, {"size", 2}},
            "flatten",
            {{"type", "linear"}, {"out", 3}}}}};
}

std::unique_ptr<Model> make_network() {
  ModelContext context;
  context.data.classes.resize(3);
  context.data.sample = {3, 6, 6};
  auto model = catalog<Model>().build(fragment<Model>(network()), context);
  const at::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (const auto& [name, tensor] : model->state()) {
    const auto fan = tensor.dim() > 1 ? tensor.numel() / tensor.size(0) : 1;
    auto values = at::empty(tensor.sizes(), at::kFloat);
    const auto weights =
        golden::formula_weights(name, static_cast<std::size_t>(tensor.dim()), fan, k);
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.mutable_data_ptr<float>()[i] = static_cast<float>(weights(i));
    if (tensor.is_floating_point()) tensor.copy_(values);
    ++k;
  }
  return model;
}

void make_recipe(Training& t, const golden::Case& c, const Call& call) {
  auto& recipe = t.recipe;
  recipe.train.duration = epochs(call.epochs);
  if (call.name == "fine_tune") {
    recipe.train.fine_tune = FineTuneSpec{};
    recipe.train.fine_tune->epochs = static_cast<std::int64_t>(call.epochs);
    recipe.train.fine_tune->base_lr = call.lr;
    recipe.train.freeze.train_bn = c.input.value("train_bn", true);
  }
  recipe.eval.batch = Auto<std::int64_t>(c.input.at("batch").get<std::int64_t>());
  recipe.optimizer = fragment<Optimizer>(optimizer_of(c, call));
  json loss{{"type", "cross_entropy"}};
  if (c.input.value("loss", "") == "label_smoothing 0.1") loss["label_smoothing"] = 0.1;
  recipe.loss = fragment<Loss>(loss);
}

void make_data(Training& t, const golden::Case& c) {
  t.data = std::make_unique<FormulaImages>(c.input.at("samples"), c.input.at("valid"));
  t.sampler = catalog<Sampler>().build(Choice<Sampler>("sequential"),
                                       SamplerContext{t.data->size(Split::train), {}, 0});
  t.loader = make_loader(*t.data, {.workers = 0});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  const std::int64_t micro = c.input.at("batch");
  t.section.loader.drop_last = false;
  t.placement.batch.global = std::max(micro, c.input.value("n_acc", micro));
  t.placement.batch.accumulate = t.placement.batch.global / micro;
  t.length.global = t.placement.batch.global;
  t.length.per_epoch = (t.data->size(Split::train) + t.length.global - 1) / t.length.global;
  const auto steps = stage_steps(t.recipe, t.length);
  t.length.total = std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

void make_optimization(Training& t, const golden::Case& c, const Call& call) {
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  t.engine = make_single_engine(make_network, options);
  const auto common = common_options(t.recipe.optimizer);
  const auto groups = layer_groups(t.engine->model(), groups_of(c));
  t.optimizer = catalog<Optimizer>().build(
      t.recipe.optimizer, group_parameters(t.engine->model(), common.no_decay, groups));
  t.recipe.schedule = fragment<Schedule>(schedule_of(call, t.optimizer->momentum().has_value()));
  t.stages = build_stages({t.recipe, t.length, *t.optimizer, t.engine->model()}, groups);
  if (c.input.contains("clip_norm"))
    t.clip =
        catalog<Clip>().build(fragment<Clip>({{"type", "norm"}, {"max", c.input.at("clip_norm")}}));
  t.loss = catalog<Loss>().build(*t.recipe.loss.value, LossContext{3});
  for (const auto* metric : {"loss", "accuracy"})
    t.metrics.push_back(catalog<Metric>().build(Choice<Metric>(metric), MetricContext{}));
}

// The mean over each window of micro-batches, weighted by rows: what our step reports. fastai
// carries left-over gradients of an epoch's end into the next; ours steps on them. So only the
// windows of the first epoch before that agree.
std::vector<double> window_losses(const golden::Case& c, const Training& t) {
  const auto losses = golden::numbers(c.expect.at("step_losses"));
  if (t.placement.batch.accumulate == 1) return losses;
  std::vector<double> means;
  const auto whole = t.data->size(Split::train) / t.length.global;
  for (std::int64_t window = 0; window < whole; ++window) {
    double sum = 0;
    for (std::int64_t i = 0; i < t.placement.batch.accumulate; ++i)
      sum += losses.at(static_cast<std::size_t>(window * t.placement.batch.accumulate + i));
    means.push_back(sum / static_cast<double>(t.placement.batch.accumulate));
  }
  return means;
}

void expect_state(const golden::Case& c, const Model& model) {
  for (const auto& [name, tensor] : model.state()) {
    if (!c.expect.at("state").contains(name)) continue;
    const auto& wanted = c.expect["state"][name];
    const auto flat = tensor.detach().to(at::kDouble);
    const double norm = at::norm(flat).item<double>();
    EXPECT_NEAR(norm, wanted.at("norm").get<double>(), 1e-5 * norm + 1e-9) << name;
    EXPECT_NEAR(flat.sum().item<double>(), wanted.at("sum").get<double>(), 1e-5 * norm + 1e-9)
        << name;
  }
}

GOLDEN(training, fastai_learner) {
  const auto call = parse_call(c.input.at("call"));
  auto world = single_world();
  Training t;
  t.world = &world;
  make_recipe(t, c, call);
  make_data(t, c);
  make_optimization(t, c, call);
  Record::Kept kept;
  Callbacks observers;
  observers.push_back(std::make_unique<Record>(kept, t));
  auto state = first_state(t);
  train(t, state, {}, observers);
  auto wanted = window_losses(c, t);
  const bool left_over = wanted.size() < kept.step_losses.size();
  if (left_over) kept.step_losses.resize(wanted.size());
  golden::expect_close(kept.step_losses, wanted, 1e-5, 1e-7, "losses of the steps");
  if (left_over) return;
  for (std::size_t epoch = 0; epoch < c.expect.at("epochs").size(); ++epoch) {
    const auto& row = c.expect["epochs"][epoch];
    EXPECT_NEAR(kept.valid_losses.at(epoch), row.at("valid_loss").get<double>(), 2e-5);
    EXPECT_NEAR(kept.accuracies.at(epoch), row.at("accuracy").get<double>(), 1e-6);
    if (t.placement.batch.accumulate > 1) continue;
    EXPECT_NEAR(kept.train_losses.at(epoch), row.at("train_loss").get<double>(), 2e-5);
  }
  expect_state(c, t.engine->model());
}

}  // namespace
}  // namespace ddptrain
