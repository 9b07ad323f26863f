// The model of fastai's vision_learner: the body of a network and a head for the task.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/adaptive_max_pool2d.h>
#include <ATen/ops/cat.h>

#include "base/error.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/lin_bn_drop.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"

namespace ddptrain {
namespace {

struct VisionLearnerOptions {
  Choice<Model> body;
  Auto<std::int64_t> num_classes;
  bool concat_pool = true;
  std::vector<std::int64_t> lin_ftrs{512};
  double ps = 0.5;
  bool first_bn = true;
  bool bn_final = false;
  bool lin_first = false;
  std::vector<double> y_range;
  void fields(Fields& f) {
    f("body", body,
      {.doc = "The network whose layers before the pooling are taken.",
       .required = true,
       .example = "resnet34"});
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("concat_pool", concat_pool,
      {.doc = "The maximum next to the mean of each feature, rather than the mean alone; a vision "
              "transformer gives one of each, which no pool follows."});
    f("lin_ftrs", lin_ftrs, {.doc = "Sizes of the head's hidden layers.", .min = 1});
    f("ps", ps,
      {.doc = "Dropout before the last layer; half of it before the others.", .min = 0, .max = 1});
    f("first_bn", first_bn, {.doc = "Batch norm of the features."});
    f("bn_final", bn_final, {.doc = "Batch norm of the outputs."});
    f("lin_first", lin_first, {.doc = "Linear layers before their batch norm rather than after."});
    y_range_field(f, y_range);
  }
};

/// fastai.layers.AdaptiveConcatPool2d of size 1: maxima, then means.
class ConcatPool final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    return at::cat({std::get<0>(at::adaptive_max_pool2d(input, {1, 1})),
                    at::adaptive_avg_pool2d(input, {1, 1})},
                   1);
  }
};

class VisionLearner final : public Model {
 public:
  VisionLearner(const VisionLearnerOptions& options, const ModelContext& context) {
    auto body = body_of(options.body, context);
    names_ = std::move(body.names);
    tables_ = std::move(body.tables);
    groups_ = std::move(body.groups);
    pooled_ = body.pooled.has_value();
    if (!body.positions.empty()) positions_ = "0." + body.positions;
    body_ = child("0", std::move(body.layers));
    head_ = make<Sequence>("1");
    const auto known = pooled_ ? body.pooled : body.channels;
    add_head(options, known ? *known : features(), classes_of(options.num_classes, context),
             context.generator);
    groups_.push_back({head_});
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return head_->forward(body_->forward(input, pass), pass);
  }
  std::vector<std::vector<Module*>> layer_groups() override { return groups_; }

  std::map<std::string, std::string> borrowed_names() const override {
    return names_below("0", names_);
  }
  std::vector<std::string> own_parts() const override { return {"1"}; }
  std::vector<NameTable> name_tables() const override { return tables_; }
  std::string patch_positions() const override { return positions_; }

 private:
  /// Channels that the body gives (fastai's num_features_model).
  std::int64_t features() const {
    return depths_of(*body_, image_channels(*body_)).back().channels;
  }

  void add_head(const VisionLearnerOptions& options, std::int64_t features, std::int64_t outputs,
                const at::Generator& generator);
  void initialize_head(const at::Generator& generator);

  Sequence* body_;
  Sequence* head_;
  std::vector<std::vector<Module*>> groups_;
  std::map<std::string, std::string> names_;
  std::vector<NameTable> tables_;
  std::string positions_;  // empty: the body has none
  bool pooled_ = false;    // the body gives [rows, features], and the head has no pool
};

// fastai.vision.learner.create_head.
void VisionLearner::add_head(const VisionLearnerOptions& options, std::int64_t features,
                             std::int64_t outputs, const at::Generator& generator) {
  if (!pooled_) {
    if (options.concat_pool)
      head_->add<ConcatPool>();
    else
      head_->add<AdaptiveAveragePool>(1);
    head_->add<Flatten>();
  }
  std::vector<std::int64_t> sizes{!pooled_ && options.concat_pool ? 2 * features : features};
  sizes.insert(sizes.end(), options.lin_ftrs.begin(), options.lin_ftrs.end());
  if (!options.lin_first) sizes.push_back(outputs);
  std::vector<double> ps(options.lin_ftrs.size(), options.ps / 2);
  ps.push_back(options.ps);
  std::size_t next = 0;
  if (options.lin_first) head_->add<Dropout>(ps[next++]);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    LinBnDrop shape{.in = sizes[i],
                    .out = sizes[i + 1],
                    .norm = i > 0 || options.first_bn,
                    .p = ps[next++],
                    .lin_first = options.lin_first};
    if (i + 2 < sizes.size() || options.lin_first) shape.activation = Activation::relu;
    add_lin_bn_drop(*head_, shape, generator);
  }
  if (options.lin_first) head_->add<Linear>(sizes.back(), outputs, generator);
  if (options.bn_final) head_->add<BatchNorm>(outputs, BatchNormOptions{.momentum = 0.01});
  add_range(*head_, options.y_range);
  initialize_head(generator);
}

// apply_init with kaiming_normal_: biases become 0.
void VisionLearner::initialize_head(const at::Generator& generator) {
  for (const auto& [path, module] : head_->modules())
    if (const auto* linear = dynamic_cast<Linear*>(module)) {
      initialize::kaiming_normal(linear->weight(), initialize::Fan::in, generator);
      if (linear->bias().defined()) initialize::constant(linear->bias(), 0);
    }
}

}  // namespace

Entry<Model> vision_learner_model() {
  return entry_of<Model, VisionLearner, VisionLearnerOptions>(
      "vision_learner", "The body of a network, and fastai's head on it: for fine-tuning.",
      {"batch_norm", "convolves", "dropout", "takes_images", "varies_on_cuda concat_pool=true"});
}

}  // namespace ddptrain
