#include "jobs/bench/bench_table.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "jobs/bench/bottleneck.h"

namespace ddptrain {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string milliseconds(double seconds) { return format_fixed(1000 * seconds, 2); }

std::string percent(double share) { return format_fixed(100 * share, 1) + " %"; }

std::string rate(double samples) { return format_fixed(samples, samples < 100 ? 1 : 0); }

std::string table_of(const Rows& rows, std::size_t columns) {
  return join(table_lines(rows, columns), "\n") + "\n";
}

void add_phase(Rows& rows, const std::string& name, double seconds, double all) {
  rows.push_back({name, milliseconds(seconds), percent(seconds / all)});
}

/// "312.4 GFLOP/s of 401.2, 78 %"
std::string reached(double work, double step, double limit, const char* unit) {
  if (limit <= 0) return "not known";
  const double now = work / step;
  return fmt::format("{} {} of {}, {}", format_fixed(now / 1e9, 1), unit,
                     format_fixed(limit / 1e9, 1), percent(now / limit));
}

std::string setting(const StepTimes& t) {
  return fmt::format("{}, global batch {}, {}, {}, {}",
                     plural(t.devices, t.on_cpu ? "CPU rank" : "device"), t.global,
                     plural(t.threads, "compute thread"), plural(t.workers, "loading thread"),
                     t.arithmetic);
}

Json run_json(const StepTimes& t, const StepTimes& first) {
  auto json = parse_json(to_json(t));
  json["phases"] = Json::object();
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phase == Phase::evaluation || phase == Phase::saving) continue;
    json["phases"][name_of(phase)] = t.of(phase);
  }
  json["phases"]["other"] = t.rest();
  json["samples_per_second"] = t.samples_per_second();
  json["speed_up"] = t.samples_per_second() / first.samples_per_second();
  const auto limit = bottleneck(t);
  json["bottleneck"] = {
      {"part", limit.part}, {"text", limit.sentence}, {"override", limit.override}};
  return json;
}

}  // namespace

std::string parts_text(const StepTimes& t, std::size_t columns) {
  const double all = t.sum();
  Rows rows{{"part of a step", "ms", "share"}};
  add_phase(rows, "waiting for the loader", t.of(Phase::loader), all);
  for (const auto phase :
       {Phase::transfer, Phase::forward, Phase::backward, Phase::communication, Phase::optimizer})
    add_phase(rows, name_of(phase), t.of(phase), all);
  add_phase(rows, "other", t.rest(), all);
  add_phase(rows, t.on_cpu ? "together" : "together, step by step", all, all);
  if (!t.on_cpu) rows.push_back({"together, as it runs", milliseconds(t.step), ""});
  rows.push_back({"the loader alone", milliseconds(t.loader_alone), ""});
  const auto limit = bottleneck(t);
  return setting(t) + "\n\n" + table_of(rows, columns) + "\n" + rate(t.samples_per_second()) +
         " samples per second\narithmetic: " + reached(t.flops, t.step, t.limits.flops, "GFLOP/s") +
         " (matrix product)\nmemory: " + reached(t.bytes, t.step, t.limits.bytes, "GB/s") +
         " (triad); operators' tensors, some of which caches hold\n\n" + limit.sentence +
         (limit.override.empty() ? "" : fmt::format(": '{}'", limit.override)) + "\n";
}

std::string speed_up_text(const std::vector<StepTimes>& all, std::size_t columns) {
  Rows rows{{"devices", "global batch", "ms/step", "samples/s", "speed-up", "efficiency"}};
  const auto& first = all.front();
  for (const auto& t : all) {
    const double speed_up = t.samples_per_second() / first.samples_per_second();
    rows.push_back({std::to_string(t.devices), std::to_string(t.global), milliseconds(t.step),
                    rate(t.samples_per_second()), format_fixed(speed_up, 2),
                    percent(speed_up * first.devices / t.devices)});
  }
  return table_of(rows, columns);
}

std::string bench_json(const std::vector<StepTimes>& all) {
  auto runs = Json::array();
  for (const auto& times : all) runs.push_back(run_json(times, all.front()));
  return json_text(Json{{"runs", runs}}, 2) + "\n";
}

}  // namespace ddptrain
