// Configurations of Accelerate and DeepSpeed as keys of a recipe.
#include "cli/foreign_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/files.h"
#include "cli/cli_output.h"
#include "config/yaml/reader.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using Pairs = std::vector<std::pair<std::string, std::string>>;

ForeignConfig config_of(const std::string& text) {
  const auto read = read_yaml(text, "config");
  EXPECT_TRUE(read.problems.empty());
  return foreign_config(read.tree, "config");
}

std::string value_of(const ForeignConfig& config, const std::string& key) {
  for (const auto& [name, value] : config.keys)
    if (name == key) return value;
  return {};
}

// As `accelerate config` writes it (accelerate 1.x, docs/source/usage_guides/fsdp.md).
constexpr const char* kAccelerate = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch_policy: BACKWARD_PRE
  fsdp_forward_prefetch: false
  fsdp_cpu_ram_efficient_loading: true
  fsdp_offload_params: false
  fsdp_sharding_strategy: FULL_SHARD
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_sync_module_states: true
  fsdp_transformer_layer_cls_to_wrap: BertLayer
  fsdp_use_orig_params: true
machine_rank: 0
main_training_function: main
mixed_precision: bf16
num_machines: 1
num_processes: 2
rdzv_backend: static
same_network: true
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
)";

TEST(ForeignConfig, OfAccelerateIsModeDevicesAndPrecision) {
  const auto config = config_of(kAccelerate);
  EXPECT_EQ(config.tool, "Accelerate");
  EXPECT_EQ(
      config.keys,
      (Pairs{{"parallel.mode", "fsdp"}, {"parallel.devices", "2"}, {"train.precision", "bf16"}}));
}

TEST(ForeignConfig, GivesAReasonForEverythingThatIsLeft) {
  for (const auto& [key, why] : config_of(kAccelerate).left)
    EXPECT_NE(why, "no counterpart") << key;
}

TEST(ForeignConfig, ReadsEveryShardingStrategy) {
  const auto keys = [](const std::string& strategy) {
    const auto config = config_of(
        "distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: " + strategy + "}\n");
    return value_of(config, "parallel.mode") + " " + value_of(config, "parallel.shard.group");
  };
  EXPECT_EQ(keys("FULL_SHARD"), "fsdp ");
  EXPECT_EQ(keys("2"), "zero2 ");
  EXPECT_EQ(keys("NO_SHARD"), "ddp ");
  EXPECT_EQ(keys("HYBRID_SHARD"), "fsdp node");
  EXPECT_EQ(keys("HYBRID_SHARD_ZERO2"), "zero2 node");
  EXPECT_EQ(keys("4"), "fsdp node");
  EXPECT_EQ(keys("5"), "zero2 node");
  EXPECT_EQ(keys("SOME_SHARD"), " ");
}

TEST(ForeignConfig, ReadsTheSecondVersionOfFsdp) {
  const auto mode = [](const std::string& reshard) {
    return value_of(config_of("distributed_type: FSDP\nfsdp_config: {fsdp_version: 2, "
                              "fsdp_reshard_after_forward: " +
                              reshard + "}\n"),
                    "parallel.mode");
  };
  EXPECT_EQ(mode("true"), "fsdp");
  EXPECT_EQ(mode("false"), "zero2");
}

TEST(ForeignConfig, ReadsDeepSpeedWithinAccelerate) {
  const auto config = config_of(
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 1\n  "
      "gradient_accumulation_steps: 4\n  gradient_clipping: 1.0\n  offload_param_device: none\n"
      "mixed_precision: 'no'\n");
  EXPECT_EQ(config.keys, (Pairs{{"batch.accumulate", "4"},
                                {"parallel.mode", "zero1"},
                                {"train.clip", "{type: norm, max: 1.0}"},
                                {"train.precision", "fp32"}}));
  EXPECT_TRUE(config.left.empty());
}

// DeepSpeed's documentation, docs/_tutorials/zero.md and config-json.md.
constexpr const char* kDeepSpeed = R"({
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 8,
  "gradient_clipping": 1.0,
  "steps_per_print": 10,
  "fp16": {"enabled": false},
  "bf16": {"enabled": true},
  "optimizer": {"type": "AdamW", "params": {"lr": 3e-4, "betas": [0.9, 0.95], "weight_decay": 0.1}},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "reduce_bucket_size": 5e8,
    "zero_hpz_partition_size": 8,
    "offload_optimizer": {"device": "cpu", "pin_memory": true},
    "offload_param": {"device": "nvme"}
  },
  "wall_clock_breakdown": false,
  "something_else": 1
})";

TEST(ForeignConfig, OfDeepSpeedIsBatchModeAndOptimizer) {
  const auto config = config_of(kDeepSpeed);
  EXPECT_EQ(config.keys, (Pairs{{"batch.global", "64"},
                                {"batch.micro", "8"},
                                {"log.every", "10 steps"},
                                {"optimizer.type", "adamw"},
                                {"optimizer.lr", "3e-4"},
                                {"optimizer.betas", "[0.9, 0.95]"},
                                {"optimizer.weight_decay", "0.1"},
                                {"parallel.mode", "fsdp"},
                                {"parallel.shard.group", "8"},
                                {"parallel.shard.offload", "optimizer"},
                                {"train.clip", "{type: norm, max: 1.0}"},
                                {"train.precision", "bf16"}}));
  const Pairs& left = config.left;
  EXPECT_THAT(left, testing::Contains(std::pair<std::string, std::string>{
                        "zero_optimization.offload_param.device",
                        "what a rank has of weights and gradients stays on its device"}));
  EXPECT_THAT(left, testing::Contains(
                        std::pair<std::string, std::string>{"something_else", "no counterpart"}));
  EXPECT_EQ(left.size(), 6U);
}

TEST(ForeignConfig, LeavesWhatTransformersFillsIn) {
  const auto config = config_of("{\"train_batch_size\": \"auto\", \"bf16\": {\"enabled\": true}}");
  EXPECT_EQ(config.keys, (Pairs{{"train.precision", "bf16"}}));
  EXPECT_EQ(config.left, (Pairs{{"train_batch_size", "'auto' is filled in by transformers"}}));
}

TEST(ForeignConfig, KnowsAdamWithoutDecoupledDecay) {
  const auto type = [](const std::string& optimizer) {
    return value_of(config_of("{\"train_batch_size\": 1, \"optimizer\": " + optimizer + "}"),
                    "optimizer.type");
  };
  EXPECT_EQ(type("{\"type\": \"Adam\"}"), "adamw");
  EXPECT_EQ(type("{\"type\": \"Adam\", \"params\": {\"adam_w_mode\": false}}"), "adam");
  EXPECT_EQ(type("{\"type\": \"OneBitAdam\"}"), "");
}

TEST(ForeignConfig, OfAnotherFileIsAnError) { EXPECT_THROW(config_of("model: resnet18\n"), Error); }

TEST(InitFrom, WritesKeysThatARecipeIsRunWith) {
  const TemporaryFolder folder;
  const test::Inside inside(folder.path());
  write_atomically("accelerate.yaml",
                   "distributed_type: MULTI_CPU\nnum_processes: 2\nmixed_precision: 'no'\n"
                   "machine_rank: 0\n");
  const auto ran = test::cli_output({"init", "--from", "accelerate.yaml"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("wrote accelerate-keys.yaml: 4 keys of Accelerate\n"));
  EXPECT_THAT(ran.out, HasSubstr("  left: machine_rank: torchrun, srun or mpirun says it"));
  const auto shown =
      test::cli_output({"show", test::in_source("recipes/shapes.yaml"), "accelerate-keys.yaml"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  for (const std::string key : {"mode: ddp", "device: cpu", "devices: 2", "precision: fp32"})
    EXPECT_THAT(shown.out, HasSubstr(key));
  EXPECT_EQ(test::cli_output({"init", "--from", "accelerate.yaml"}).code, 2);  // it is there
}

TEST(InitFrom, RefusesAFileOfNeitherTool) {
  const TemporaryFolder folder;
  const test::Inside inside(folder.path());
  write_atomically("other.yaml", "model: resnet18\n");
  const auto ran = test::cli_output({"init", "--from", "other.yaml"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--from: 'other.yaml' is neither what 'accelerate config'"));
}

}  // namespace
}  // namespace ddptrain
