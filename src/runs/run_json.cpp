#include "runs/run_json.h"

#include "base/error.h"
#include "base/files/files.h"
#include "recipe/run_folders.h"
#include "runs/json_fields.h"

namespace ddptrain {
namespace {

constexpr const char* kNotKnown = "";  // when a run began, in files of before

}  // namespace

template <class Fields>
void fields(RunOrigin& origin, Fields& f) {
  auto& [run, checkpoint] = origin;
  f("run", run);
  f("checkpoint", checkpoint);
}

template <class Fields>
void fields(BestEvaluation& best, Fields& f) {
  auto& [metric, mode, step, values] = best;
  auto way = std::string(names(mode)[static_cast<std::size_t>(mode)]);
  f("metric", metric);
  f("mode", way);
  f("step", step);
  f("metrics", values);
  mode =
      way == names(mode)[static_cast<std::size_t>(BestMode::min)] ? BestMode::min : BestMode::max;
}

template <class Fields>
void fields(EarlierStart& earlier, Fields& f) {
  auto& [started, began, ended, seconds, result, exit_code, command, host, ranks, whole_seconds] =
      earlier;
  f.nullable("started", started);
  f.nullable("began", began);
  f.nullable("ended", ended);
  f.nullable("seconds", seconds);
  f.nullable("result", result);
  f.nullable("exit_code", exit_code);
  f.nullable("command", command);
  f.nullable("host", host);
  f.nullable("ranks", ranks);
  f.unless_empty("whole_seconds", whole_seconds);
}

template <class Fields>
void fields(RunJson& file, Fields& f) {
  auto& [format, name, seed, recipe_digest, data_digest, launch, started, began, ended, seconds,
         result, exit_code, command, folder, ddptrain, torch, compiler, host, device, ranks,
         replicas, threads, transport, metrics, evaluated, best, origin, attempts] = file;
  f("format", format);
  f.nullable("name", name);
  f.nullable("seed", seed);
  f.nullable("recipe_digest", recipe_digest);
  f.nullable("data_digest", data_digest);
  f.nullable("launch", launch);
  f.nullable("started", started);
  f.nullable("began", began);
  f.nullable("ended", ended);
  f.nullable("seconds", seconds);
  f.nullable("result", result);
  f.nullable("exit_code", exit_code);
  f.nullable("command", command);
  f.nullable("folder", folder);
  f.nullable("ddptrain", ddptrain);
  f.nullable("torch", torch);
  f.nullable("compiler", compiler);
  f.nullable("host", host);
  f.nullable("device", device);
  f.nullable("ranks", ranks);
  f.nullable("replicas", replicas);
  f.nullable("threads", threads);
  f.nullable("transport", transport);
  f("metrics", metrics);
  f.nullable("evaluated", evaluated);
  f.nullable("best", best);
  f("origin", origin);
  f("attempts", attempts);
}

bool has_begun(const RunJson& run) { return run.began.has_value(); }

std::optional<RunJson> run_json_of(const std::string& text) {
  const auto json = json_or_null(text);
  if (!json.is_object()) return {};
  RunJson run;
  run.began = kNotKnown;
  FromJson members(json, FromJson::Keys::any);
  fields(run, members);
  if (run.best && run.best->metric.empty()) run.best.reset();
  return run;
}

RunJson read_run_json(const std::string& folder) {
  const auto file = folder + "/" + kRunJson;
  auto run = run_json_of(read_text(file));
  if (!run) throw Error(Exit::data, "'{}' is not the record of a run", file);
  return std::move(*run);
}

void write_run_json(const RunJson& run, const std::string& folder) {
  write_atomically(folder + "/" + kRunJson, lossy_json_text(ToJson::value(run), 2) + "\n");
}

}  // namespace ddptrain
