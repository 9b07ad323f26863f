// Every rule shows what is wrong and what is right: fragments laid over one good recipe.
#include "recipe/rules/rules.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "cli/laid_over.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

class RuleTest : public test::LaidOver, public testing::WithParamInterface<Rule> {};

TEST_P(RuleTest, IsBrokenByWhatIsWrong) {
  const auto problems = laid_over(GetParam().wrong).problems;
  EXPECT_FALSE(problems.empty()) << GetParam().wrong;
  for (const auto& problem : problems) {
    EXPECT_EQ(problem.rule, GetParam().id) << render(problem);
    EXPECT_EQ(problem.place.file, fragment()) << render(problem);
  }
}

TEST_P(RuleTest, IsKeptByWhatIsRight) {
  EXPECT_EQ(render(laid_over(GetParam().right).problems), "") << GetParam().right;
}

// A resolved recipe writes every default, and is as good as what it was made of.
TEST_P(RuleTest, IsKeptByTheResolvedRecipe) {
  auto loaded = laid_over(GetParam().right);
  ASSERT_FALSE(has_errors(loaded.problems));
  write_atomically(fragment(), to_yaml(encode(loaded.recipe, &all_catalogs())));
  EXPECT_EQ(render(load_recipe({fragment()}, {}, all_catalogs()).problems), "");
}

TEST_P(RuleTest, IsExplained) {
  const auto& rule = GetParam();
  EXPECT_TRUE(std::regex_match(std::string(rule.id), std::regex("[a-z0-9]+(-[a-z0-9]+)*")));
  for (const auto text : {rule.summary, rule.why}) EXPECT_TRUE(text.ends_with('.')) << text;
  EXPECT_NE(rule.wrong, rule.right);
}

std::string name_of(const testing::TestParamInfo<Rule>& info) {
  return std::regex_replace(std::string(info.param.id), std::regex("-"), "_");
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(all_rules()), name_of);

TEST(Rules, HaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const auto& rule : all_rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
}

/// A fragment, and the rules that it breaks together, in the order of the table.
struct Case {
  std::string fragment;
  std::vector<std::string> broken;
};

class RuleCase : public test::LaidOver, public testing::WithParamInterface<Case> {};

TEST_P(RuleCase, BreaksTheseRulesAlone) {
  const auto problems = laid_over(GetParam().fragment).problems;
  std::vector<std::string> broken;
  for (const auto& problem : problems) broken.push_back(problem.rule);
  EXPECT_EQ(broken, GetParam().broken) << GetParam().fragment << "\n" << render(problems);
}

INSTANTIATE_TEST_SUITE_P(
    Batches, RuleCase,
    testing::Values(
        Case{"batch: {global: null, per_device: 32}\nparallel: {mode: ddp, devices: 3}", {}},
        Case{"batch: {global: 60}\nparallel: {mode: ddp, devices: auto}", {}},
        Case{"batch: {global: 64, micro: 48}\nparallel: {mode: ddp, devices: auto}", {}},
        Case{"batch: {global: 64, per_device: 32}", {"batch"}},
        Case{"data: {sampler: {type: partial, samples: 64}}", {}},
        Case{"data: {sampler: {type: weighted, samples: 10}}", {"epoch-without-batch", "weighted"}},
        Case{"data: {loader: {shard: contiguous, pad: false}}", {"loader-pad"}},
        Case{"data: {loader: {workers: 0}}", {}}));

INSTANTIATE_TEST_SUITE_P(
    Devices, RuleCase,
    testing::Values(
        Case{"parallel: {devices: [1]}", {}},
        Case{"parallel: {mode: ddp, device: cuda, devices: {count: 2, ids: [0, 1]}}", {}},
        Case{"parallel: {mode: ddp, device: cpu, devices: [0, 0]}",
             {"device-list", "device-twice"}},
        Case{"model: vit_b_16\nparallel: {mode: none, sync_bn: true}",
             {"sync-bn", "sync-bn-alone"}},
        Case{"model: vit_b_16\nparallel: {mode: ddp, devices: 2, sync_bn: auto}", {}},
        Case{"parallel: {mode: none, sync_bn: auto}", {}},
        Case{"parallel: {timeout: {start: 2 min, step: 5 min}}", {}},
        Case{"parallel: {mode: dp, devices: 2, timeout: {start: 5 min}}", {"timeout-alone"}},
        Case{"train: {swa: {lr: 0.01, anneal: none, over: 5 epochs}}", {"swa-anneal"}},
        Case{"train: {swa: {over: 5 epochs}}", {"swa-anneal"}},
        Case{"train: {swa: {lr: 0.01, over: 5 epochs}}", {}},
        Case{"model: {weights: pretrained}", {"weights-word"}},
        Case{"model: {weights: {file: imagnet}}", {"weights-word"}},
        Case{"model: {weights: imagenet}", {}}, Case{"model: {weights: runs/imagenet}", {}},
        Case{"model: {weights: latest}", {}},
        Case{"parallel: {mode: dp, devices: 2, ddp: {bucket_cap_mb: 25 MiB}}", {}},
        Case{"parallel: {mode: ddp, timeout: {start: 1 h, step: 90 s}}", {}}));

INSTANTIATE_TEST_SUITE_P(
    Lengths, RuleCase,
    testing::Values(
        Case{"train: {duration: 100 steps}\neval: {every: 1 epoch}\nlog: {every: 1 epoch}", {}},
        Case{"train: {duration: 100 steps}\neval: {every: 200 steps}\ncheckpoint: {every: 300 "
             "steps}",
             {"period", "period"}},
        Case{"train: {stages: [{duration: 2 epochs}, {duration: 2 epochs}]}\neval: {every: 3 "
             "epochs}",
             {}},
        Case{"train: {stages: [{duration: 2 epochs}, {duration: 2 epochs}]}\neval: {every: 5 "
             "epochs}",
             {"period"}},
        Case{"train: {fine_tune: {epochs: 4, freeze_epochs: 1}}\ncheckpoint: {every: 5 epochs}",
             {}},
        Case{"train: {duration: 1 h}", {}}, Case{"name: \"a\\nb\"", {"name"}},
        Case{"name: Größe 2", {}},
        Case{"train: {duration: 1 h, deterministic: true}\nschedule: cosine",
             {"schedule-in-seconds", "deterministic"}}));

INSTANTIATE_TEST_SUITE_P(
    Schedules, RuleCase,
    testing::Values(
        Case{"train: {duration: 5 epochs}\nschedule: {type: cosine, warmup: 100 %}", {}},
        Case{"train: {duration: 5 epochs}\nschedule: {type: cosine, warmup: 500 steps}", {}},
        Case{"train: {duration: 5 epochs}\nschedule: {type: step, every: 5 epochs}", {"milestone"}},
        Case{"train: {duration: 5 epochs}\nschedule: {type: multi_step, milestones: [50 %, 100 %]}",
             {"milestone"}},
        Case{"train: {duration: 5 epochs}\nschedule: {type: wsd, decay: 100 %}", {}},
        Case{"optimizer: {lr: 0.1}\nschedule: {type: cosine, min_lr: 0.1}", {}},
        Case{"optimizer: {lr: 0.1, lr_batch: 8}\nschedule: {type: cosine, min_lr: 0.2}", {}},
        Case{"optimizer: {type: lookahead, inner: {type: sgd, lr: 0.1}}\n"
             "schedule: {type: cosine, min_lr: 0.2}",
             {"min-lr"}},
        Case{"optimizer: adagrad\nschedule: {type: one_cycle, moms: null}", {}},
        Case{"optimizer: {momentum: 0}\nschedule: one_cycle", {}},
        Case{"optimizer: {momentum: 0}\nschedule: {type: one_cycle, moms: [0.9, 0.8, 0.9]}",
             {"momentum-cycle"}}));

INSTANTIATE_TEST_SUITE_P(
    Stages, RuleCase,
    testing::Values(Case{"train: {fine_tune: {epochs: 3}, bn_freeze: true, train_bn: false}", {}},
                    Case{"train: {stages: [{duration: 1 epoch}], bn_freeze: true}", {"overruled"}},
                    Case{"optimizer: {type: lookahead, inner: {type: adam, lr: 0.5}}\n"
                         "train: {fine_tune: {epochs: 3}}",
                         {"overruled"}},
                    Case{"train: {stages: [{duration: 1 epoch, freeze_to: -1, train_bn: false, "
                         "bn_freeze: true}, "
                         "{duration: 1 epoch, reset_optimizer: true}]}",
                         {}},
                    Case{"model: {layer_groups: [['*']]}\ntrain: {freeze_to: -2}", {"freeze-to"}}));

INSTANTIATE_TEST_SUITE_P(
    Rates, RuleCase,
    testing::Values(
        Case{"optimizer: {type: adamw, no_decay: [bias]}", {}},
        Case{"optimizer: {type: lookahead, inner: {type: sgd, no_decay: [bias]}}", {"no-decay"}},
        Case{"optimizer: {type: sgd, momentum: 0.9, dampening: 0.1, nesterov: true}", {"nesterov"}},
        Case{"optimizer: {type: lookahead, inner: {type: sgd, momentum: 0, nesterov: true}}",
             {"nesterov"}},
        Case{"optimizer: {type: muon, others: {type: sgd, momentum: 0, nesterov: true}}",
             {"nesterov"}},
        Case{"optimizer: {type: lars, lr: 0.1, momentum: 0, nesterov: true}", {"nesterov"}},
        Case{"optimizer: {type: muon, others: {type: sgd, no_decay: [bias]}}", {"no-decay"}},
        Case{"optimizer: {type: sgd, lr: 0.1, momentum: 9}", {"bad-value"}},
        Case{"optimizer: {type: sgd, lr: 0.1, momentum: 1}", {"bad-value"}},
        Case{"optimizer: {type: lookahead, inner: {type: sgd, momentum: 1.5}}", {"bad-value"}},
        Case{"optimizer: {type: sgd, lr: 0.1, momentum: 0.9, dampening: 1.5}", {"bad-value"}},
        Case{"loss: {type: cross_entropy, weight: [0, 0]}", {"bad-value"}},
        Case{"train: {duration: 4 epochs, swa: {start: 100 %}}", {"swa-start"}},
        Case{"train: {duration: 4 epochs, swa: {start: 500 steps}}", {}}));

INSTANTIATE_TEST_SUITE_P(
    Unusual, RuleCase,
    testing::Values(
        Case{"optimizer: {type: sgd, lr: 20}", {}},  // word-level LSTMs
        Case{"optimizer: {type: sgd, lr: 100}", {"unusual-value"}},
        Case{"optimizer: {type: lars, lr: 29}", {}}, Case{"optimizer: {type: adamw, lr: 0}", {}},
        Case{"optimizer: {type: adamw, lr: 1e-12}", {"unusual-value"}},
        Case{"optimizer: {type: adamw, lr: {from: 1e-12, to: 100}}",
             {"unusual-value", "unusual-value"}},
        Case{"optimizer: {type: adamw, weight_decay: 10}", {"unusual-value"}},
        Case{"optimizer: {type: lion, weight_decay: 10}", {}},
        Case{"optimizer: {type: lookahead, inner: {type: adam, lr: 100}}", {"unusual-value"}},
        Case{"optimizer: {type: muon, others: {type: adam, weight_decay: 10}}", {"unusual-value"}},
        Case{"optimizer: adamw\ntrain: {stages: [{duration: 1 epoch, lr: 100}]}",
             {"unusual-value"}},
        Case{"optimizer: adam\ntrain: {fine_tune: {epochs: 2, base_lr: 100}}", {"unusual-value"}},
        Case{"optimizer: adam\ntrain: {duration: 9 epochs, swa: {lr: 100}}", {"unusual-value"}},
        Case{"train: {ema: {decay: 0.001}}", {"unusual-value"}},
        Case{"train: {ema: {decay: 0.9999}}", {}},
        Case{"schedule: {type: exponential, gamma: 9.5}", {"unusual-value"}},
        Case{"optimizer: {type: adamw, weight_decay: 0.04}\n"
             "weight_decay_schedule: {type: linear, end_factor: 12}",
             {}},
        Case{"optimizer: {type: adam, betas: [0.5, 0.999]}", {}},
        Case{"optimizer: {type: lookahead, inner: {type: adam, betas: [0.99, 0.9]}}",
             {"betas-order"}},
        Case{"momentum_schedule: {type: cosine, min_lr: 1}", {"momentum-schedule"}},
        Case{"loss: {type: combined, losses: [{type: focal, gamma: 50}]}", {"unusual-value"}},
        Case{"data: {transforms: {train: [{type: normalize, mean: [123.675, 116.28, 103.53], std: "
             "[58.395, 57.12, 57.375]}], valid: []}}",
             {"unusual-value", "unusual-value", "unusual-value", "unusual-value", "unusual-value",
              "unusual-value", "normalize-alike"}}));

INSTANTIATE_TEST_SUITE_P(
    Watching, RuleCase,
    testing::Values(
        Case{"train: {duration: 4 epochs}\ncallbacks: [early_stopping]", {}},
        Case{"train: {duration: 3 epochs}\ncallbacks: [early_stopping]", {"patience"}},
        Case{"train: {duration: 3 epochs}\neval: {every: 25 %}\ncallbacks: [early_stopping]", {}},
        Case{"train: {duration: 12 epochs}\ncallbacks: [reduce_lr_on_plateau]", {}},
        Case{"train: {duration: 11 epochs}\ncallbacks: [reduce_lr_on_plateau]", {"patience"}},
        Case{"train: {duration: 100 steps}\ncallbacks: [early_stopping]", {}},
        Case{"train: {duration: 9 epochs}\n"
             "callbacks: [early_stopping, {type: early_stopping, patience: 4}]",
             {}}));

INSTANTIATE_TEST_SUITE_P(
    Metrics, RuleCase,
    testing::Values(
        Case{"metrics: [{type: top_k, k: 3}]\ncheckpoint: {keep_best: {metric: top_3}}", {}},
        Case{"metrics: [{type: top_k, k: 3}]\ncheckpoint: {keep_best: {metric: top_k}}",
             {"keep-best-metric"}},
        Case{"metrics: [{type: top_k, k: 3}, {type: top_k, k: 2}]", {}},
        Case{"metrics: [accuracy, accuracy]", {"metric-twice"}},
        Case{"metrics: [per_class_accuracy]\nexpect: {valid/accuracy/cat: {min: 0.5}}", {}},
        Case{"metrics: [per_class_accuracy]\nexpect: {accuracy/cat: {min: 0.5}}",
             {"expect-metric"}},
        Case{"checkpoint: {keep_best: {metric: valid_ema/accuracy}}", {"keep-best-metric"}},
        Case{"checkpoint: {keep_best: {metric: valid_ema/accuracy}}\ntrain: {ema: {decay: 0.9}}",
             {}},
        Case{"checkpoint: {keep_best: {metric: valid_tta/accuracy}}\neval: {tta: 2}", {}},
        Case{"checkpoint: {keep_best: {metric: train/loss, mode: min}}", {"keep-best-metric"}},
        Case{"checkpoint: {keep_best: {metric: loss}}", {}},
        Case{"checkpoint: {keep_best: {metric: loss, mode: max}}", {"keep-best-mode"}},
        Case{"checkpoint: {keep_best: {metric: loss}}\noptimizer: {maximize: true}", {}},
        Case{"train: {duration: 9 epochs}\nmetrics: [perplexity]\n"
             "callbacks: [{type: early_stopping, metric: perplexity}]",
             {}},
        Case{"train: {duration: 9 epochs}\nmetrics: [perplexity]\n"
             "callbacks: [{type: early_stopping, metric: perplexity, mode: max}]",
             {"callback-mode"}},
        Case{"train: {duration: 9 epochs}\nmetrics: [error_rate]\n"
             "callbacks: [{type: early_stopping, metric: error_rate}]",
             {}},
        Case{"expect: {loss: {min: 2}}", {}}));

INSTANTIATE_TEST_SUITE_P(
    Images, RuleCase,
    testing::Values(
        Case{"data: {transforms: {train: [], valid: []}}", {}},
        Case{"data: {transforms: {train: [{type: normalize, preset: cifar10}]}}",
             {"normalize-alike"}},
        Case{"data: {transforms: {train: [{type: normalize, preset: imagenet}, random_erasing]}}",
             {}},
        Case{"data: {transforms: {train: [{type: resize, size: 32}, {type: random_crop, size: 40, "
             "padding: 4}, {type: normalize, preset: imagenet}]}}",
             {}},
        Case{"data: {transforms: {train: [{type: resize, size: 32}, {type: random_crop, size: 40}, "
             "{type: normalize, preset: imagenet}]}}",
             {"crop-size"}},
        Case{
            "data: {transforms: {train: [{type: resize, size: [32, 64]}, {type: center_crop, size: "
            "[32, 64]}, {type: normalize, preset: imagenet}]}}",
            {}},
        Case{
            "data: {transforms: {train: [{type: resize, size: [32, 64]}, {type: center_crop, size: "
            "[64, 32]}, {type: normalize, preset: imagenet}]}}",
            {"crop-size"}},
        Case{
            "data: {transforms: {train: [{type: resize, size: 32}, {type: pad, padding: 8}, {type: "
            "center_crop, size: 48}, {type: normalize, preset: imagenet}]}}",
            {}},
        Case{"model: {type: vit, image_size: 64}", {}},
        Case{"model: {type: vit, image_size: 32}", {"image-size", "image-size"}},
        Case{"train: {duration: 300 steps}\n"
             "data: {transforms: {progressive: [{until: 50 %, size: 32}]}}",
             {"progressive-unit"}},
        Case{"data: {transforms: {train: [{type: normalize, preset: imagenet}]}}\neval: {tta: 2}",
             {"tta"}}));

INSTANTIATE_TEST_SUITE_P(
    Models, RuleCase,
    testing::Values(
        Case{"model: {weights: RESNET18.ONNX}", {"weights-file"}},
        Case{"model: {weights: runs/shapes/latest}", {}},
        Case{"model: {type: vision_learner, body: {type: xresnet50, num_classes: auto, weights: "
             "null}}",
             {}},
        Case{"model: {num_classes: 1000}\ndata: {classes: [cat, dog]}", {}},
        Case{"data: {type: image_names, root: p, labels: {cat: '^[A-Z]', dog: '^[a-z]'}, valid: "
             "{fraction: 0.2}}\nmodel: {num_classes: 1}\nloss: bce_with_logits\nmetrics: []",
             {}},
        Case{"data: {classes: [cat, dog]}\nloss: {type: cross_entropy, weight: [1, 2, 3]}",
             {"class-weights"}},
        Case{"model: tabular\ndata: {type: image_folder, root: p}", {"model-data"}},
        Case{"model: {type: unet, body: resnet18}\nmetrics: auto\ndata: {type: image_masks, root: "
             "p, codes: [a, "
             "b], valid: {fraction: 0.2}, mix: mixup}",
             {"mix-data"}},
        Case{"model: tabular\ndata: {type: csv_table, file: t.csv, target: y, sampler: "
             "length_sorted}",
             {"length-sorted"}},
        Case{"model: awd_lstm\ndata: {type: text_folder, root: p, padding: chunks, sampler: "
             "length_sorted}",
             {}}));

}  // namespace
}  // namespace ddptrain
