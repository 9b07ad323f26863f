// `generate RUN PROMPT...`: the model of a run continues texts, which are shown as they come.

#include <optional>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "cli/verb.h"
#include "config/decode.h"
#include "config/shape.h"
#include "jobs/generate/generation.h"
#include "jobs/run_texts.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "recipe/layers/address.h"
#include "train/catalogs.h"
#include "train/results/ending.h"
#include "train/run/rank.h"

namespace ddptrain {
namespace {

constexpr const char* kStdinPrompts = "-";

/// "--top-k" of "top_k".
std::string flag_of(std::string option) {
  for (auto& c : option)
    if (c == '_') c = '-';
  return "--" + option;
}

/// The options of sampling that flags name, checked as a recipe's options are.
SamplingOptions sampling_of(const Arguments& arguments) {
  const auto shape = shape_of<SamplingOptions>();
  auto given = Node::map();
  for (const auto& name : {"temperature", "top_k", "top_p", "min_p", "typical_p",
                           "repetition_penalty", "no_repeat_ngram"})
    if (arguments.has(flag_of(name))) given.set(name, Node::scalar(arguments.value(flag_of(name))));
  if (arguments.has("--greedy")) {
    if (given.find("temperature"))
      throw Error(Exit::recipe, "--greedy and --temperature exclude each other");
    given.set("temperature", Node::scalar("0"));
  }
  const auto problems = check(given, shape, all_catalogs());
  if (has_errors(problems))
    throw Error(Exit::recipe, "{}: {}", flag_of(problems.front().path), problems.front().message);
  return decode<SamplingOptions>(given);
}

std::optional<std::int64_t> number_of(const Arguments& arguments, std::string_view flag,
                                      std::int64_t least) {
  if (!arguments.has(flag)) return {};
  const auto text = arguments.value(flag);
  const auto number = parse_integer(text);
  if (number && *number >= least) return number;
  throw Error(Exit::recipe, "{}: '{}' is no integer from {} upwards", flag, text, least);
}

std::vector<std::string> prompts_of(const Arguments& arguments) {
  std::vector<std::string> prompts(arguments.words.begin() + 1, arguments.words.end());
  if (prompts.size() == 1 && prompts.front() == kStdinPrompts) return {};
  for (const auto& prompt : prompts)
    if (prompt == kStdinPrompts)
      throw Error(Exit::recipe, "'-' reads prompts from stdin, one a line, and goes with no other");
  return prompts;
}

GenerateJob job_of(const Arguments& arguments) {
  GenerateJob job;
  job.prompts = prompts_of(arguments);
  job.sampling = sampling_of(arguments);
  job.seed = static_cast<std::uint64_t>(number_of(arguments, "--seed", 0).value_or(0));
  job.tokens = number_of(arguments, "--tokens", 1);
  job.json = arguments.has("--json");
  job.model.tokenizer = arguments.value(kTokenizerFile.name);
  if (!arguments.has("--stop")) return job;
  if (arguments.value("--stop").empty()) throw Error(Exit::recipe, "--stop: the text is empty");
  job.stops = {arguments.value("--stop")};
  return job;
}

SavedRun open_writer(const Arguments& arguments) {
  std::vector<std::string> overrides;
  if (arguments.has("--device"))
    overrides.push_back("parallel.device=" + arguments.value("--device"));
  auto run = open_run(arguments.words.front(), without_training(std::move(overrides)),
                      arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  run.recipe.parallel.mode = Mode::none;
  run.recipe.parallel.devices = {};
  return run;
}

int generate(const Arguments& arguments) {
  auto job = job_of(arguments);
  const auto run = open_writer(arguments);
  log::info("{}: {}", typed_path(run.folder), to_text(weights_of(run)));
  Placement placement;
  with_places(run.tree, [&] { placement = place(run.recipe, {}); });
  job.model.recipe = resolved(run.recipe, placement);
  job.model.checkpoint = run.checkpoint;
  const auto one_rank = [&](const Topology& topology, const Hooks& hooks) {
    prepare_process(job.model.recipe, placement);
    return in_world(job.model.recipe, placement, topology, [&](World& world) {
      TextModel model(job.model, placement, world);
      return generate_all(job, model, hooks);
    });
  };
  return start_ranks(job.model.recipe, placement, {}, one_rank, {arguments.level, {}, &run.tree});
}

}  // namespace

Verb generate_verb() {
  return {
      .name = "generate",
      .usage = "RUN_FOLDER [PROMPT...]",
      .summary =
          "continue texts with a language model, shown as they are written; without a "
          "prompt, or with -, each line of stdin is one",
      .flags = {kCheckpoint,
                {"--tokens", "N", "at most so many of each text (default 128, or as many as fit)"},
                {"--temperature", "T",
                 "scores are divided by it (default 1): below 1 likely tokens become likelier"},
                {"--top-k", "K", "only the K likeliest tokens (default: all)"},
                {"--top-p", "P",
                 "only the likeliest tokens, of probability P together (default 1)"},
                {"--min-p", "P",
                 "only tokens of at least P times the largest probability (default 0)"},
                {"--typical-p", "P",
                 "only tokens of nearly expected surprise, of probability P together (default 1)"},
                {"--repetition-penalty", "R",
                 "scores of tokens that have occurred are divided by it (default 1)"},
                {"--no-repeat-ngram", "N", "no run of N tokens occurs twice (default: any may)"},
                {"--greedy", "", "always the likeliest token"},
                {"--seed", "S", "another number gives other texts (default 0)"},
                {"--stop", "TEXT", "a text ends before this one"},
                {"--json", "", "a line for each text: prompt, text, tokens, why it ended"},
                kTokenizerFile,
                {"--device", "DEVICE", "where to compute (default: as the run did)"}},
      .min_words = 1,
      .run = generate};
}

}  // namespace ddptrain
