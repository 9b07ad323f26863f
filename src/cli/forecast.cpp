#include "cli/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "cli/memory_parts.h"
#include "forecast/limit.h"
#include "forecast/memory.h"
#include "forecast/step.h"

namespace ddptrain {
namespace {

/// A device that computes less than this in a step: starting kernels counts.
constexpr double kShortStep = 0.01;
/// A step of ranks that share cores: the scheduler's time slices count.
constexpr double kShortSharedStep = 0.1;
constexpr std::int64_t kMostForecastDevices = 1 << 16;

/// A row of the table.
struct ForecastRow {
  BatchPlan batch;
  double seconds = 0, compute = 0;
  double network = 0, loader = 0;  // shares
  double bytes = 0;
  Mode mode = Mode::none;

  double samples_per_second() const { return static_cast<double>(batch.global) / seconds; }
};

std::string share_text(double share) { return format_fixed(100 * share, 1) + " %"; }

std::string rate_text(double per_second) {
  return format_fixed(per_second, per_second < 100 ? 1 : 0);
}

double tokens_of_sample(const DataSize& data) {
  if (!data.tokens || data.training == 0) return 0;
  return static_cast<double>(data.tokens->read) / static_cast<double>(data.training);
}

std::string arithmetic_of(const Recipe& recipe) {
  const auto precision = recipe.train.precision.value.value_or(Precision::bf16);
  return std::string(names(precision)[static_cast<std::size_t>(precision)]);
}

/// On nodes of `node` devices; 0: all on one.
MemoryParts parts_of(const ForecastRun& run, const BatchPlan& batch, std::int64_t node) {
  return memory_parts(run.facts, run.recipe.parallel.shard, run.planned.micro, batch.micro, node);
}

double bytes_of_device(const ForecastRun& run, const BatchPlan& batch, Mode mode,
                       std::int64_t node) {
  return device_bytes(parts_of(run, batch, node), sharding_of(name_of(mode)), batch.devices);
}

Work work_of(const ForecastRun& run, const BatchPlan& batch, Mode mode, std::int64_t node) {
  const auto& facts = run.facts;
  const auto& parallel = run.recipe.parallel;
  const auto gradients = static_cast<double>(facts.gradient_bytes);
  const double wire = gradients / (parallel.ddp.comm.dtype ? 2 : 1);
  Work work;
  work.micro = static_cast<double>(batch.micro);
  work.accumulate = static_cast<double>(batch.accumulate);
  work.flops = static_cast<double>(facts.flops);
  work.activation = static_cast<double>(facts.activation_bytes);
  work.recomputes = run.recipe.train.recompute == Recompute::blocks;
  work.convolves = run.convolves;
  work.arithmetic = arithmetic_of(run.recipe);
  work.sharding = sharding_of(name_of(mode));
  work.pieces =
      work.sharding >= Sharding::gradients
          ? unit_pieces(wire, std::max<std::int64_t>(1, std::ssize(facts.blocks)))
          : bucket_pieces(wire, static_cast<double>(parallel.ddp.bucket_cap_mb.bytes), 1 << 20);
  work.weight_bytes = gradients / (work.arithmetic == "bf16" || work.arithmetic == "fp16" ? 2 : 1);
  work.update_bytes = 3 * gradients + 2 * static_cast<double>(facts.optimizer_bytes);
  work.group = parallel.shard.ranks(0, node);
  work.load = run.load;
  return work;
}

ForecastRow row_of(const ForecastRun& run, const KnownMachine& machine, const BatchPlan& batch) {
  auto mode = run.recipe.parallel.mode;
  if (is_chosen_by_a_run(mode))
    mode = mode_with_room(parts_of(run, batch, machine.node), batch.devices, machine.memory.value);
  const auto work = work_of(run, batch, mode, machine.node);
  const auto step = forecast_step(machine, work, batch.devices, sample_seconds(machine, work));
  return {batch,
          step.seconds,
          step.compute,
          step.share(step.network + step.jitter),
          step.share(step.loader),
          bytes_of_device(run, batch, mode, machine.node),
          mode};
}

ForecastRow row_of(const ForecastRun& run, const std::vector<MeasuredStep>& measured,
                   const BatchPlan& batch) {
  const auto cores = measured.front().cores;
  const auto threads =
      run.recipe.train.threads.value.value_or(std::max<std::int64_t>(1, cores / batch.devices));
  const auto step =
      forecast_ranks(measured, batch.devices, threads, static_cast<double>(batch.global));
  const double seconds = step.seconds();
  return {batch,
          seconds,
          step.passes + step.update,
          step.communication / seconds,
          step.loader / seconds,
          bytes_of_device(run, batch, run.recipe.parallel.mode, 0),
          run.recipe.parallel.mode};
}

std::string table_text(const ForecastRun& run, const std::vector<ForecastRow>& rows,
                       std::size_t columns) {
  const double tokens = tokens_of_sample(run.data);
  std::vector<std::vector<std::string>> cells{{"devices", "global batch", "ms/step", "samples/s",
                                               "efficiency", "network", "loader", "memory/device",
                                               "epoch"}};
  if (tokens > 0) cells[0].insert(cells[0].begin() + 4, "tokens/s");
  const bool modes = is_chosen_by_a_run(run.recipe.parallel.mode);
  if (modes) cells[0].insert(cells[0].begin() + 1, "mode");
  const auto& first =
      *std::ranges::min_element(rows, {}, [](const ForecastRow& row) { return row.batch.devices; });
  const auto per_device = [](const ForecastRow& row) {
    return row.samples_per_second() / static_cast<double>(row.batch.devices);
  };
  for (const auto& row : rows) {
    std::vector<std::string> line{
        std::to_string(row.batch.devices),
        std::to_string(row.batch.global),
        format_fixed(1000 * row.seconds, 2),
        rate_text(row.samples_per_second()),
        share_text(per_device(row) / per_device(first)),
        share_text(row.network),
        share_text(row.loader),
        format_bytes(static_cast<std::int64_t>(row.bytes)),
        run.data.training > 0
            ? format_seconds(static_cast<double>(run.data.training) / row.samples_per_second())
            : "-"};
    if (tokens > 0) line.insert(line.begin() + 4, rate_text(tokens * row.samples_per_second()));
    if (modes) line.emplace(line.begin() + 1, name_of(row.mode));
    cells.push_back(std::move(line));
  }
  return join(table_lines(cells, columns), "\n") + "\n";
}

/// From the fewest devices on, as far as the batch can be divided.
template <class RowOf>
std::vector<DeviceRate> rates(const ForecastRun& run, RowOf row_of_batch) {
  std::vector<DeviceRate> found;
  for (auto devices = std::ranges::min(run.counts); devices <= kMostForecastDevices; devices *= 2) {
    try {
      const auto row = row_of_batch(plan_batch(run.recipe.batch, devices));
      found.push_back({devices, row.samples_per_second()});
    } catch (const Error&) {  // a batch that so many devices cannot share
      break;
    }
  }
  return found;
}

std::string checkpoint_text(const ForecastRun& run) {
  const auto parts = parts_of(run, run.planned, 0);
  return fmt::format(
      "a checkpoint of {} takes at least {} to write, by one process",
      format_bytes(static_cast<std::int64_t>(parts.weights + parts.optimizer + parts.average)),
      format_seconds(checkpoint_seconds(parts)));
}

/// What the numbers leave out, for these rows.
std::vector<std::string> notes_of(const ForecastRun& run, const std::vector<ForecastRow>& rows) {
  std::vector<std::string> notes;
  std::set<std::int64_t> samples;
  for (const auto& row : rows) samples.insert(row.batch.micro * row.batch.accumulate);
  if (samples.size() > 1)
    notes.push_back(fmt::format(
        "a device has from {} to {} samples a step: what fewer samples cost is outside the model; "
        "batch.per_device keeps them",
        *samples.begin(), *samples.rbegin()));
  if (run.recipe.parallel.sync_bn.value.value_or(false))
    notes.emplace_back("the collectives of parallel.sync_bn are outside the model");
  if (run.recipe.parallel.ddp.comm.power_sgd)
    notes.emplace_back("parallel.ddp.comm.power_sgd is outside the model: gradients count in full");
  return notes;
}

/// "8 and 64 devices", of the rows that are so; empty if none is.
template <class Is>
std::string devices_text(const std::vector<ForecastRow>& rows, Is is) {
  std::vector<std::string> counts;
  for (const auto& row : rows)
    if (is(row)) counts.push_back(std::to_string(row.batch.devices));
  if (counts.empty()) return {};
  const auto last = counts.back();
  counts.pop_back();
  return (counts.empty() ? "" : join(counts, ", ") + " and ") + last +
         (last == "1" ? " device" : " devices");
}

void add_notes_of_machine(std::vector<std::string>& notes, const std::vector<ForecastRow>& rows,
                          const KnownMachine& machine) {
  const auto large =
      devices_text(rows, [&](const ForecastRow& row) { return row.bytes > machine.memory.value; });
  if (!large.empty())
    notes.push_back(large + ": more memory than the " + to_text(machine.memory) + " of one");
  const auto brief =
      devices_text(rows, [](const ForecastRow& row) { return row.compute < kShortStep; });
  if (!brief.empty())
    notes.push_back(
        fmt::format("{}: one computes less than {:.0f} ms a step; what it takes to start "
                    "kernels is outside the model",
                    brief, 1000 * kShortStep));
}

void add_notes_of_ranks(std::vector<std::string>& notes, const std::vector<ForecastRow>& rows,
                        const MeasuredStep& measured) {
  const auto brief = devices_text(rows, [&](const ForecastRow& row) {
    return row.batch.devices > std::max(measured.cores, measured.devices) &&
           row.seconds < kShortSharedStep;
  });
  if (!brief.empty())
    notes.push_back(
        fmt::format("{}: a step takes less than {:.0f} ms; waiting for ranks that share "
                    "a core is outside the model",
                    brief, 1000 * kShortSharedStep));
}

template <class RowOf>
std::vector<ForecastRow> rows_of(const ForecastRun& run, RowOf row_of_batch) {
  std::vector<ForecastRow> rows;
  for (const auto devices : run.counts)
    rows.push_back(row_of_batch(plan_batch(run.recipe.batch, devices)));
  return rows;
}

std::string with_notes(std::string text, const std::vector<std::string>& notes) {
  for (const auto& note : notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace

std::string forecast_text(const ForecastRun& run, const KnownMachine& machine,
                          std::size_t columns) {
  const auto row = [&](const BatchPlan& batch) { return row_of(run, machine, batch); };
  const auto rows = rows_of(run, row);
  auto notes = notes_of(run, rows);
  add_notes_of_machine(notes, rows, machine);
  return with_notes(
      fmt::format("forecast for {} ({}), {}, from operations and published rates\n\n{}\n{}\n{}\n",
                  machine.name, machine.title, arithmetic_of(run.recipe),
                  table_text(run, rows, columns), limit_sentence(rates(run, row)),
                  checkpoint_text(run)),
      notes);
}

std::string forecast_text(const ForecastRun& run, const std::vector<MeasuredStep>& measured,
                          std::size_t columns) {
  const auto row = [&](const BatchPlan& batch) { return row_of(run, measured, batch); };
  const auto rows = rows_of(run, row);
  auto notes = notes_of(run, rows);
  add_notes_of_ranks(notes, rows, measured.back());
  const auto& most = measured.back();
  return with_notes(
      fmt::format("forecast for CPU ranks of this machine with {}, from steps measured on 1 and {} "
                  "of them\n\n{}\n{}\n{}\n",
                  plural(most.cores, "core"), most.devices, table_text(run, rows, columns),
                  limit_sentence(rates(run, row)), checkpoint_text(run)),
      notes);
}

std::string explained_text(const KnownMachine& machine) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& [name, constant] : constants_of(machine))
    cells.push_back({std::string(name), to_text(constant), std::string(constant.source)});
  return join(aligned(cells, Flush::left), "\n") + "\n";
}

}  // namespace ddptrain
