#include "config/hints.h"

#include <array>

#include "base/text.h"

namespace ddptrain {
namespace {

struct Hint {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array<Hint, 46> hints{{
    {"max_epochs", "'train.duration', as in '5 epochs'"},
    {"num_epochs", "'train.duration', as in '5 epochs'"},
    {"num_train_epochs", "'train.duration', as in '5 epochs'"},
    {"n_epoch", "'train.duration', as in '5 epochs'"},
    {"epochs", "'train.duration', as in '5 epochs'"},
    {"max_steps", "'train.duration', as in '1000 steps'"},
    {"max_duration", "'train.duration', as in '5 epochs'"},
    {"total_steps", "'train.duration', as in '1000 steps'"},
    {"learning_rate", "'optimizer.lr'"},
    {"base_lr", "'optimizer.lr'"},
    {"lr", "'optimizer.lr'"},
    {"wd", "'optimizer.weight_decay'"},
    {"weight_decay", "'optimizer.weight_decay'"},
    {"mom", "'optimizer.momentum'"},
    {"opt_func", "'optimizer'"},
    {"optimiser", "'optimizer'"},
    {"criterion", "'loss'"},
    {"loss_func", "'loss'"},
    {"scheduler", "'schedule'"},
    {"lr_scheduler", "'schedule'"},
    {"lr_scheduler_type", "'schedule'"},
    {"batch_size", "'batch.global' (over all devices) or 'batch.micro' (per device)"},
    {"bs", "'batch.global' (over all devices) or 'batch.micro' (per device)"},
    {"per_device_train_batch_size", "'batch.micro'"},
    {"per_device_eval_batch_size", "'eval.batch'"},
    {"train_micro_batch_size_per_gpu", "'batch.micro'"},
    {"train_batch_size", "'batch.global'"},
    {"gradient_accumulation_steps", "'batch.accumulate'"},
    {"accumulate_grad_batches", "'batch.accumulate'"},
    {"num_workers", "'data.loader.workers'"},
    {"dataloader_num_workers", "'data.loader.workers'"},
    {"prefetch_factor", "'data.loader.prefetch'"},
    {"drop_last", "'data.loader.drop_last'"},
    {"gradient_clip_val", "'train.clip', as in '{type: norm, max: 1.0}'"},
    {"max_grad_norm", "'train.clip', as in '{type: norm, max: 1.0}'"},
    {"clip_grad_norm", "'train.clip', as in '{type: norm, max: 1.0}'"},
    {"mixed_precision", "'train.precision'"},
    {"amp", "'train.precision'"},
    {"fp16", "'train.precision'"},
    {"bf16", "'train.precision'"},
    {"num_processes", "'parallel.devices'"},
    {"num_gpus", "'parallel.devices'"},
    {"gpus", "'parallel.devices'"},
    {"strategy", "'parallel.mode'"},
    {"sync_batchnorm", "'parallel.sync_bn'"},
    {"output_dir", "'output.dir'"},
}};

}  // namespace

std::string foreign_key_hint(std::string_view key) {
  const auto plain = lower(key);
  for (const auto& hint : hints)
    if (hint.theirs == plain) return std::string(hint.ours);
  return {};
}

}  // namespace ddptrain
