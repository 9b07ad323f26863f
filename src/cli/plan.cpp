// `plan RECIPE...`: what a run will be, without training: steps, batch arithmetic, rates, and what
// the network costs.
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "cli/forecast.h"
#include "cli/memory_parts.h"
#include "cli/plot.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "recipe/data_section.h"
#include "recipe/decoded_cache_spec.h"
#include "recipe/eval_splits.h"
#include "recipe/load/load.h"
#include "recipe/sweep/trials.h"
#include "schedules/rate_plan.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kPoints = 1000;

constexpr Flag kPlanMachine{"--machine", "here|a100x8|h100x8|h200x8|b200x8|gb200x72",
                            "forecast time, efficiency and memory on those devices; here: CPU "
                            "ranks, from steps that are measured"};
constexpr std::string_view kHere = "here";

void line(const std::string& what, const std::string& text) {
  print_shown("%-15s%s\n", what.c_str(), text.c_str());
}

std::int64_t whole_number(const std::string& flag, const std::string& text) {
  const auto number = parse_integer(trim(text));
  if (!number || *number < 1)
    throw Error(Exit::recipe, "{}: '{}' is not a whole number above 0", flag, text);
  return *number;
}

std::vector<std::int64_t> device_counts(const Arguments& arguments, const Recipe& recipe) {
  std::vector<std::int64_t> counts;
  if (arguments.has("--devices")) {
    for (const auto& word : split(arguments.value("--devices"), ','))
      counts.push_back(whole_number("--devices", word));
    return counts;
  }
  return {written_devices(recipe.parallel).value_or(1)};
}

/// That of --machine; empty without.
std::string machine_name(const Arguments& arguments) {
  if (!arguments.has(kPlanMachine.name)) return {};
  return closed_words(kPlanMachine.value).at(arguments.chosen(kPlanMachine));
}

/// "9469" as "9,469".
std::string grouped(std::int64_t number) {
  const auto digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string count_of(double number, const char* unit) {
  const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t i = 0;
  for (; number >= 1000 && i < 5; ++i) number /= 1000;
  return format_fixed(number, i == 0 ? 0 : 2) + (i == 0 ? " " : prefixes[i]) + unit;
}

auto loader_of(const Recipe& recipe) { return decode<DataSection>(recipe.data.node()).loader; }

class Plan {
 public:
  Plan(const Arguments& arguments, const Recipe& recipe)
      : arguments_(arguments), program_(*arguments.program), recipe_(recipe) {}

  void print() {
    const auto counts = device_counts(arguments_, recipe_);
    measure_here();
    look_at_data();
    for (const auto devices : counts) print_batch(devices);
    print_sweep();
    if (length_.total > 0) print_rates();
    print_model();
    if (!machine_name(arguments_).empty()) print_forecast(counts);
  }

 private:
  /// Before LibTorch was used in this process, since ranks are forked.
  void measure_here() {
    if (machine_name(arguments_) != kHere) return;
    if (!builds_model()) throw unbuilt();
    measured_ = program_.measured_steps(arguments_, {1, 2});
    if (measured_.empty()) throw Error(Exit::recipe, "--machine here: no step was measured");
  }

  static Error unbuilt() {
    return {Exit::recipe,
            "--machine: a forecast needs the network to be built; leave out --samples and "
            "--no-model"};
  }

  void look_at_data() {
    if (arguments_.has("--samples")) {
      size_.training = whole_number("--samples", arguments_.value("--samples"));
      line("data", grouped(size_.training) + " training samples, as --samples says");
      return;
    }
    size_ = program_.data_size(recipe_);
    line("data", fmt::format("{} training samples an epoch, {} held out", grouped(size_.training),
                             grouped(size_.valid)));
    print_tokens();
    print_splits();
    print_cache();
  }

  /// Of images, whose pixels are known when they are decoded; a text's cache is a path.
  void print_cache() const {
    const auto* cache = recipe_.data.node().find("cache");
    if (cache == nullptr || !cache->is_map()) return;
    const auto spec = decode<DecodedCacheSpec>(*cache);
    if (!spec.decoded) return;
    line("cache", "at most " + format_bytes(spec.size.bytes) + " of decoded images in '" +
                      spec.folder.value_or(cache_folder() + "/images") +
                      "', in memory as far as there is room");
  }

  void print_tokens() const {
    if (!size_.tokens || size_.tokens->read == 0) return;
    const auto& tokens = *size_.tokens;
    const auto share = [](std::int64_t part, std::int64_t all) {
      return short_number(100 * static_cast<double>(part) / static_cast<double>(all)) + " %";
    };
    line("tokens",
         fmt::format("{} an epoch, {} a sample; {} of them are learned{}", grouped(tokens.read),
                     grouped(tokens.read / size_.training), share(tokens.learned, tokens.read),
                     tokens.places == tokens.read
                         ? ""
                         : fmt::format(", blocks are {} full", share(tokens.read, tokens.places))));
  }

  /// Operations of a forward pass; of a language model's sample, those of a token too.
  std::string operations(const ModelFacts& facts) const {
    const auto flops = static_cast<double>(facts.flops);
    auto text = count_of(flops, "FLOP") + " forward, a sample";
    if (size_.tokens && size_.tokens->places > 0)
      text += fmt::format(", {} a token", count_of(flops * static_cast<double>(size_.training) /
                                                       static_cast<double>(size_.tokens->places),
                                                   "FLOP"));
    return text + "; some three times that with backward";
  }

  void print_splits() const {
    std::vector<std::string> parts;
    for (const auto& [name, samples] : size_.splits)
      parts.push_back(name + " " + grouped(samples) + (name == kTestSplit ? " at the end" : ""));
    if (!parts.empty()) line("scored too", join(parts, ", "));
  }

  std::optional<std::int64_t> per_epoch(const BatchPlan& batch) const {
    if (size_.training == 0) return {};
    if (program_.steps_per_epoch) return program_.steps_per_epoch(recipe_, batch, size_.training);
    const auto loader = loader_of(recipe_);
    return (size_.training + (loader.drop_last ? 0 : batch.global - 1)) / batch.global;
  }

  void print_batch(std::int64_t devices) {
    const auto batch = plan_batch(recipe_.batch, devices);
    line("batch", to_text(batch));
    const bool first = length_.total == 0;
    if (first) batch_ = batch;
    RunLength length;
    length.global = batch.global;
    const auto epoch = per_epoch(batch);
    if (epoch) require_full_batch(*epoch, size_.training, batch.global);
    length.per_epoch = epoch.value_or(1);
    if (builds_model()) program_.check_batches(recipe_, batch, size_.training);
    std::vector<std::string> stages;
    for (const auto& stage : stages_of(recipe_)) {
      const bool counted = epoch || stage.duration.unit == Duration::Unit::steps ||
                           stage.duration.unit == Duration::Unit::samples;
      const auto steps = counted ? in_steps(stage.duration, length) : std::nullopt;
      if (!steps)
        return line("steps", fmt::format("for {}; how many depends on {}", to_text(stage.duration),
                                         counted ? "the machine" : "the number of samples"));
      stages.push_back(grouped(*steps));
      length.total += *steps;
    }
    auto text = grouped(length.total) + " (" + grouped(length.total * batch.global) + " samples)";
    if (epoch) text += fmt::format(", {} an epoch", grouped(*epoch));
    if (stages.size() > 1) text += "; stages of " + join(stages, ", ");
    line("steps", text);
    if (first) length_ = length;
  }

  void print_sweep() const {
    const auto& sweep = recipe_.sweep;
    if (!sweep) return;
    const auto method = std::string(names(sweep->method)[static_cast<std::size_t>(sweep->method)]);
    const auto trials = trial_count(*sweep);
    line("sweep", method + ", " + plural(trials, "trial") +
                      (sweep->seeds > 1 ? " on " + plural(sweep->seeds, "seed") : "") +
                      (sweep->parallel > 1 ? fmt::format(", {} at once", sweep->parallel) : "") +
                      "; 'ddptrain sweep' trains them, and what follows is the recipe's own run");
  }

  void print_rates() const {
    const auto rates = rates_over_run(recipe_, length_, *program_.catalogs, kPoints);
    Plot lr{{}, {}, "step", "learning rate", false, 10},
        momentum{{}, {}, "step", "momentum", false, 6},
        decay{{}, {}, "step", "weight decay", false, 6};
    const auto add = [](Plot& to, std::int64_t step, std::optional<double> value) {
      if (!value) return;
      to.x.push_back(static_cast<double>(step));
      to.y.push_back(*value);
    };
    for (const auto& at : rates) {
      add(lr, at.step, at.lr);
      add(momentum, at.step, at.momentum);
      add(decay, at.step, at.weight_decay);
    }
    print_lines("\n" + plot(lr));
    for (const auto* other : {&momentum, &decay}) {
      const auto [low, high] = std::minmax_element(other->y.begin(), other->y.end());
      if (low != other->y.end() && *low < *high) print_lines("\n" + plot(*other));
    }
    print_shown("\n");
  }

  bool builds_model() const {
    return !arguments_.has("--samples") && !arguments_.has("--no-model");
  }

  void print_model() {
    if (!builds_model()) return line("model", "not built: its data were not looked at");
    const auto& facts = facts_.emplace(program_.model_facts(recipe_, batch_));
    line("model",
         fmt::format("{}, {} parameters, {} train{}", recipe_.model.type(),
                     grouped(facts.parameters),
                     facts.training == facts.parameters ? "all" : grouped(facts.training),
                     length_.total > 0 && stages_of(recipe_).size() > 1 ? " at first" : ""));
    std::vector<std::vector<std::string>> blocks{{"  block", "parameters"}};
    for (const auto& block : facts.blocks)
      blocks.push_back({"  " + shown(block.name), grouped(block.parameters)});
    for (const auto& text : table_lines(blocks, terminal_columns(STDOUT_FILENO)))
      print_lines(text + "\n");
    line("operations", operations(facts));
    print_memory(facts);
  }

  /// Devices of a node: of the machine that is asked for, else as the recipe divides them; 0: all.
  std::int64_t node() const {
    if (const auto* machine = find_machine(machine_name(arguments_))) return machine->node;
    return batch_.devices / recipe_.parallel.nodes.value.value_or(1);
  }

  MemoryParts parts_of(const ModelFacts& facts) const {
    return memory_parts(facts, recipe_.parallel.shard, batch_.micro, batch_.micro, node());
  }

  void print_memory(const ModelFacts& facts) const {
    const auto part = [](const char* name, std::int64_t bytes) {
      return bytes > 0 ? fmt::format(", {} {}", name, format_bytes(bytes)) : "";
    };
    const bool shares = has_shards(recipe_.parallel.mode) && batch_.devices > 1;
    line("memory",
         fmt::format("{} at most on {}: weights {}, gradients {}, optimizer {}{}, "
                     "activations of {} {}{}; gradients replace activations",
                     format_bytes(facts.step.most), shares ? "a device alone" : "each device",
                     format_bytes(facts.weight_bytes), format_bytes(facts.gradient_bytes),
                     format_bytes(facts.optimizer_bytes), part("average", facts.average_bytes),
                     plural(batch_.micro, "sample"), format_bytes(facts.step.activations),
                     part("logits", facts.step.logits)));
    print_offloaded(facts);
    if (has_ranks(recipe_.parallel.mode) && batch_.devices > 1)
      line("modes", fmt::format("the most on each of {} devices by 'parallel.mode': {}{}",
                                batch_.devices, memory_of_modes(parts_of(facts), batch_.devices),
                                is_chosen_by_a_run(recipe_.parallel.mode)
                                    ? "; auto takes the first that fits"
                                    : ""));
    if (const auto& other = facts.recomputed)
      line("recompute",
           fmt::format("'train.recompute: blocks' would need {} at most, activations {}",
                       format_bytes(other->most), format_bytes(other->activations)));
    print_disk(facts);
  }

  void print_offloaded(const ModelFacts& facts) const {
    const auto& parallel = recipe_.parallel;
    const auto parts = parts_of(facts);
    const auto sharding = sharding_of(name_of(parallel.mode));
    const auto bytes = [](double number) {
      return format_bytes(static_cast<std::int64_t>(number));
    };
    const auto host = host_bytes(parts, sharding, batch_.devices);
    if (host > 0)
      line("offload",
           fmt::format("of each rank {} of the optimizer's state in the host's memory; "
                       "on its device {} at most, with buffers in place of that state",
                       bytes(host), bytes(device_bytes(parts, sharding, batch_.devices))));
  }

  void print_disk(const ModelFacts& facts) const {
    const auto checkpoint = facts.weight_bytes + facts.optimizer_bytes + facts.average_bytes;
    // One more is written before the oldest goes.
    const auto kept = recipe_.checkpoint.keep_last + 1 + (recipe_.checkpoint.keep_best ? 1 : 0);
    const auto free = free_space(recipe_.output.dir);
    const bool known = free.unknown.empty();
    line("disk", fmt::format("a checkpoint {}, up to {} at once {}{}{}", format_bytes(checkpoint),
                             kept, format_bytes(kept * checkpoint),
                             known ? "; free " + format_bytes(free.bytes) : "",
                             known && free.bytes < kept * checkpoint ? ", too little" : ""));
  }

  void print_forecast(const std::vector<std::int64_t>& counts) const {
    if (!facts_) throw unbuilt();
    const auto* model = program_.catalogs->at("model")->find(recipe_.model.type());
    ForecastRun run{recipe_, *facts_, batch_, size_, model && model->has("convolves"), 0, counts};
    const auto columns = terminal_columns(STDOUT_FILENO);
    if (!measured_.empty()) return print_lines("\n" + forecast_text(run, measured_, columns));
    const auto& machine = *find_machine(machine_name(arguments_));
    run.load = program_.load_seconds(recipe_);
    print_lines("\n" + forecast_text(run, machine, columns));
    if (arguments_.has("--explain")) print_lines("\n" + explained_text(machine));
  }

  const Arguments& arguments_;
  const Program& program_;
  const Recipe& recipe_;
  DataSize size_;
  RunLength length_;  // for the first number of devices; total 0 while it is not known
  BatchPlan batch_;
  std::optional<ModelFacts> facts_;
  std::vector<MeasuredStep> measured_;  // for --machine here
};

/// Whether the number of samples alone says how many steps an epoch has.
bool counts_steps(const Recipe& recipe) { return loader_of(recipe).shard == Layout::global_batch; }

int plan(const Arguments& arguments) {
  const auto& program = *arguments.program;
  if (!arguments.has("--samples") && !program.data_size)
    return program.in_engine(arguments, "'plan' without --samples N");
  const auto words = split_words(arguments.words);
  const auto loaded = load_recipe(words.files, words.overrides, *arguments.program->catalogs);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  if (loaded.recipe.sweep && say_problems(check_trials(words.files, words.overrides, loaded,
                                                       *arguments.program->catalogs)))
    return static_cast<int>(Exit::recipe);
  if (!counts_steps(loaded.recipe) && !program.steps_per_epoch)
    return program.in_engine(arguments, "'plan' for these data");
  const auto machine = machine_name(arguments);
  if (arguments.has("--explain") && (machine.empty() || machine == kHere))
    throw Error(Exit::recipe, "--explain: prints the constants of a --machine other than 'here'");
  Plan(arguments, loaded.recipe).print();
  return 0;
}

}  // namespace

Verb plan_verb() {
  return {
      .name = "plan",
      .usage = "RECIPE... [key=value...]",
      .summary = "steps, batch arithmetic, rates, memory and disk of a run, without training",
      .flags = {{"--devices", "LIST", "the batch arithmetic for these numbers of devices: 1,2,4"},
                {"--samples", "N", "training samples of an epoch, instead of looking at the data"},
                {"--no-model", "", "leave out what needs the network to be built"},
                kPlanMachine,
                {"--explain", "", "the constants of --machine, each with its source"}},
      .min_files = 1,
      .run = plan};
}

}  // namespace ddptrain
