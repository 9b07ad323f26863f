#include "cli/foreign_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

/// Why a key has no counterpart; every key of Accelerate and DeepSpeed that is met often.
struct LeftBehind {
  std::string_view key;  // its last part
  std::string_view why;
};

constexpr std::string_view kByLauncher = "torchrun, srun or mpirun says it; see docs/clusters.md";
constexpr std::string_view kUnits = "the units are the model's blocks";
constexpr std::string_view kOrder = "the next unit is always gathered ahead";
constexpr std::string_view kOneFile = "a checkpoint is one set of files for any number of devices";
constexpr std::string_view kNoScript = "there is no script";
constexpr std::string_view kNoTpu = "no TPUs";
constexpr std::string_view kSizesAre = "buckets and units have sizes of their own";

constexpr auto kNoOffload = "what a rank has of weights and gradients stays on its device";
constexpr auto kLeft = std::to_array<LeftBehind>({
    {"machine_rank", kByLauncher},
    {"num_machines", kByLauncher},
    {"main_process_ip", kByLauncher},
    {"main_process_port", kByLauncher},
    {"rdzv_backend", kByLauncher},
    {"same_network", kByLauncher},
    {"deepspeed_multinode_launcher", kByLauncher},
    {"deepspeed_hostfile", kByLauncher},
    {"compute_environment", kByLauncher},
    {"main_training_function", kNoScript},
    {"debug", "ranks always compare what they train"},
    {"downcast_bf16", kNoTpu},
    {"tpu_env", kNoTpu},
    {"tpu_use_cluster", kNoTpu},
    {"tpu_use_sudo", kNoTpu},
    {"dynamo_config", "no compiler; train.graph captures steps"},
    {"fsdp_auto_wrap_policy", kUnits},
    {"fsdp_transformer_layer_cls_to_wrap", kUnits},
    {"fsdp_min_num_params", kUnits},
    {"fsdp_backward_prefetch", kOrder},
    {"fsdp_backward_prefetch_policy", kOrder},
    {"fsdp_forward_prefetch", kOrder},
    {"fsdp_use_orig_params", "parameters always keep their names"},
    {"fsdp_state_dict_type", kOneFile},
    {"fsdp_sync_module_states", "every rank starts from the same weights"},
    {"fsdp_cpu_ram_efficient_loading", "a rank keeps its part of the weights alone"},
    {"fsdp_version", "there is one engine"},
    {"fsdp_offload_params", kNoOffload},
    {"offload_optimizer_device", "nothing is offloaded to a disk"},
    {"offload_param_device", kNoOffload},
    {"device", kNoOffload},
    {"zero3_init_flag", "a rank keeps its part of the weights alone"},
    {"zero3_save_16bit_model", kOneFile},
    {"stage3_gather_16bit_weights_on_model_save", kOneFile},
    {"overlap_comm", "communication always overlaps"},
    {"contiguous_gradients", "gradients always lie in buckets"},
    {"reduce_scatter", "follows from parallel.mode"},
    {"reduce_bucket_size", kSizesAre},
    {"allgather_bucket_size", kSizesAre},
    {"allgather_partitions", kSizesAre},
    {"stage3_prefetch_bucket_size", kSizesAre},
    {"stage3_param_persistence_threshold", kSizesAre},
    {"stage3_max_live_parameters", kSizesAre},
    {"stage3_max_reuse_distance", kSizesAre},
    {"sub_group_size", kSizesAre},
    {"round_robin_gradients", kSizesAre},
    {"pin_memory", "memory for copies is always page-locked"},
    {"wall_clock_breakdown", "'ddptrain bench' prints the parts of a step"},
    {"flops_profiler", "'ddptrain plan' counts operations"},
    {"scheduler", "write a 'schedule'; 'ddptrain list schedule' names them"},
    {"communication_data_type", "write parallel.ddp.comm.dtype"},
    {"activation_checkpointing", "write train.recompute: blocks"},
    {"comms_logger", "'ddptrain bench' prints communication"},
    {"tensorboard", "write log.tensorboard: true"},
});

std::string lower_text(const Node& node) { return lower(node.text); }
bool is_true(const Node& node) { return lower_text(node) == "true"; }

/// Reads a tree of another tool key by key, each once.
class ForeignReader {
 public:
  explicit ForeignReader(std::string tool) { config_.tool = std::move(tool); }

  using Handler = std::function<bool(const Node&)>;  // false: the value has no counterpart
  using Handlers = std::map<std::string, Handler, std::less<>>;

  void read(const Node& map, const Handlers& handlers, const std::string& prefix = {}) {
    for (const auto& [key, place, value] : map.members) {
      const auto path = prefix.empty() ? key : prefix + "." + key;
      const auto handler = handlers.find(path);
      if (handler == handlers.end() && value.is_map())
        read(value, handlers, path);
      else if (is_automatic(value))
        leave(path, "'auto' is filled in by transformers");
      else if (handler == handlers.end() || !handler->second(value))
        leave(path, why(key, handler != handlers.end()));
    }
  }

  bool set(const std::string& key, std::string value) {
    const auto known =
        std::ranges::find(config_.keys, key, &std::pair<std::string, std::string>::first);
    if (known == config_.keys.end())
      config_.keys.emplace_back(key, std::move(value));
    else
      known->second = std::move(value);
    return true;
  }

  void leave(const std::string& path, std::string reason) {
    config_.left.emplace_back(path, std::move(reason));
  }

  ForeignConfig finish() {
    std::ranges::stable_sort(config_.keys, {}, [](const auto& each) {
      return each.first.substr(0, each.first.find('.'));
    });
    return std::move(config_);
  }

 private:
  static bool is_automatic(const Node& value) { return value.is_scalar() && value.text == "auto"; }

  static std::string why(const std::string& key, bool known) {
    const auto row = std::ranges::find(kLeft, key, &LeftBehind::key);
    if (row != kLeft.end()) return std::string(row->why);
    return known ? "this value has no counterpart" : "no counterpart";
  }

  ForeignConfig config_;
};

/// What both tools' files say of sharding, in the order in which it is known.
struct SharedRules {
  ForeignReader& reader;

  bool mode(const char* name) const { return reader.set("parallel.mode", name); }

  bool zero_stage(const Node& stage) const {
    constexpr std::array modes{"ddp", "zero1", "zero2", "fsdp"};
    const auto number = parse_integer(stage.text);
    if (!number || *number < 0 || *number > 3) return false;
    return mode(modes[static_cast<std::size_t>(*number)]);
  }

  bool offload(const Node& device) const { return lower_text(device) == "none"; }
  bool offload_optimizer(const Node& device) const {
    return offload(device) ||
           (lower_text(device) == "cpu" && reader.set("parallel.shard.offload", "optimizer"));
  }

  bool clip(const Node& norm) const {
    const auto number = parse_number(norm.text);
    if (!number) return false;
    return *number == 0 || reader.set("train.clip", "{type: norm, max: " + norm.text + "}");
  }

  bool accumulate(const Node& steps) const { return reader.set("batch.accumulate", steps.text); }

  /// fsdp_sharding_strategy by name, or by the number that older files have.
  bool strategy(const Node& node) const {
    const auto name = lower_text(node);
    if (name == "full_shard" || name == "1") return mode("fsdp");
    if (name == "shard_grad_op" || name == "2") return mode("zero2");
    if (name == "no_shard" || name == "3") return mode("ddp");
    if (name != "hybrid_shard" && name != "4" && name != "hybrid_shard_zero2" && name != "5")
      return false;
    const bool weights_too = name == "hybrid_shard" || name == "4";
    return mode(weights_too ? "fsdp" : "zero2") && reader.set("parallel.shard.group", "node");
  }

  /// Of fsdp_version 2 a truth, of version 1 what fsdp_sharding_strategy is there.
  bool reshard(const Node& node) const {
    if (is_true(node)) return mode("fsdp");
    return lower_text(node) == "false" ? mode("zero2") : strategy(node);
  }
};

bool precision(ForeignReader& reader, const Node& node) {
  const auto name = lower_text(node);
  if (name != "no" && name != "bf16" && name != "fp16") return false;
  return reader.set("train.precision", name == "no" ? "fp32" : name);
}

bool distributed_type(ForeignReader& reader, const Node& node) {
  const auto type = lower_text(node);
  if (type == "fsdp" || type == "deepspeed") return true;  // a section says the mode
  if (type == "no") return reader.set("parallel.mode", "none");
  if (type == "multi_cpu") reader.set("parallel.device", "cpu");
  return (type == "multi_gpu" || type == "multi_cpu") && reader.set("parallel.mode", "ddp");
}

bool gpu_ids(ForeignReader& reader, const Node& node) {
  if (lower_text(node) == "all") return true;
  return reader.set("parallel.devices", fmt::format("[{}]", node.text));
}

ForeignConfig from_accelerate(const Node& tree) {
  ForeignReader reader("Accelerate");
  const SharedRules rules{reader};
  const auto set_if_true = [&](const char* key, const char* value) {
    return [&reader, key, value](const Node& node) {
      return !is_true(node) || reader.set(key, value);
    };
  };
  reader.read(
      tree,
      {{"distributed_type", [&](const Node& node) { return distributed_type(reader, node); }},
       {"num_processes",
        [&](const Node& node) { return reader.set("parallel.devices", node.text); }},
       {"gpu_ids", [&](const Node& node) { return gpu_ids(reader, node); }},
       {"mixed_precision", [&](const Node& node) { return precision(reader, node); }},
       {"use_cpu", set_if_true("parallel.device", "cpu")},
       {"enable_cpu_affinity", set_if_true("parallel.affinity", "cores")},
       {"gradient_accumulation_steps", [&](const Node& node) { return rules.accumulate(node); }},
       {"fsdp_config.fsdp_sharding_strategy",
        [&](const Node& node) { return rules.strategy(node); }},
       {"fsdp_config.fsdp_reshard_after_forward",
        [&](const Node& node) { return rules.reshard(node); }},
       {"fsdp_config.fsdp_offload_params",
        [](const Node& node) { return lower_text(node) == "false"; }},
       {"fsdp_config.fsdp_activation_checkpointing", set_if_true("train.recompute", "blocks")},
       {"deepspeed_config.zero_stage", [&](const Node& node) { return rules.zero_stage(node); }},
       {"deepspeed_config.offload_optimizer_device",
        [&](const Node& node) { return rules.offload_optimizer(node); }},
       {"deepspeed_config.offload_param_device",
        [&](const Node& node) { return rules.offload(node); }},
       {"deepspeed_config.gradient_accumulation_steps",
        [&](const Node& node) { return rules.accumulate(node); }},
       {"deepspeed_config.gradient_clipping", [&](const Node& node) { return rules.clip(node); }}});
  return reader.finish();
}

/// Adam, AdamW and SGD with the options that they share with ours.
bool deepspeed_optimizer(ForeignReader& reader, const Node& node) {
  const auto* type = node.find("type");
  const auto name = type ? lower_text(*type) : "";
  if (name != "adam" && name != "adamw" && name != "sgd") return false;
  // DeepSpeed's Adam decouples weight decay unless adam_w_mode is false.
  const auto* params = node.find("params");
  const auto* coupled = params ? params->find("adam_w_mode") : nullptr;
  const bool decoupled = name != "sgd" && !(coupled && lower_text(*coupled) == "false");
  reader.set("optimizer.type", decoupled ? "adamw" : name);
  for (const auto* key : {"lr", "betas", "eps", "weight_decay", "momentum"}) {
    const auto* value = params ? params->find(key) : nullptr;
    if (!value || value->text == "auto") continue;
    std::vector<std::string> items;
    for (const auto& item : value->items) items.push_back(item.text);
    reader.set(std::string("optimizer.") + key,
               value->is_list() ? fmt::format("[{}]", join(items, ", ")) : value->text);
  }
  return true;
}

ForeignConfig from_deepspeed(const Node& tree) {
  ForeignReader reader("DeepSpeed");
  const SharedRules rules{reader};
  const auto set = [&](const char* key) {
    return [&reader, key](const Node& node) { return reader.set(key, node.text); };
  };
  const auto enabled = [&](const char* name) {
    return [&reader, name](const Node& node) {
      return !is_true(node) || reader.set("train.precision", name);
    };
  };
  const auto offload = [&](const Node& node) { return rules.offload(node); };
  reader.read(
      tree,
      {{"train_batch_size", set("batch.global")},
       {"train_micro_batch_size_per_gpu", set("batch.micro")},
       {"gradient_accumulation_steps", [&](const Node& node) { return rules.accumulate(node); }},
       {"gradient_clipping", [&](const Node& node) { return rules.clip(node); }},
       {"bf16.enabled", enabled("bf16")},
       {"fp16.enabled", enabled("fp16")},
       {"steps_per_print",
        [&](const Node& node) { return reader.set("log.every", node.text + " steps"); }},
       {"zero_optimization.stage", [&](const Node& node) { return rules.zero_stage(node); }},
       {"zero_optimization.offload_optimizer.device",
        [&](const Node& node) { return rules.offload_optimizer(node); }},
       {"zero_optimization.offload_param.device", offload},
       {"zero_optimization.zero_hpz_partition_size", set("parallel.shard.group")},
       {"optimizer", [&](const Node& node) { return deepspeed_optimizer(reader, node); }},
       {"scheduler", [](const Node&) { return false; }}});
  return reader.finish();
}

bool has_any(const Node& tree, std::initializer_list<const char*> keys) {
  return std::ranges::any_of(keys, [&](const char* key) { return tree.find(key) != nullptr; });
}

/// Puts a value at a path of maps.
void put(Node& map, const std::vector<std::string>& path, std::size_t depth, const Node& value) {
  const auto& key = path[depth];
  if (depth + 1 == path.size()) return map.set(key, value);
  if (!map.find(key)) map.set(key, Node::map());
  put(*map.find(key), path, depth + 1, value);
}

Node tree_of(const ForeignConfig& config) {
  auto tree = Node::map();
  for (const auto& [key, value] : config.keys)
    put(tree, split(key, '.'), 0, read_value(value, {}).tree);
  return tree;
}

}  // namespace

ForeignConfig foreign_config(const Node& tree, const std::string& file) {
  if (has_any(tree, {"distributed_type", "compute_environment", "mixed_precision"}))
    return from_accelerate(tree);
  if (has_any(tree, {"train_batch_size", "train_micro_batch_size_per_gpu", "zero_optimization"}))
    return from_deepspeed(tree);
  throw Error(
      Exit::recipe,
      "--from: '{}' is neither what 'accelerate config' writes (distributed_type, mixed_precision) "
      "nor a configuration of DeepSpeed (train_batch_size, zero_optimization)",
      file);
}

std::string foreign_recipe(const ForeignConfig& config, const std::string& file) {
  auto text = fmt::format("# What: how {} trains, from {}.\nrecipe: 1\n", config.tool, shown(file));
  if (!config.keys.empty()) text += to_yaml(tree_of(config));
  if (!config.left.empty()) text += "# What did not come along:\n";
  for (const auto& [key, why] : config.left) text += fmt::format("#   {}: {}\n", shown(key), why);
  return text;
}

}  // namespace ddptrain
