// `run --profile` and `run --trace memory`: traces that a viewer can open, of a run whose numbers
// are the same to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

using Json = nlohmann::json;

Ended run_small(const Folder& folder, const std::vector<std::string>& more) {
  write(folder / "small.yaml", small_recipe());
  std::vector<std::string> words{"run", "small.yaml", kSmallModel};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, folder.path(), environment());
}

std::string in_run(const Folder& folder, const std::string& name) {
  return folder / ("runs/small/001/" + name);
}

std::string results_of(const Folder& folder) {
  return read(in_run(folder, "metrics.csv")) +
         read(in_run(folder, "checkpoints/step-00000008/model.safetensors")) +
         read(in_run(folder, "checkpoints/step-00000008/optimizer.safetensors"));
}

struct Span {
  std::string name;
  double begin = 0, end = 0;
};

/// Events of a thread begin and end within the one around them, as viewers draw them; times are in
/// microseconds.
void expect_nested_per_thread(const Json& trace) {
  std::map<std::string, std::vector<Span>> threads;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.value("ph", "") != "X") continue;
    const double begin = event.at("ts");
    threads[event.at("pid").dump() + "/" + event.at("tid").dump()].push_back(
        {event.at("name"), begin, begin + event.at("dur").get<double>()});
  }
  EXPECT_FALSE(threads.empty());
  constexpr double rounding = 0.002;  // three places are written
  for (auto& [thread, spans] : threads) {
    std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
      return std::pair(a.begin, -a.end) < std::pair(b.begin, -b.end);
    });
    std::vector<const Span*> around;
    for (const auto& span : spans) {
      while (!around.empty() && around.back()->end <= span.begin + rounding) around.pop_back();
      if (!around.empty()) {
        EXPECT_LE(span.end, around.back()->end + rounding)
            << thread << " " << span.name << " in " << around.back()->name;
      }
      around.push_back(&span);
    }
  }
}

/// The name that a trace gives a process or a thread.
std::string named(const Json& trace, const std::string& kind) {
  for (const auto& event : trace.at("traceEvents"))
    if (event.value("ph", "") == "M" && event.at("name") == kind)
      return event.at("args").at("name");
  return {};
}

/// The phases of a trace, by name.
std::map<std::string, std::vector<Span>> phases_in(const Json& trace) {
  std::map<std::string, std::vector<Span>> phases;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "user_annotation") continue;
    const std::string name = event.at("name");
    const double begin = event.at("ts");
    phases[name].push_back({name, begin, begin + event.at("dur").get<double>()});
  }
  return phases;
}

void expect_nested_or_apart(const std::vector<Span>& spans) {
  for (const auto& a : spans)
    for (const auto& b : spans) {
      if (b.begin < a.begin || &a == &b) continue;
      EXPECT_TRUE(b.begin >= a.end || b.end <= a.end) << a.name << " and " << b.name;
    }
}

TEST(Profile, HasEachPhaseOnceAStepAndTheOperators) {
  const Folder folder;
  const auto ended = run_small(folder, {"--profile", "3"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(list(in_run(folder, "profile")), std::vector<std::string>{"trace_rank0.json"});
  EXPECT_THAT(ended.err, testing::HasSubstr("/runs/small/001/profile/trace_rank0.json (open it in "
                                            "https://ui.perfetto.dev or chrome://tracing)\n"));
  const auto trace = Json::parse(read(in_run(folder, "profile/trace_rank0.json")));
  expect_nested_per_thread(trace);
  EXPECT_NE(named(trace, "process_name"), "");
  EXPECT_NE(named(trace, "thread_name"), "");
  const auto phases = phases_in(trace);
  std::vector<Span> all;
  for (const std::string name : {"loader", "transfer", "forward", "backward", "optimizer"}) {
    ASSERT_TRUE(phases.contains(name)) << name;
    EXPECT_EQ(phases.at(name).size(), 3U) << name;
    for (const auto& span : phases.at(name)) {
      EXPECT_GT(span.end, span.begin) << name;
      all.push_back(span);
    }
  }
  expect_nested_or_apart(all);
  int operators = 0;
  const auto& forward = phases.at("forward").front();
  for (const auto& event : trace.at("traceEvents"))
    if (event.value("name", "") == "aten::convolution" && event.at("ts") >= forward.begin &&
        event.at("ts") <= forward.end)
      ++operators;
  EXPECT_EQ(operators, 2);  // mnist_net has two
  EXPECT_THAT(ended.err, testing::HasSubstr("aten::"));
}

TEST(Profile, ChangesNoNumber) {
  const Folder plain, profiled;
  ASSERT_EQ(run_small(plain, {}).code, 0);
  const auto ended = run_small(profiled, {"--profile", "2", "--trace", "memory"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(results_of(profiled), results_of(plain));
  EXPECT_FALSE(exists(in_run(plain, "profile")));
}

TEST(Profile, IsAFileOfEachRankWithItsCollectives) {
  const Folder folder;
  const auto ended =
      run_small(folder, {"--profile", "2", "parallel.mode=ddp", "parallel.devices=2"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const std::string rank : {"0", "1"}) {
    const auto trace = Json::parse(read(in_run(folder, "profile/trace_rank" + rank + ".json")));
    const auto phases = phases_in(trace);
    ASSERT_TRUE(phases.contains("communication"));
    EXPECT_GE(phases.at("communication").size(), 2U);
    EXPECT_THAT(trace.dump(), testing::HasSubstr("shared_memory:all_reduce"));
    EXPECT_EQ(std::to_string(trace.at("distributedInfo").at("rank").get<int>()), rank);
    EXPECT_EQ(trace.at("distributedInfo").at("world_size"), 2);
  }
}

TEST(Profile, RecordsAResumedRunApart) {
  const Folder folder;
  ASSERT_EQ(run_small(folder, {"--profile", "2"}).code, 0);
  const auto ended = run({"resume", "runs/small/001", "train.duration=12 steps", "--profile", "2"},
                         folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(list(in_run(folder, "profile")),
            (std::vector<std::string>{"trace_rank0.from-step-8.json", "trace_rank0.json"}));
}

TEST(Profile, RecordsARunOnADevice) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended = Program({"run", "small.yaml", kSmallModel, "parallel.device=simulated",
                              "--profile", "2", "--trace", "memory"},
                             folder.path(), simulating())
                         .wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto phases = phases_in(Json::parse(read(in_run(folder, "profile/trace_rank0.json"))));
  EXPECT_TRUE(phases.contains("loader"));
  EXPECT_TRUE(exists(in_run(folder, "profile/memory_rank0.csv")));
}

TEST(Profile, RefusesWhatIsNoNumberOfSteps) {
  const Folder folder;
  for (const std::string steps : {"0", "-1", "many", "10000000"}) {
    const auto ended = run_small(folder, {"--profile", steps});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr("error: --profile: '" + steps +
                                              "' is not a number of steps from 1 to 10000\n"));
  }
  const auto ended = run_small(folder, {"--trace", "time"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(TraceOfMemory, HasARowForEachPhaseAndACounter) {
  const Folder folder;
  const auto ended = run_small(folder, {"--trace", "memory"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream rows(read(in_run(folder, "profile/memory_rank0.csv")));
  std::string line;
  std::getline(rows, line);
  EXPECT_EQ(line, "time,step,phase,allocated,peak");
  std::map<std::string, int> phases;
  double last = 0;
  while (std::getline(rows, line)) {
    double time = 0;
    long step = 0, allocated = 0, peak = 0;
    char phase[32] = "";
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%ld,%31[a-z],%ld,%ld", &time, &step, phase, &allocated,
                          &peak),
              5)
        << line;
    EXPECT_GE(time, last);
    EXPECT_GE(peak, allocated) << line;
    EXPECT_GT(allocated, 0) << line;
    last = time;
    ++phases[phase];
  }
  for (const std::string name : {"loader", "transfer", "forward", "backward", "optimizer"})
    EXPECT_EQ(phases[name], 8) << name;
  EXPECT_GT(phases["evaluation"], 0);
  EXPECT_GT(phases["saving"], 0);
  const auto trace = Json::parse(read(in_run(folder, "profile/memory_rank0.json")));
  expect_nested_per_thread(trace);
  EXPECT_EQ(named(trace, "process_name"), "ddptrain rank 0");
  EXPECT_EQ(named(trace, "thread_name"), "phases");
  int counters = 0;
  for (const auto& event : trace.at("traceEvents")) counters += event.at("ph") == "C";
  EXPECT_GE(counters, 40);
}

}  // namespace
}  // namespace ddptrain::end_to_end
