#include "callbacks/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <thread>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Writers : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "writers-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Steps from + 1 .. to, with an evaluation after every second one.
  static void play(Callback& writer, std::int64_t from, std::int64_t to) {
    RunControl control;
    RunView run = at_step(from);
    writer.at(Moment::run_begin, run, control);
    for (auto step = from + 1; step <= to; ++step) {
      run = at_step(step);
      writer.at(Moment::step_end, run, control);
      if (step % 2 == 0) {
        run.metrics = {{"valid/accuracy", 0.1 * static_cast<double>(step)},
                       {"valid/accuracy/a, \"b\"", 0.5}};
        writer.at(Moment::evaluated, run, control);
      }
    }
    run.phase_seconds = {{"loader", 0.25}, {"train", 3}};
    writer.at(Moment::run_end, run, control);
  }

  static RunView at_step(std::int64_t step) {
    RunView run;
    run.step = step;
    run.total_steps = 10;
    run.per_epoch = 5;
    run.epoch = static_cast<double>(step) / 5;
    run.samples = 16 * step;
    run.train_loss = 2.0 / static_cast<double>(step + 1);
    run.lr = 0.1;
    run.gradient_norm = std::nan("");
    run.seconds = static_cast<double>(step);
    run.samples_per_second = 16;
    return run;
  }

  static Due every(std::int64_t steps) {
    return [steps](const RunView& run) { return run.step % steps == 0; };
  }

  std::string folder_;
};

TEST_F(Writers, MetricsHaveARowPerEvaluation) {
  play(*make_metrics_csv(folder_ + "/metrics.csv"), 0, 4);
  EXPECT_EQ(
      read_text(folder_ + "/metrics.csv"),
      "step,epoch,samples,train/loss,train/lr,valid/accuracy,\"valid/accuracy/a, \"\"b\"\"\"\n"
      "2,0.4,32,0.6666666666666666,0.1,0.2,0.5\n"
      "4,0.8,64,0.4,0.1,0.4,0.5\n");
}

TEST_F(Writers, MetricsOfAResumedRunEqualThoseOfAnUninterruptedOne) {
  play(*make_metrics_csv(folder_ + "/whole"), 0, 10);
  play(*make_metrics_csv(folder_ + "/cut"), 0, 7);
  std::ofstream(folder_ + "/cut", std::ios::app) << "8,1.6,12";  // by a crash
  play(*make_metrics_csv(folder_ + "/cut"), 3, 5);
  play(*make_metrics_csv(folder_ + "/cut"), 2, 10);
  EXPECT_EQ(read_text(folder_ + "/cut"), read_text(folder_ + "/whole"));
}

TEST_F(Writers, MetricsWithOtherNamesBeginANewTable) {
  const auto path = folder_ + "/metrics.csv";
  std::ofstream(path) << "step,epoch,valid/f1\n1,0.2,0.5\n";
  play(*make_metrics_csv(path), 1, 2);
  EXPECT_THAT(read_text(path), testing::StartsWith("step,epoch,samples,train/loss,train/lr,valid/"
                                                   "accuracy,\"valid/accuracy/a, \"\"b\"\"\"\n2,"));
  EXPECT_EQ(read_text(path + ".until-step-2"), "step,epoch,valid/f1\n1,0.2,0.5\n");
}

TEST_F(Writers, EventsAreAnObjectPerLine) {
  play(*make_events_jsonl(folder_ + "/events.jsonl", every(3)), 0, 4);
  std::ifstream file(folder_ + "/events.jsonl");
  std::vector<Json> events;
  for (std::string line; std::getline(file, line);) events.push_back(Json::parse(line));
  std::vector<std::string> kinds;
  for (const auto& event : events) kinds.push_back(event.at("event"));
  EXPECT_THAT(kinds, testing::ElementsAre("begin", "evaluation", "step", "evaluation", "end"));
  EXPECT_EQ(events[2].at("step"), 3);
  EXPECT_EQ(events[2].at("train/loss"), 0.5);
  EXPECT_TRUE(events[2].at("train/gradient_norm").is_null());
  EXPECT_EQ(events[4].at("phase_seconds"), (Json{{"loader", 0.25}, {"train", 3.0}}));
  EXPECT_EQ(events[3].at("valid/accuracy"), 0.4);
}

TEST_F(Writers, EventsHoldTheMemoryOfADeviceThatCountsIt) {
  RunControl control;
  auto run = at_step(1);
  {
    const auto writer = make_events_jsonl(folder_ + "/events.jsonl", every(1));
    writer->at(Moment::step_end, run, control);
    run.memory = {500, 1000};
    writer->at(Moment::step_end, run, control);
  }
  const auto text = read_text(folder_ + "/events.jsonl");
  const auto first = Json::parse(text.substr(0, text.find('\n'))),
             second = Json::parse(text.substr(text.find('\n')));
  EXPECT_FALSE(first.contains("device_memory"));
  EXPECT_EQ(second.at("device_memory"), Json({{"peak_reserved", 500}, {"total", 1000}}));
}

TEST_F(Writers, EventsHaveTheTextsOfAnEvaluationBehindIt) {
  {
    const auto writer = make_events_jsonl(folder_ + "/events.jsonl", every(1));
    RunControl control;
    auto run = at_step(2);
    run.texts = {{"valid", "The film", " was", 1, "length"}};
    writer->at(Moment::evaluated, run, control);
    run.texts.clear();
    writer->at(Moment::evaluated, run, control);
  }
  std::vector<std::string> kinds;
  std::ifstream file(folder_ + "/events.jsonl");
  for (std::string line; std::getline(file, line);) kinds.push_back(Json::parse(line).at("event"));
  EXPECT_THAT(kinds, testing::ElementsAre("evaluation", "texts", "evaluation"));
}

TEST_F(Writers, TextsAreLoggedUnderTheirPrompts) {
  const auto file = folder_ + "/log.txt";
  log::open(log::Level::normal, 0, file);
  RunControl control;
  auto run = at_step(2);
  run.texts = {{"valid", "The film", " was\n\x1b[31m", 1, "length"}};
  make_text_lines()->at(Moment::evaluated, run, control);
  log::open(log::Level::normal, 0, "");
  EXPECT_THAT(read_text(file), testing::HasSubstr("step 2  valid > The film\n"));
  EXPECT_THAT(read_text(file), testing::HasSubstr("step 2  valid | was\\n\\x1b[31m\n"));
}

TEST_F(Writers, EventsHoldWarningsWhileTheyAreWritten) {
  log::warning("before");
  const auto writer = make_events_jsonl(folder_ + "/events.jsonl", every(1));
  play(*writer, 0, 4);
  std::thread([] { log::warning("a \"quoted\" text"); }).join();
  std::ifstream file(folder_ + "/events.jsonl");
  std::vector<Json> warnings;
  for (std::string line; std::getline(file, line);)
    if (auto event = Json::parse(line); event.at("event") == "warning") warnings.push_back(event);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].at("text"), "a \"quoted\" text");
  EXPECT_EQ(warnings[0].at("step"), 4);
}

TEST_F(Writers, ThatCannotWriteNameTheFile) {
  try {
    make_events_jsonl(folder_ + "/none/events.jsonl", every(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(
        error.what(),
        ("cannot write '" + folder_ + "/none/events.jsonl': No such file or directory").c_str());
  }
}

/// A decoded Event.
struct Decoded {
  std::int64_t step = 0;
  std::string version;
  int session = 0;
  std::map<std::string, float> scalars;
};

std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

Decoded decode_event(const std::string& data) {
  Decoded event;
  protozero::pbf_reader reader(data);
  while (reader.next()) switch (reader.tag()) {
      case 2:
        event.step = reader.get_int64();
        break;
      case 3:
        event.version = reader.get_string();
        break;
      case 7: {
        auto session = reader.get_message();
        session.next(1);
        event.session = session.get_enum();
        break;
      }
      case 5: {
        auto all = reader.get_message();
        while (all.next(1)) {
          auto value = all.get_message();
          value.next(1);
          const auto tag = value.get_string();
          value.next(2);
          event.scalars[tag] = value.get_float();
        }
        break;
      }
      default:
        reader.skip();
    }
  return event;
}

// The records of the only file in a folder, with their checksums verified.
std::vector<Decoded> read_events(const std::string& folder) {
  const auto bytes = read_text(fs::directory_iterator(folder)->path());
  std::vector<Decoded> events;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::uint32_t length_crc = 0, crc = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&length_crc, bytes.data() + at + 8, 4);
    EXPECT_EQ(unmasked(length_crc), crc32c(bytes.substr(at, 8)));
    const auto data = bytes.substr(at + 12, length);
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(unmasked(crc), crc32c(data));
    events.push_back(decode_event(data));
    at += 16 + length;
  }
  return events;
}

TEST_F(Writers, TensorBoardGetsScalarsInTfRecords) {
  play(*make_tensorboard(folder_ + "/tensorboard", every(3)), 0, 4);
  const auto events = read_events(folder_ + "/tensorboard");
  ASSERT_EQ(events.size(), 4);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_FLOAT_EQ(events[1].scalars.at("valid/accuracy"), 0.2F);
  EXPECT_EQ(events[2].step, 3);
  EXPECT_FLOAT_EQ(events[2].scalars.at("train/loss"), 0.5F);
  EXPECT_FLOAT_EQ(events[2].scalars.at("train/lr"), 0.1F);
  EXPECT_FALSE(events[2].scalars.contains("train/gradient_norm"));
}

TEST_F(Writers, TensorBoardForgetsWhatAResumedRunRepeats) {
  play(*make_tensorboard(folder_ + "/tensorboard", every(3)), 7, 8);
  const auto events = read_events(folder_ + "/tensorboard");
  EXPECT_EQ(events[1].session, 1);  // START
  EXPECT_EQ(events[1].step, 8);
}

}  // namespace
}  // namespace ddptrain
