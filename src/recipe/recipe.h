// A whole run as data: what a recipe says after layering, with every default filled in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "config/fields.h"
#include "recipe/mode.h"
#include "recipe/plugin_spec.h"
#include "recipe/samples_section.h"
#include "recipe/stages.h"
#include "recipe/sweep_section.h"

namespace ddptrain {

enum class Precision { fp64, fp32, tf32, bf16, fp16 };
/// `simulated` is for tests: a recipe may say so where this variable of the environment names the
/// library that simulates a device.
enum class DeviceKind { automatic, cpu, cuda, simulated };
inline constexpr const char* kSimulatedDevice = "DDPTRAIN_SIMULATED_DEVICE";
enum class OnBadSample { error, skip };
enum class OnUnknownClass { error, skip };
enum class OnNonFinite { stop, skip };
enum class OnRankFailure { stop, restart };
enum class SwaAnneal { cosine, linear, none };
std::span<const std::string_view> names(Precision);
std::span<const std::string_view> names(DeviceKind);
std::span<const std::string_view> names(OnBadSample);
std::span<const std::string_view> names(OnUnknownClass);
std::span<const std::string_view> names(OnNonFinite);
std::span<const std::string_view> names(OnRankFailure);
std::span<const std::string_view> names(SwaAnneal);

/// Samples per optimizer step and how they are cut: global = micro x accumulate x devices.
struct BatchSpec {
  std::optional<std::int64_t> global;
  std::optional<std::int64_t> per_device;
  Auto<std::int64_t> micro;
  Auto<std::int64_t> accumulate;
  void fields(Fields& f);
};

/// torch's AveragedModel; with the options behind `decay`, timm's ModelEmaV3.
struct EmaSpec {
  double decay = 0.999;
  bool warmup = false;
  double warmup_gamma = 1;
  double warmup_power = 2.0 / 3;
  double min_decay = 0;
  std::int64_t update_after_step = 0;
  void fields(Fields& f);
};

/// torch.amp.GradScaler's constants, with its names.
struct LossScaleSpec {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
  void fields(Fields& f);
};

/// Stochastic weight averaging (torch.optim.swa_utils).
struct SwaSpec {
  Duration start{0.75, Duration::Unit::share};
  Duration every = epochs(1);
  std::optional<double> lr;  // null: the run's schedule continues
  SwaAnneal anneal = SwaAnneal::cosine;
  Duration over = epochs(10);
  bool update_bn = true;
  void fields(Fields& f);
};

/// What the backward pass computes again instead of keeping it.
enum class Recompute { none, blocks };
std::span<const std::string_view> names(Recompute);

struct TrainSpec {
  Duration duration = epochs(1);
  std::vector<StageSpec> stages;  // none: one stage of `duration`
  std::optional<FineTuneSpec> fine_tune;
  FreezeSpec freeze;
  Auto<Precision> precision{Precision::fp32};  // auto: as the devices compute best
  std::optional<LossScaleSpec> loss_scale;     // null: its defaults, under fp16
  Auto<bool> channels_last;                    // auto: where the devices gain by it
  Auto<bool> graph;                            // auto: where the steps can be captured
  Recompute recompute = Recompute::none;
  std::optional<Choice<Clip>> clip;
  std::optional<EmaSpec> ema;
  std::optional<SwaSpec> swa;
  bool deterministic = false;
  Auto<std::int64_t> threads;  // compute threads per rank
  void fields(Fields& f);
};

/// How many devices, or which: "auto", 2, or [0, 2].
struct Devices {
  Auto<std::int64_t> count;
  std::vector<std::int64_t> ids;  // empty: the first `count`
  static constexpr std::string_view shorthand = "count";
  static constexpr std::string_view list_shorthand = "ids";
  void fields(Fields& f);
};

struct TimeoutSpec {
  Duration start{120, Duration::Unit::seconds};
  Duration step{300, Duration::Unit::seconds};
  void fields(Fields& f);
};

/// What gradients travel as: torch's bf16_compress_hook and fp16_compress_hook.
enum class CommType { bf16, fp16 };
std::span<const std::string_view> names(CommType);

/// torch's PowerSGDState, with its meaning (Vogels et al. 2019).
struct PowerSgdSpec {
  std::int64_t rank = 1;
  Duration start = steps(1000);
  double min_compression_rate = 2;
  bool error_feedback = true;
  bool warm_start = true;
  double orthogonalization_epsilon = 0;
  static constexpr std::string_view shorthand = "rank";
  void fields(Fields& f);
};

struct CommSpec {
  std::optional<CommType> dtype;  // null: as they are
  std::optional<PowerSgdSpec> power_sgd;
  void fields(Fields& f);
};

/// Options of torch's DistributedDataParallel, with its names and meaning.
struct DdpSpec {
  Size bucket_cap_mb{25 << 20};
  bool find_unused_parameters = false;
  bool static_graph = false;
  bool gradient_as_bucket_view = true;
  bool broadcast_buffers = true;
  CommSpec comm;
  void fields(Fields& f);
};

/// In which order ranks' gradients are summed.
enum class Sums { backend, ordered };
std::span<const std::string_view> names(Sums);

/// After which of a step's micro-batches zero2 and fsdp sum gradients over ranks.
enum class ShardReduce { each, last };
std::span<const std::string_view> names(ShardReduce);

/// What lies in the host's memory rather than a device's.
enum class Offload { none, optimizer };
std::span<const std::string_view> names(Offload);
/// Bytes at most of each of the two buffers of a device that offloaded state passes through: a
/// millisecond or two of a PCIe bus. Of what optimizers look at as a whole they may need more.
constexpr std::int64_t kStateBuffer = std::int64_t{32} << 20;
/// Why there is no such thing on the CPU.
constexpr const char* kNothingToOffload =
    "this run is on the CPU, whose memory is the host's; without 'offload' it trains the same";

/// A number of ranks that only the ranks' places say.
enum class RanksOf { node };
std::span<const std::string_view> names(RanksOf);

/// Among how many ranks zero2 and fsdp share what each rank has a part of.
struct ShardSpec {
  /// auto: all; else groups of so many ranks have the same, node: as many as a node has.
  Auto<WordOr<RanksOf, std::int64_t>> group;
  ShardReduce reduce = ShardReduce::each;
  Offload offload = Offload::none;
  static constexpr std::string_view shorthand = "group";
  bool by_node() const { return group.value && group.value->word(); }
  /// Ranks of a group, of `all`, of which each node has `on_node`.
  std::int64_t ranks(std::int64_t all, std::int64_t on_node) const;
  void fields(Fields& f);
};

/// Whether ranks are bound to cores of their own.
enum class Affinity { none, cores };
std::span<const std::string_view> names(Affinity);

struct ParallelSpec {
  Mode mode = Mode::none;
  DeviceKind device = DeviceKind::automatic;
  Devices devices;
  Auto<bool> sync_bn = false;
  DdpSpec ddp;
  ShardSpec shard;
  Sums sums = Sums::backend;
  Affinity affinity = Affinity::none;
  Auto<std::int64_t> nodes;               // auto: as a launcher says, else one
  std::optional<std::string> rendezvous;  // null: as a launcher says
  TimeoutSpec timeout;
  std::int64_t restarts = 0;  // of all ranks after a failure; 0: as policy.on_rank_failure says
  void fields(Fields& f);
};

/// Of the forward pass, where weights are fp32.
enum class ForwardPrecision { fp32, bf16, fp16 };
std::span<const std::string_view> names(ForwardPrecision);

/// Test-time augmentation, with fastai's names (Learner.tta).
struct TtaSpec {
  std::int64_t n = 4;
  double beta = 0.25;
  bool use_max = false;
  static constexpr std::string_view shorthand = "n";
  void fields(Fields& f);
};

struct EvalSpec {
  Duration every = epochs(1);
  Auto<std::int64_t> batch;          // rows per evaluation batch; auto: batch.global, 64 to 256
  Auto<ForwardPrecision> precision;  // auto: train.precision
  std::optional<TtaSpec> tta;
  std::optional<SamplesSpec> samples;
  std::map<std::string, Choice<Dataset>> splits;  // whole sections (recipe/layers/splits.h)
  std::optional<Choice<Dataset>> test;
  void fields(Fields& f);
};

struct KeepBestSpec {
  std::string metric = "accuracy";
  Auto<BestMode> mode;  // auto: as the metric gets better
  void fields(Fields& f);
};

/// Whether the ranks that write a checkpoint share its files, or each has one of its own.
enum class CheckpointFiles { shared, per_rank };
std::span<const std::string_view> names(CheckpointFiles);

/// More frequent checkpoints on a disk of each node.
struct LocalCheckpointSpec {
  std::string dir;
  Duration every{5 * 60, Duration::Unit::seconds};
  void fields(Fields& f);
};

struct CheckpointSpec {
  Duration every = epochs(1);
  std::int64_t keep_last = 2;
  std::optional<KeepBestSpec> keep_best;
  Auto<CheckpointFiles> files;               // auto: as the file system needs it
  Size file_size{5'000'000'000};             // largest file of tensors
  std::optional<LocalCheckpointSpec> local;  // null: none
  void fields(Fields& f);
};

struct LogSpec {
  Duration every = steps(20);
  bool tensorboard = true;
  bool group_norms = false;
  void fields(Fields& f);
};

struct OutputSpec {
  std::string dir = "runs";
  bool report = true;
  void fields(Fields& f);
};

struct PolicySpec {
  OnBadSample on_bad_sample = OnBadSample::error;
  Share bad_samples{0.01};  // with skip: at most this share
  OnUnknownClass on_unknown_class = OnUnknownClass::error;
  OnNonFinite on_non_finite = OnNonFinite::stop;
  OnRankFailure on_rank_failure = OnRankFailure::stop;
  void fields(Fields& f);
};

struct ExpectSpec {
  std::optional<double> min;
  std::optional<double> max;
  void fields(Fields& f);
};

struct Recipe {
  std::int64_t recipe = 1;  // format version
  std::string name = "run";
  std::int64_t seed = 42;
  std::optional<std::int64_t> data_seed;  // null: seed
  std::vector<PluginSpec> plugins;
  Choice<Model> model;
  Choice<Dataset> data;
  BatchSpec batch;
  TrainSpec train;
  Auto<Choice<Loss>> loss;  // auto: what goes with the targets (recipe/load/load.h)
  Auto<std::vector<Choice<Metric>>> metrics;  // the same
  Choice<Optimizer> optimizer{"adamw"};
  Choice<Schedule> schedule{"constant"};
  std::optional<Choice<Schedule>> momentum_schedule;      // over the whole run, as the next
  std::optional<Choice<Schedule>> weight_decay_schedule;  // null: it stays as it is
  ParallelSpec parallel;
  EvalSpec eval;
  CheckpointSpec checkpoint;
  std::vector<Choice<Callback>> callbacks;
  LogSpec log;
  OutputSpec output;
  PolicySpec policy;
  std::map<std::string, ExpectSpec> expect;
  std::optional<SweepSpec> sweep;
  void fields(Fields& f);
};

/// Of the order of samples, their augmentation and mixing.
std::uint64_t seed_of_data(const Recipe& recipe);

}  // namespace ddptrain
