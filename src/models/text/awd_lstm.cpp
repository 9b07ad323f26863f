// The text classifier of ULMFiT (Howard and Ruder 2018): an AWD-LSTM over the whole text, pooled,
// then linear layers. fastai.text.learner.text_classifier_learner with arch=AWD_LSTM.
#include <ATen/ops/zeros_like.h>

#include "models/layers/lin_bn_drop.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/text/sentence_encoder.h"

namespace ddptrain {
namespace {

void share(Fields& f, const char* key, double& p, const char* doc) {
  f(key, p, {.doc = doc, .min = 0, .max = 1});
}

struct AwdLstmOptions {
  Auto<std::int64_t> num_classes;
  std::int64_t emb_sz = 400;
  std::int64_t n_hid = 1152;
  std::int64_t n_layers = 3;
  bool bidir = false;
  double output_p = 0.4, hidden_p = 0.3, input_p = 0.4, embed_p = 0.05, weight_p = 0.5;
  double drop_mult = 0.5;
  std::vector<std::int64_t> lin_ftrs{50};
  std::vector<double> ps{0.1};
  std::int64_t bptt = 72;
  std::optional<std::int64_t> max_len = 1440;
  TextPadding padding = TextPadding::masked;
  std::vector<double> y_range;
  double alpha = 2;
  double beta = 1;
  void fields(Fields& f) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    sizes(f);
    share(f, "output_p", output_p, "Dropout of the pooled text.");
    share(f, "hidden_p", hidden_p, "Dropout between the LSTM layers; a mask per row and segment.");
    share(f, "input_p", input_p, "Dropout of the embedded tokens; a mask per row and segment.");
    share(f, "embed_p", embed_p, "Dropout of whole tokens of the vocabulary.");
    share(f, "weight_p", weight_p, "Dropout of the hidden-to-hidden weights.");
    f("drop_mult", drop_mult, {.doc = "Factor of the five dropouts above.", .min = 0});
    f("lin_ftrs", lin_ftrs, {.doc = "Sizes of the hidden layers of the classifier.", .min = 1});
    f("ps", ps,
      {.doc = "Dropout after each hidden layer of the classifier: one for all or one for each.",
       .min = 0,
       .max = 1});
    f("bptt", bptt,
      {.doc = "Tokens in a segment, over which gradients go back in time; texts are padded in "
              "front by whole segments.",
       .min = 1});
    f("max_len", max_len,
      {.doc = "Tokens at the end of a text, in whole segments, that are pooled and learned from; "
              "null: all.",
       .min = 1});
    f("padding", padding,
      {.doc = "What fills up short texts: masked, so that a text's output does not depend on the "
              "texts in its batch; or read as fastai does, where it may."});
    y_range_field(f, y_range);
    f("alpha", alpha,
      {.doc = "Weight of the mean square of the LSTM's outputs, which training keeps small.",
       .min = 0});
    f("beta", beta,
      {.doc = "Weight of the mean square of their changes from token to token.", .min = 0});
    conditions(f);
  }

 private:
  void sizes(Fields& f) {
    f("emb_sz", emb_sz, {.doc = "Width of the embedding and of the last LSTM.", .min = 1});
    f("n_hid", n_hid, {.doc = "Width of the other LSTM layers.", .min = 1});
    f("n_layers", n_layers, {.doc = "LSTM layers.", .min = 1});
    f("bidir", bidir, {.doc = "LSTM layers that read both ways, each half as wide."});
  }
  static void conditions(Fields& f) {
    f.require(needs("bidir", multiple_of("emb_sz", 2)));
    f.require(needs("bidir", multiple_of("n_hid", 2)));
    f.require(at_most("bptt", "max_len"));
    f.require(one_or_as_many("ps", "lin_ftrs"));
    for (const char* share : {"output_p", "hidden_p", "input_p", "embed_p", "weight_p"})
      f.require(product_at_most("drop_mult", share, 1));
  }
};

SentenceEncoderShape encoder_shape(const AwdLstmOptions& options, const TextFacts& text) {
  return {{.text = text,
           .emb_sz = options.emb_sz,
           .n_hid = options.n_hid,
           .n_layers = options.n_layers,
           .bidir = options.bidir,
           .hidden_p = options.drop_mult * options.hidden_p,
           .input_p = options.drop_mult * options.input_p,
           .embed_p = options.drop_mult * options.embed_p,
           .weight_p = options.drop_mult * options.weight_p},
          options.bptt,
          options.max_len,
          options.padding};
}

std::vector<double> ps_of(const AwdLstmOptions& options) {
  const auto count = options.lin_ftrs.size();
  auto ps = options.ps.size() == 1 ? std::vector<double>(count, options.ps[0]) : options.ps;
  ps.insert(ps.begin(), options.drop_mult * options.output_p);
  return ps;
}

/// [rows]: of the places [rows, time, features] that count.
at::Tensor mean_square(const at::Tensor& places, const at::Tensor& left_out) {
  const auto count = left_out.logical_not().sum(1).clamp_min(1);
  return places.square().mean(2).masked_fill(left_out, 0).sum(1).div(count);
}

/// fastai.text.models.core.PoolingLinearClassifier, the pooling apart.
class PoolingLinearClassifier final : public Module {
 public:
  PoolingLinearClassifier(const AwdLstmOptions& options, std::int64_t classes,
                          const at::Generator& generator)
      : layers_(make<Sequence>("layers")) {
    auto sizes = options.lin_ftrs;
    sizes.insert(sizes.begin(), 3 * options.emb_sz);
    sizes.push_back(classes);
    const auto ps = ps_of(options);
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      LinBnDrop shape{.in = sizes[i], .out = sizes[i + 1], .p = ps[i]};
      if (i + 2 < sizes.size()) shape.activation = Activation::relu;
      add_lin_bn_drop(*layers_->add<Sequence>(), shape, generator);
    }
    add_range(*layers_, options.y_range);
  }
  at::Tensor forward(const at::Tensor& pooled, const Pass& pass) override {
    return layers_->forward(pooled, pass);
  }

 private:
  Sequence* layers_;
};

class AwdLstm final : public Model {
 public:
  AwdLstm(const AwdLstmOptions& options, const ModelContext& context)
      : padding_(options.padding), alpha_(options.alpha), beta_(options.beta) {
    const auto text = text_facts_of(context, "awd_lstm");
    encoder_ = make<SentenceEncoder>("0", encoder_shape(options, text), context.generator);
    classifier_ = make<PoolingLinearClassifier>(
        "1", options, classes_of(options.num_classes, context), context.generator);
  }

  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override {
    const auto text = encoder_->encode(tokens, pass);
    if (pass.penalty != nullptr) regularize(text, *pass.penalty);
    return classifier_->forward(masked_concat_pool(text), pass);
  }

  /// fastai.text.models.awdlstm.awd_lstm_clas_split: the embedding, each LSTM, the classifier.
  std::vector<std::vector<Module*>> layer_groups() override {
    std::vector<std::vector<Module*>> groups{{&encoder_->encoder().embedding()}};
    for (auto* layer : encoder_->encoder().layers()) groups.push_back({layer});
    groups.push_back({classifier_});
    return groups;
  }

  /// Files of fastai's language models (lstm_wt103.pth), and of encoders alone (save_encoder).
  std::map<std::string, std::string> borrowed_names() const override {
    std::map<std::string, std::string> names;
    for (const std::string part : {"encoder.", "encoder_dp.", "rnns."})
      for (const std::string before : {"0.", ""})
        names.emplace(before + part, encoder_->path() + ".module." + part);
    return names;
  }
  std::vector<std::string> own_parts() const override { return {classifier_->path()}; }

 private:
  /// fastai.callback.rnn.RNNRegularizer: a text's mean over time and features. In fastai padding is
  /// part of the mean.
  void regularize(const EncodedText& text, Penalty& penalty) const {
    const auto& given = text.outputs;
    const auto outputs = given.scalar_type() == at::kDouble ? given : given.to(at::kFloat);
    const bool all = padding_ == TextPadding::fastai;
    const auto left_out = all ? at::zeros_like(text.padded) : text.padded;
    if (alpha_ > 0) penalty.add(mean_square(outputs, left_out).mul(alpha_));
    if (beta_ == 0 || outputs.size(1) < 2) return;
    const auto either = left_out.slice(1, 1).logical_or(left_out.slice(1, 0, -1));
    penalty.add(mean_square(outputs.diff(1, 1), either).mul(beta_));
  }

  TextPadding padding_;
  double alpha_, beta_;
  SentenceEncoder* encoder_;
  PoolingLinearClassifier* classifier_;
};

}  // namespace

Entry<Model> awd_lstm_model() {
  return entry_of<Model, AwdLstm, AwdLstmOptions>(
      "awd_lstm", "AWD-LSTM over a text, pooled and classified: fastai's text_classifier_learner.",
      {"batch_norm", "dropout", "takes_texts", "reads_segments bptt",
       "embeds 0.module.encoder.weight+0.module.encoder_dp.emb.weight"});
}

}  // namespace ddptrain
