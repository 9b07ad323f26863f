#include "recipe/recipe.h"

#include <array>
#include <cstdlib>

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(Precision) {
  return kNameList<"fp64", "fp32", "tf32", "bf16", "fp16">;
}
std::span<const std::string_view> names(DeviceKind) {
  static constexpr std::array<std::string_view, 4> words{"auto", "cpu", "cuda", "simulated"};
  const bool simulates = std::getenv(kSimulatedDevice) != nullptr;
  return std::span(words).first(simulates ? words.size() : words.size() - 1);
}
std::span<const std::string_view> names(OnBadSample) { return kNameList<"error", "skip">; }
std::span<const std::string_view> names(OnUnknownClass) { return kNameList<"error", "skip">; }
std::span<const std::string_view> names(OnNonFinite) { return kNameList<"stop", "skip">; }
std::span<const std::string_view> names(OnRankFailure) { return kNameList<"stop", "restart">; }

std::span<const std::string_view> names(CheckpointFiles) { return kNameList<"shared", "per_rank">; }

std::span<const std::string_view> names(ForwardPrecision) {
  return kNameList<"fp32", "bf16", "fp16">;
}

std::span<const std::string_view> names(Sums) { return kNameList<"backend", "ordered">; }

std::span<const std::string_view> names(Affinity) { return kNameList<"none", "cores">; }

std::span<const std::string_view> names(Recompute) { return kNameList<"none", "blocks">; }

std::span<const std::string_view> names(SwaAnneal) { return kNameList<"cosine", "linear", "none">; }

void BatchSpec::fields(Fields& f) {
  f("global", global,
    {.doc = "Samples per optimizer step over all devices: global = micro x accumulate x devices; "
            "null: what per_device or micro give, or else 64.",
     .min = 1,
     .unit = "samples",
     .example = "64"});
  f("per_device", per_device,
    {.doc = "Samples per optimizer step and device, instead of global: the total grows with the "
            "devices.",
     .min = 1,
     .unit = "samples",
     .example = "32"});
  f("micro", micro,
    {.doc = "Samples per device and forward pass; auto takes what global and accumulate leave, "
            "halved until it fits where a CUDA device has no memory for it.",
     .min = 1,
     .unit = "samples"});
  f("accumulate", accumulate,
    {.doc = "Forward passes per optimizer step; auto follows from the others.", .min = 1});
}

void EmaSpec::fields(Fields& f) {
  f("decay", decay,
    {.doc = "How much of the average is kept at each optimizer step.",
     .min = 0,
     .max = 1,
     .below_max = true});
  f("warmup", warmup,
    {.doc = "The share that is kept rises from 0 to decay, as 1 - (1 + step / warmup_gamma) ^ "
            "-warmup_power (timm)."});
  f("warmup_gamma", warmup_gamma,
    {.doc = "How many steps count as one while the share rises: 10 makes it rise ten times slower.",
     .min = 0,
     .above_min = true,
     .unit = "steps"});
  f("warmup_power", warmup_power,
    {.doc = "How fast the share rises: 2/3 reaches 0.999 in 31,600 steps, 3/4 in 10,000 and 1 in "
            "1,000.",
     .min = 0,
     .above_min = true});
  f("min_decay", min_decay,
    {.doc = "Where it rises, it begins here.", .min = 0, .max = 1, .below_max = true});
  f("update_after_step", update_after_step,
    {.doc = "Until so many steps were made, the average is the weights.",
     .min = 0,
     .unit = "steps"});
  f.require(at_most("min_decay", "decay"));
  f.require(needs("min_decay", "warmup"));
  f.require(needs(is_not("warmup_gamma", "1"), "warmup"));
  f.require(needs(is_not("warmup_power", "0.6666666666666666"), "warmup"));
}

void LossScaleSpec::fields(Fields& f) {
  f("init_scale", init_scale,
    {.doc = "What the loss is multiplied with at first.", .min = 0, .above_min = true});
  f("growth_factor", growth_factor,
    {.doc = "The scale grows by it after growth_interval finite steps.", .min = 1});
  f("backoff_factor", backoff_factor,
    {.doc = "The scale is multiplied with it after a step that was not finite.",
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true});
  f("growth_interval", growth_interval,
    {.doc = "Finite steps in a row before it grows.", .min = 1, .unit = "steps"});
}

void SwaSpec::fields(Fields& f) {
  f("start", start,
    {.doc = "When averaging begins: '75 %' of the run, '10 epochs', '2000 steps'."});
  f("every", every, {.doc = "How often the weights enter the average from then on."});
  f("lr", lr,
    {.doc = "The rate that is held from then on; null lets the schedule go on.",
     .min = 0,
     .above_min = true});
  f("anneal", anneal, {.doc = "How the rate gets there."});
  f("over", over, {.doc = "How long that takes; unused with anneal none."});
  f("update_bn", update_bn,
    {.doc = "At the end a pass over train gives batch norm the statistics of the average."});
}

void TrainSpec::fields(Fields& f) {
  f("duration", duration, {.doc = "How long to train: '5 epochs', '1000 steps', '30 min'."});
  f("stages", stages,
    {.doc = "Parts of the run one after the other, each with its length, schedule and rates; they "
            "make up the run instead of duration."});
  f("fine_tune", fine_tune,
    {.doc = "fastai's fine_tune: the last layer group alone, then all with rates that grow from "
            "the first to the last; instead of duration, stages and schedule."});
  freeze.fields(f);
  f("precision", precision,
    {.doc = "How the forward and backward passes compute; auto is bf16 where the devices have it, "
            "and fp32 on the CPU."});
  f("loss_scale", loss_scale,
    {.doc = "Under fp16: how gradients are kept above zero, as torch.amp.GradScaler does; null "
            "takes its constants."});
  f("channels_last", channels_last,
    {.doc = "Keep images as NHWC in memory: faster convolutions on most machines. auto does it on "
            "GPUs for models that convolve, unless the run is deterministic."});
  f("graph", graph,
    {.doc = "Capture a step on a GPU and replay it: one launch, or a few, instead of hundreds. "
            "auto does it where a step can be captured; true is an error where it cannot."});
  f("recompute", recompute,
    {.doc = "blocks keeps the inputs of a model's blocks alone and computes a block again in the "
            "backward pass: the same gradients, less memory, a third more time."});
  f("clip", clip, {.doc = "Bounds the gradients before each step; null leaves them alone."});
  f("ema", ema, {.doc = "Keeps an exponential moving average of the weights in addition to them."});
  f("swa", swa,
    {.doc = "Stochastic weight averaging: the equal average of the weights along the end of the "
            "run."});
  f("deterministic", deterministic,
    {.doc = "Refuses operations whose result varies from run to run."});
  f("threads", threads,
    {.doc = "Compute threads per rank; auto shares the cores and gives small work one.", .min = 1});
}

void TtaSpec::fields(Fields& f) {
  f("n", n, {.doc = "Passes through the training transforms.", .min = 1});
  f("beta", beta,
    {.doc = "Weight of the plain predictions; the rest is that of the mean over the passes.",
     .min = 0,
     .max = 1});
  f("use_max", use_max, {.doc = "Take the largest prediction of all passes instead of means."});
}

void EvalSpec::fields(Fields& f) {
  f("every", every, {.doc = "How often to evaluate on the validation split."});
  f("batch", batch,
    {.doc = "Samples per evaluation batch, the same on any number of ranks.",
     .min = 1,
     .unit = "samples"});
  f("precision", precision,
    {.doc = "How evaluation's forward passes compute; auto: as those of training."});
  f("tta", tta,
    {.doc = "Also score test-time augmentation, as 'valid_tta/...': predictions averaged over "
            "passes through the training transforms."});
  f("samples", samples,
    {.doc = "Also let a language model write texts, which the log, the events and the report show "
            "next to the scores.",
     .example = "{prompts: [The film], tokens: 40}"});
  f("splits", splits,
    {.doc = "Other samples that each evaluation scores too, by name: those of sketch come as "
            "'sketch/accuracy'. What is written here replaces options of 'data', whose validation "
            "split is then scored; nothing is fitted on it.",
     .example = "{sketch: {root: data/sketch}}"});
  f("test", test,
    {.doc = "The same for samples that are scored once, when training is complete, as "
            "'test/accuracy': with the best weights where checkpoint.keep_best keeps them, else "
            "with the last.",
     .example = "{valid: test}"});
}

void KeepBestSpec::fields(Fields& f) {
  f("metric", metric, {.doc = "The metric that decides; a bare name means valid/name."});
  f("mode", mode, {.doc = "Whether more or less is better; auto: as the metric says."});
}

void CheckpointSpec::fields(Fields& f) {
  f("every", every, {.doc = "How often to save."});
  f("keep_last", keep_last, {.doc = "How many of the newest checkpoints stay.", .min = 1});
  f("keep_best", keep_best,
    {.doc = "Also keep the best one by a metric; null keeps none.",
     .example = "{metric: accuracy}"});
  f("files", files,
    {.doc = "shared: all ranks write the same files, which other programs open at once. per_rank: "
            "each rank writes a file of its own, for file systems on which two machines cannot "
            "write one file, such as NFS. auto: per_rank where several machines write to such a "
            "file system, else shared."});
  f("file_size", file_size,
    {.doc = "Tensors of more bytes are in several files, as transformers has them.",
     .example = "5 GB"});
  f("local", local,
    {.doc = "Also save to a disk of each node, more often. A resumed run takes the newest "
            "checkpoint that the nodes have together; null saves none.",
     .example = "{dir: /scratch/checkpoints, every: 5 min}"});
}

void LocalCheckpointSpec::fields(Fields& f) {
  f("dir", dir,
    {.doc = "A folder on a disk of the node; on several nodes, of each.",
     .required = true,
     .path = true,
     .example = "/scratch/checkpoints"});
  f("every", every, {.doc = "How often to save there."});
}

void LogSpec::fields(Fields& f) {
  f("every", every, {.doc = "How often to log loss, rate and speed."});
  f("tensorboard", tensorboard, {.doc = "Write TensorBoard event files into the run folder."});
  f("group_norms", group_norms,
    {.doc = "Also log the norms of gradients (before clipping) and weights of each layer group, "
            "numbered from the input, 0."});
}

void OutputSpec::fields(Fields& f) {
  f("dir", dir, {.doc = "Where run folders are made: dir/name/number.", .path = true});
  f("report", report, {.doc = "Write report.html into the run folder when the run ends."});
}

void PolicySpec::fields(Fields& f) {
  f("on_bad_sample", on_bad_sample,
    {.doc = "A file that cannot be read ends the run, or is skipped."});
  f("bad_samples", bad_samples,
    {.doc = "With on_bad_sample: skip, the largest share of an epoch's samples, or of the "
            "validation split, that may be bad, over all ranks; one always may."});
  f("on_unknown_class", on_unknown_class,
    {.doc = "A sample of a class that the model was not trained on is an error, or is left out; "
            "classes are matched by name."});
  f("on_non_finite", on_non_finite,
    {.doc = "A loss or gradient that is not finite ends the run, or its step is skipped."});
  f("on_rank_failure", on_rank_failure,
    {.doc = "A rank that dies ends the run, or all ranks start again from the newest checkpoint."});
}

void ExpectSpec::fields(Fields& f) {
  f("min", min, {.doc = "The metric must not end below this."});
  f("max", max, {.doc = "The metric must not end above this."});
}

void Recipe::fields(Fields& f) {
  f("recipe", recipe, {.doc = "Version of the recipe format.", .min = 1, .max = 1});
  f("name", name, {.doc = "Names the folder of runs."});
  f("seed", seed, {.doc = "Every random draw follows from it.", .min = 0});
  f("data_seed", data_seed,
    {.doc = "The order of samples, their augmentation and mixing follow from it, instead of seed: "
            "runs of several seeds then see the same batches.",
     .min = 0});
  f("plugins", plugins,
    {.doc = "Files with components that are not ours, which the rest of the recipe may name.",
     .example = "[build/libmine.so]"});
  f("model", model, {.doc = "What is trained.", .required = true});
  f("data", data, {.doc = "What it is trained on.", .required = true});
  f("batch", batch, {.doc = "Samples per optimizer step and how they are cut."});
  f("train", train, {.doc = "How long and how to compute."});
  f("loss", loss,
    {.doc = "What training makes small; auto: cross_entropy for classes, bce_with_logits for "
            "several labels a sample, mse for numbers."});
  f("metrics", metrics,
    {.doc = "What evaluation reports; the loss always comes with them. auto: accuracy for classes, "
            "accuracy_multi for several labels a sample, rmse and mae for numbers.",
     .example = "[accuracy]"});
  f("optimizer", optimizer, {.doc = "What moves the parameters."});
  f("schedule", schedule, {.doc = "Learning rate over the run."});
  f("momentum_schedule", momentum_schedule,
    {.doc = "Momentum, or the first beta, over the whole run: a schedule whose rate it is, from "
            "the optimizer's on; null leaves it alone, or to the schedule of the rate.",
     .example = "{type: cosine, min_lr: 0.85}"});
  f("weight_decay_schedule", weight_decay_schedule,
    {.doc = "Weight decay over the whole run, likewise; parameters without stay without.",
     .example = "{type: cosine, min_lr: 0.4}"});
  f("parallel", parallel, {.doc = "Devices and how they work together."});
  f("eval", eval, {.doc = "When and how to evaluate."});
  f("checkpoint", checkpoint, {.doc = "When to save and what to keep."});
  f("callbacks", callbacks, {.doc = "What else happens between steps."});
  f("log", log, {.doc = "What is written while training."});
  f("output", output, {.doc = "Where results go."});
  f("policy", policy, {.doc = "What to do when something goes wrong."});
  f("expect", expect, {.doc = "Bounds that metrics must meet at the end, for recipes as tests."});
  f("sweep", sweep,
    {.doc = "What 'ddptrain sweep' tries: options and the values that they take; null: nothing.",
     .example = "{keys: {optimizer.lr: [1e-4, 1e-3]}}"});
}

std::uint64_t seed_of_data(const Recipe& recipe) {
  return static_cast<std::uint64_t>(recipe.data_seed.value_or(recipe.seed));
}

}  // namespace ddptrain
