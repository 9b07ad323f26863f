#include "config/check/hints.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::string_view kEpochs = ", as in '5 epochs'";
constexpr std::string_view kSteps = ", as in '1000 steps'";
constexpr std::string_view kPeriod = ", as in '1 epoch' or '500 steps'";
constexpr std::string_view kClip = ", as in '{type: norm, max: 1.0}'";
constexpr std::string_view kCpu = ", as in 'cpu'";
constexpr std::string_view kHalf = ", as in 'bf16'";
constexpr std::string_view kBatch = " (over all devices) or 'batch.micro' (per device)";
constexpr std::string_view kBest = ", as in '{metric: accuracy, mode: max}'";
constexpr std::string_view kEma = ", as in '{decay: 0.999}'";
constexpr std::string_view kMix = ", as in '{type: mixup, alpha: 0.4}'";
constexpr std::string_view kNoDecay = ", as in '[norm, bias]'";
constexpr std::string_view kStop = ", as in '[{type: early_stopping, patience: 3}]'";
constexpr std::string_view kNextToType = ": its options stand next to 'type'";
constexpr std::string_view kSizes = " with 'resize', 'center_crop' or 'random_resized_crop'";

constexpr auto table = std::to_array<ForeignKey>({
    // how long
    {"Lightning, MMEngine", "max_epochs", "train.duration", kEpochs},
    {"Lightning, Hugging Face", "max_steps", "train.duration", kSteps},
    {"Lightning", "min_epochs", "train.duration", kEpochs},
    {"Lightning", "max_time", "train.duration", ", as in '1 h 30 min'"},
    {"Ultralytics", "time", "train.duration", ", as in '2 h'"},
    {"Hugging Face", "num_train_epochs", "train.duration", kEpochs},
    {"Accelerate", "num_epochs", "train.duration", kEpochs},
    {"fastai", "n_epoch", "train.duration", kEpochs},
    {"timm, torchvision, Ultralytics, Ludwig", "epochs", "train.duration", kEpochs},
    {"MMEngine", "max_iters", "train.duration", kSteps},
    {"MMEngine", "max_iter", "train.duration", kSteps},
    {"Ludwig", "train_steps", "train.duration", kSteps},
    {"Composer", "max_duration", "train.duration", kEpochs},
    {"DeepSpeed", "total_steps", "train.duration", kSteps},
    {"Accelerate", "max_train_steps", "train.duration", kSteps},

    // batches
    {"most", "batch_size", "batch.global", kBatch},
    {"fastai", "bs", "batch.global", kBatch},
    {"DeepSpeed", "train_batch_size", "batch.global"},
    {"Composer", "global_train_batch_size", "batch.global"},
    {"Ludwig", "effective_batch_size", "batch.global"},
    {"Ultralytics", "nbs", "batch.global"},
    {"Hugging Face", "per_device_train_batch_size", "batch.micro"},
    {"DeepSpeed", "train_micro_batch_size_per_gpu", "batch.micro"},
    {"Composer", "device_train_microbatch_size", "batch.micro"},
    {"torchtune", "micro_batch_size", "batch.micro"},
    {"Hugging Face", "auto_find_batch_size", "batch.micro", ", as in 'auto'"},
    {"Lightning", "accumulate_grad_batches", "batch.accumulate"},
    {"Hugging Face, Accelerate, Ludwig, DeepSpeed", "gradient_accumulation_steps",
     "batch.accumulate"},
    {"timm", "grad_accum_steps", "batch.accumulate"},
    {"MMEngine", "accumulative_counts", "batch.accumulate"},
    {"fastai", "n_acc", "batch.accumulate"},

    // the optimizer
    {"Hugging Face, Ludwig", "learning_rate", "optimizer.lr"},
    {"MMEngine", "base_lr", "optimizer.lr", ", or 'train.fine_tune.base_lr'"},
    {"Ultralytics", "lr0", "optimizer.lr"},
    {"fastai", "lr_max", "optimizer.lr"},
    {"Ludwig, timm", "lr_base", "optimizer.lr"},
    {"timm", "lr_base_size", "optimizer.lr_batch"},
    {"MMEngine", "base_batch_size", "optimizer.lr_batch"},
    {"MMEngine", "auto_scale_lr", "optimizer.lr_batch"},
    {"Ludwig", "learning_rate_scaling", "optimizer.lr_batch"},
    {"timm", "layer_decay", "optimizer.lr", ", as in '{to: 1e-3, from: 1e-5}'"},
    {"fastai", "wd", "optimizer.weight_decay"},
    {"Ludwig", "regularization_lambda", "optimizer.weight_decay"},
    {"torchvision", "norm_weight_decay", "optimizer.no_decay", kNoDecay},
    {"torchvision", "bias_weight_decay", "optimizer.no_decay", kNoDecay},
    {"fastai", "wd_bn_bias", "optimizer.no_decay", kNoDecay},
    {"MMEngine", "paramwise_cfg", "optimizer.no_decay", kNoDecay},
    {"fastai", "mom", "optimizer.momentum"},
    {"fastai", "sqr_mom", "optimizer.betas", ", as in '[0.9, 0.99]'"},
    {"Hugging Face", "adam_beta1", "optimizer.betas", ", as in '[0.9, 0.999]'"},
    {"Hugging Face", "adam_beta2", "optimizer.betas", ", as in '[0.9, 0.999]'"},
    {"Hugging Face", "adam_epsilon", "optimizer.eps"},
    {"Hugging Face", "clip_threshold", "optimizer.d", ", with 'type: adafactor'"},
    {"timm", "opt_betas", "optimizer.betas", ", as in '[0.9, 0.999]'"},
    {"timm", "opt_eps", "optimizer.eps"},
    {"fastai", "opt_func", "optimizer"},
    {"timm", "opt", "optimizer"},
    {"Hugging Face", "optim", "optimizer"},
    {"Composer", "optimizers", "optimizer"},
    {"MMEngine", "optim_wrapper", "optimizer"},
    {"British English", "optimiser", "optimizer"},
    {"DeepSpeed", "optimizer.params", "optimizer", kNextToType},
    {"MMEngine", "optim_wrapper.optimizer", "optimizer", kNextToType},

    // the loss
    {"torchvision", "criterion", "loss"},
    {"fastai, MMEngine", "loss_func", "loss"},
    {"timm", "bce_loss", "loss", ", as in 'bce_with_logits'"},
    {"timm", "smoothing", "loss.label_smoothing"},
    {"Hugging Face", "label_smoothing_factor", "loss.label_smoothing"},
    {"Ludwig", "output_features", "loss"},

    // the schedule
    {"most", "scheduler", "schedule"},
    {"Lightning, torchvision", "lr_scheduler", "schedule"},
    {"Hugging Face", "lr_scheduler_type", "schedule", ", as in 'cosine'"},
    {"Hugging Face", "lr_scheduler_kwargs", "schedule", kNextToType},
    {"timm", "sched", "schedule"},
    {"Composer", "schedulers", "schedule"},
    {"Ludwig", "learning_rate_scheduler", "schedule"},
    {"MMEngine", "param_scheduler", "schedule"},
    {"Ultralytics", "cos_lr", "schedule", ", as in 'cosine'"},
    {"DeepSpeed", "scheduler.params", "schedule", kNextToType},
    {"Hugging Face, DeepSpeed", "warmup_steps", "schedule.warmup", kSteps},
    {"Hugging Face", "warmup_ratio", "schedule.warmup", ", as in '5 %'"},
    {"Accelerate", "num_warmup_steps", "schedule.warmup", kSteps},
    {"timm, Ultralytics, Ludwig", "warmup_epochs", "schedule.warmup", kEpochs},
    {"DeepSpeed", "warmup_num_steps", "schedule.warmup", kSteps},
    {"torchvision", "lr_warmup_epochs", "schedule.warmup", kEpochs},
    {"torchvision", "lr_warmup_decay", "schedule.warmup_start"},
    {"timm", "warmup_lr", "schedule.warmup_start"},
    {"Hugging Face", "warmup_lr_rate", "schedule.warmup_start"},
    {"Hugging Face", "min_lr_rate", "schedule.min_lr_ratio"},
    {"Hugging Face", "num_stable_steps", "schedule.stable", kSteps},
    {"Hugging Face", "num_decay_steps", "schedule.decay", kSteps},
    {"torchvision", "lr_step_size", "schedule.every", kEpochs},
    {"torchvision", "lr_gamma", "schedule.gamma"},
    {"torchvision", "lr_min", "schedule.min_lr"},
    {"MMEngine", "eta_min", "schedule.min_lr"},
    {"timm", "decay_rate", "schedule.gamma"},
    {"timm", "decay_epochs", "schedule.every", kEpochs},
    {"timm", "decay_milestones", "schedule.milestones", ", as in '[30 epochs, 60 epochs]'"},

    // clipping, precision, averages
    {"Lightning", "gradient_clip_val", "train.clip", kClip},
    {"Lightning", "gradient_clip_algorithm", "train.clip", kClip},
    {"Hugging Face", "max_grad_norm", "train.clip", kClip},
    {"torchvision", "clip_grad_norm", "train.clip", kClip},
    {"timm, MMEngine", "clip_grad", "train.clip", kClip},
    {"DeepSpeed, Ludwig", "gradient_clipping", "train.clip", kClip},
    {"timm", "clip_mode", "train.clip", kClip},
    {"Accelerate", "mixed_precision", "train.precision", kHalf},
    {"timm, torchvision, Ultralytics", "amp", "train.precision", kHalf},
    {"timm", "amp_dtype", "train.precision", kHalf},
    {"Hugging Face, DeepSpeed", "fp16", "train.precision", ", as in 'fp16'"},
    {"Hugging Face, DeepSpeed", "bf16", "train.precision", kHalf},
    {"Hugging Face", "tf32", "train.precision", ", as in 'tf32'"},
    {"Ultralytics", "half", "train.precision", ", as in 'fp16'"},
    {"DeepSpeed", "fp16.enabled", "train.precision", ", as in 'fp16'"},
    {"DeepSpeed", "bf16.enabled", "train.precision", kHalf},
    {"torchtune", "dtype", "train.precision", kHalf},
    {"timm, torchvision", "model_ema", "train.ema", kEma},
    {"timm, torchvision", "model_ema_decay", "train.ema.decay"},
    {"timm", "model_ema_warmup", "train.ema.warmup"},
    {"Diffusers", "ema_inv_gamma", "train.ema.warmup_gamma"},
    {"Diffusers", "ema_power", "train.ema.warmup_power"},
    {"Diffusers", "ema_max_decay", "train.ema.decay"},
    {"Lightning", "swa_lrs", "train.swa.lr"},
    {"Lightning", "swa_epoch_start", "train.swa.start", ", as in '75 %'"},
    {"Hugging Face", "full_determinism", "train.deterministic", ", as in 'true'"},
    {"torchvision", "use_deterministic_algorithms", "train.deterministic", ", as in 'true'"},
    {"Composer", "deterministic_mode", "train.deterministic", ", as in 'true'"},
    {"Ultralytics", "freeze", "train.freeze_to"},
    {"Lightning, Ludwig", "trainer", "train"},
    {"MMEngine", "train_cfg", "train"},
    {"Hugging Face", "training_args", "train"},

    // the model
    {"fastai, torchvision", "arch", "model"},
    {"Ludwig", "combiner", "model"},
    {"Ludwig", "model_type", "model"},
    {"timm, torchvision, Ultralytics", "pretrained", "model.weights", ", as in 'resnet18.pth'"},
    {"timm", "initial_checkpoint", "model.weights", ", as in 'resnet18.pth'"},
    {"MMEngine", "load_from", "model.weights", ", as in 'resnet18.pth'"},
    {"Composer", "load_path", "model.weights", ", as in 'resnet18.pth'"},
    {"fastai", "n_out", "model.num_classes"},
    {"Hugging Face", "num_labels", "model.num_classes"},
    {"timm", "drop_rate", "model.dropout"},
    {"Lightning", "class_path", "type"},
    {"Lightning", "init_args", "type", ": the options stand next to it"},
    {"torchtune", "_component_", "type"},
    {"Hydra", "_target_", "type"},

    // data
    {"Lightning, Composer, MMEngine", "train_dataloader", "data"},
    {"Lightning, MMEngine", "val_dataloader", "data.valid"},
    {"Composer", "eval_dataloader", "data.valid"},
    {"timm, torchtune", "dataset", "data"},
    {"Ludwig", "input_features", "data"},
    {"Ludwig", "preprocessing", "data"},
    {"torchvision", "data_path", "data.root"},
    {"timm", "data_dir", "data.root"},
    {"MMEngine", "data_root", "data.root"},
    {"MMEngine", "ann_file", "data.file"},
    {"timm", "train_split", "data.train"},
    {"timm", "val_split", "data.valid"},
    {"fastai", "valid_pct", "data.valid.fraction"},
    {"fastai", "item_tfms", "data.transforms"},
    {"fastai", "batch_tfms", "data.transforms"},
    {"MMEngine", "pipeline", "data.transforms"},
    {"Ultralytics", "imgsz", "data.transforms", kSizes},
    {"timm", "img_size", "data.transforms", kSizes},
    {"Ludwig, Composer", "max_seq_len", "data.max_length"},
    {"torchtune, Hugging Face", "max_seq_length", "data.max_length"},
    {"fastai", "seq_len", "data.blocks.length"},
    {"Hugging Face", "block_size", "data.blocks.length"},
    {"TRL", "packing", "data.blocks", ", as in 'packed'"},
    {"fastai", "is_lm", "data.task", ", as in 'language_model'"},
    {"torchvision", "train_crop_size", "data.transforms", kSizes},
    {"torchvision", "val_crop_size", "data.transforms", kSizes},
    {"torchvision", "val_resize_size", "data.transforms", kSizes},
    {"timm", "hflip", "data.transforms", " with 'horizontal_flip'"},
    {"Ultralytics", "fliplr", "data.transforms", " with 'horizontal_flip'"},
    {"timm", "reprob", "data.transforms", " with 'random_erasing'"},
    {"torchvision", "random_erase", "data.transforms", " with 'random_erasing'"},
    {"timm", "aa", "data.transforms", " with 'auto_augment' or 'rand_augment'"},
    {"timm", "mixup_prob", "data.mix.p"},
    {"torchvision", "mixup_alpha", "data.mix", kMix},
    {"torchvision", "cutmix_alpha", "data.mix", ", as in '{type: cutmix, alpha: 1.0}'"},
    {"torchvision", "ra_sampler", "data.sampler", ", as in 'repeat_aug'"},
    {"Hugging Face", "group_by_length", "data.sampler", ", as in 'length_sorted'"},
    {"Lightning, MMEngine", "num_workers", "data.loader.workers"},
    {"Hugging Face", "dataloader_num_workers", "data.loader.workers"},
    {"Lightning", "prefetch_factor", "data.loader.prefetch"},
    {"Hugging Face", "dataloader_prefetch_factor", "data.loader.prefetch"},
    {"Hugging Face", "dataloader_drop_last", "data.loader.drop_last"},
    {"Accelerate", "even_batches", "data.loader.pad"},
    {"Accelerate", "split_batches", "data.loader.shard", ", as in 'split'"},
    {"Accelerate", "dispatch_batches", "data.loader.shard", ", as in 'dispatch'"},

    // devices
    {"Accelerate", "num_processes", "parallel.devices"},
    {"Ludwig, Composer", "num_gpus", "parallel.devices"},
    {"Lightning", "gpus", "parallel.devices"},
    {"Accelerate", "gpu_ids", "parallel.devices", ", as in '[0, 2]'"},
    {"Lightning", "num_nodes", "parallel.nodes"},
    {"torchrun", "nnodes", "parallel.nodes"},
    {"Accelerate", "num_machines", "parallel.nodes"},
    {"torchrun", "nproc_per_node", "parallel.devices"},
    {"Lightning", "strategy", "parallel.mode", ", as in 'ddp'"},
    {"Accelerate", "distributed_type", "parallel.mode", ", as in 'ddp'"},
    {"Ludwig", "backend", "parallel"},
    {"Lightning", "accelerator", "parallel.device", ", as in 'cuda'"},
    {"Hugging Face, Accelerate", "use_cpu", "parallel.device", kCpu},
    {"Hugging Face", "no_cuda", "parallel.device", kCpu},
    {"Lightning", "sync_batchnorm", "parallel.sync_bn", ", as in 'true'"},
    {"Hugging Face", "ddp_find_unused_parameters", "parallel.ddp.find_unused_parameters"},
    {"Hugging Face", "ddp_bucket_cap_mb", "parallel.ddp.bucket_cap_mb"},
    {"Accelerate", "comm_hook", "parallel.ddp.comm.dtype"},
    {"Hugging Face", "ddp_broadcast_buffers", "parallel.ddp.broadcast_buffers"},
    {"Hugging Face", "ddp_timeout", "parallel.timeout.step", ", as in '30 min'"},

    // evaluation, checkpoints, logs
    {"Hugging Face", "per_device_eval_batch_size", "eval.batch"},
    {"Ludwig", "eval_batch_size", "eval.batch"},
    {"Composer", "device_eval_batch_size", "eval.batch"},
    {"timm", "validation_batch_size", "eval.batch"},
    {"Lightning", "check_val_every_n_epoch", "eval.every", kPeriod},
    {"Lightning", "val_check_interval", "eval.every", kPeriod},
    {"MMEngine", "val_interval", "eval.every", kPeriod},
    {"Composer", "eval_interval", "eval.every", kPeriod},
    {"Hugging Face", "eval_steps", "eval.every", kSteps},
    {"Hugging Face", "eval_strategy", "eval.every", kPeriod},
    {"Hugging Face", "evaluation_strategy", "eval.every", kPeriod},
    {"MMEngine", "val_evaluator", "metrics", ", as in '[accuracy]'"},
    {"Hugging Face", "compute_metrics", "metrics", ", as in '[accuracy]'"},
    {"Hugging Face", "save_steps", "checkpoint.every", kSteps},
    {"Hugging Face", "save_strategy", "checkpoint.every", kPeriod},
    {"Composer", "save_interval", "checkpoint.every", kPeriod},
    {"Ultralytics", "save_period", "checkpoint.every", kEpochs},
    {"Lightning", "every_n_epochs", "checkpoint.every", kEpochs},
    {"Lightning", "every_n_train_steps", "checkpoint.every", kSteps},
    {"Ludwig", "steps_per_checkpoint", "checkpoint.every", kSteps},
    {"Hugging Face", "save_total_limit", "checkpoint.keep_last"},
    {"Lightning", "save_last", "checkpoint.keep_last"},
    {"MMEngine", "max_keep_ckpts", "checkpoint.keep_last"},
    {"timm", "checkpoint_hist", "checkpoint.keep_last"},
    {"Composer", "save_num_checkpoints_to_keep", "checkpoint.keep_last"},
    {"Lightning", "save_top_k", "checkpoint.keep_best", kBest},
    {"MMEngine", "save_best", "checkpoint.keep_best", kBest},
    {"Hugging Face", "load_best_model_at_end", "checkpoint.keep_best", kBest},
    {"Hugging Face", "metric_for_best_model", "checkpoint.keep_best.metric"},
    {"Hugging Face", "greater_is_better", "checkpoint.keep_best.mode", ", as in 'max'"},
    {"Lightning, fastai", "monitor", "checkpoint.keep_best.metric"},
    {"timm", "eval_metric", "checkpoint.keep_best.metric"},
    {"Ludwig", "validation_metric", "checkpoint.keep_best.metric"},
    {"Ludwig", "early_stop", "callbacks", kStop},
    {"Hugging Face", "early_stopping_patience", "callbacks", kStop},
    {"fastai", "cbs", "callbacks", kStop},
    {"MMEngine", "custom_hooks", "callbacks", kStop},
    {"Lightning, torchtune", "log_every_n_steps", "log.every", kSteps},
    {"Hugging Face", "logging_steps", "log.every", kSteps},
    {"timm", "log_interval", "log.every", kSteps},
    {"torchvision", "print_freq", "log.every", kSteps},
    {"DeepSpeed", "steps_per_print", "log.every", kSteps},
    {"Hugging Face", "report_to", "log.tensorboard", ", as in 'true'"},
    {"Accelerate", "log_with", "log.tensorboard", ", as in 'true'"},

    // names, folders, seeds
    {"Hugging Face, torchvision, torchtune", "output_dir", "output.dir"},
    {"MMEngine", "work_dir", "output.dir"},
    {"Lightning", "default_root_dir", "output.dir"},
    {"Lightning", "dirpath", "output.dir"},
    {"Composer", "save_folder", "output.dir"},
    {"Accelerate", "project_dir", "output.dir"},
    {"Ultralytics", "project", "output.dir"},
    {"Ludwig", "output_directory", "output.dir"},
    {"English", "output.folder", "output.dir"},
    {"English", "output.directory", "output.dir"},
    {"English", "output.path", "output.dir"},
    {"Hugging Face, Composer", "run_name", "name"},
    {"timm", "experiment", "name"},
    {"Ludwig", "experiment_name", "name"},
    {"Lightning", "seed_everything", "seed"},
    {"Ludwig", "random_seed", "seed"},
    {"MMEngine", "randomness", "seed"},
    {"MMEngine", "_base_", "extends", ", as in '[base.yaml]'"},
    {"Hydra", "defaults", "extends", ", as in '[base.yaml]'"},
});

/// A word of another tool for one of ours.
struct ForeignWord {
  std::string_view theirs;
  std::string_view ours;
};

constexpr auto words_table = std::to_array<ForeignWord>({
    {"16", "fp16"},     {"16-mixed", "fp16"},   {"amp_fp16", "fp16"}, {"float16", "fp16"},
    {"half", "fp16"},   {"bf16-mixed", "bf16"}, {"amp_bf16", "bf16"}, {"bfloat16", "bf16"},
    {"32", "fp32"},     {"32-true", "fp32"},    {"float", "fp32"},    {"float32", "fp32"},
    {"64", "fp64"},     {"double", "fp64"},     {"float64", "fp64"},  {"gpu", "cuda"},
    {"cuda:0", "cuda"}, {"maximize", "max"},    {"minimize", "min"},
});

/// Whether `path` ends with the steps of `theirs`.
bool names_key(std::string_view path, std::string_view theirs) {
  if (!path.ends_with(theirs)) return false;
  return path.size() == theirs.size() || path[path.size() - theirs.size() - 1] == '.';
}

std::string underscores(std::string_view text) {
  auto plain = lower(text);
  std::replace(plain.begin(), plain.end(), '-', '_');
  return plain;
}

}  // namespace

std::span<const ForeignKey> foreign_keys() { return table; }

std::string foreign_key_hint(std::string_view path) {
  const auto written = underscores(path);
  const ForeignKey* best = nullptr;
  for (const auto& key : table)
    if (names_key(written, key.theirs) && (!best || key.theirs.size() > best->theirs.size()))
      best = &key;
  return best ? "'" + std::string(best->ours) + "'" + std::string(best->says) : "";
}

std::string foreign_word(std::string_view word, const std::vector<std::string>& words) {
  const auto written = lower(word);
  for (const auto& [theirs, ours] : words_table)
    if (theirs == written && std::find(words.begin(), words.end(), ours) != words.end())
      return std::string(ours);
  return {};
}

std::string why_not_here(std::string_view word, const std::vector<std::string>& words) {
  const bool halves = std::find(words.begin(), words.end(), "bf16") != words.end();
  if (halves && lower(word).starts_with("fp8"))
    return "fp8 wants GPU kernels that have not been proved here; bf16 comes nearest";
  return {};
}

}  // namespace ddptrain
