// Sections of a report that show what other files of a run, or a sweep, have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/report.h"
#include "report_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

TEST_F(Report, SaysOfWhichWeightsItsTablesAndSamplesAre) {
  const auto path = run("w/001", confusion({"a", "b"}));
  EXPECT_THAT(checked({path}), HasSubstr("valid/confusion_matrix</bdi>: last evaluation, step 40"));
  auto result = confusion({"a", "b"});
  result.update({{"weights", "best weights"}, {"weights_step", 20}});
  write(path + "/events.jsonl",
        read_text(path + "/events.jsonl") + line("result", 40, result) +
            line("test", 40,
                 {{"weights", "best weights"}, {"weights_step", 20}, {"test/accuracy", 0.625}}));
  write(path + "/samples.json",
        Json{{"weights", "best weights"},
             {"step", 20},
             {"of", 2},
             {"classes", {"a", "b"}},
             {"rows", {{0, 0.5, 0, 1, 0.75, 0.25}, {1, 0.5, 1, 1, 0.75, 0.25}}},
             {"shown", {{"0", {{"name", "x.png"}, {"cells", Json::array()}}}}}}
            .dump());
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("valid/confusion_matrix</bdi>: best weights, step 20"));
  EXPECT_THAT(html, HasSubstr("<h2>Samples</h2>\n<p>best weights, step 20</p>"));
  EXPECT_THAT(html, HasSubstr("<td>best weights, step 20</td><td class=\"n\">0.25</td>"));
  EXPECT_THAT(html, HasSubstr("<th>test split</th><th class=\"n\">best weights, step 20</th>"));
  EXPECT_THAT(html,
              HasSubstr("<tr><td><bdi>test/accuracy</bdi></td><td class=\"n\">0.625</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<thead><tr><th>metric</th><th class=\"n\">last, step 40</th></tr>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>0.73 – 0.80</td><td class=\"n\">2</td><td "
                              "class=\"n\">0.75</td><td class=\"n\">0.5</td></tr>"))
      << "the eleventh of fifteen bins";
}

TEST_F(Report, ShowsHowManySamplesEachClassHas) {
  const auto path = run("k/001", {});
  write(path + "/data.json",
        Json{{"classes", {"cat", "<dog>"}},
             {"splits",
              {{{"name", "train"}, {"samples", 123456}, {"counts", {23456, 100000}}},
               {{"name", "valid"}, {"samples", 10}, {"counts", Json::array()}}}}}
            .dump());
  write(path + "/events.jsonl",
        line("warning", 3, {{"text", "left out: 'a.jpg': it is no image"}}));
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("<tr><td><bdi>train</bdi></td><td class=\"n\">123456</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<tr><td><bdi>cat</bdi></td><td class=\"n\">23456</td></tr>"));
  EXPECT_THAT(html,
              HasSubstr("<tr><td><bdi>&lt;dog&gt;</bdi></td><td class=\"n\">100000</td></tr>"));
  EXPECT_THAT(
      html,
      HasSubstr("<p>1 sample could not be read and was left out; the warnings name them.</p>"));
  write(path + "/data.json", "{\"classes\": 3}");
  EXPECT_THAT(checked({path}), HasSubstr("<bdi>k/001</bdi>: data.json cannot be read</p>"));
}

TEST_F(Report, ShowsWhatBecameOfTheWeightsThatTheRunStartedFrom) {
  const auto path = run("t/001", {});
  EXPECT_THAT(checked({path}), Not(HasSubstr("Weights at the start")));
  write(path + "/transfer.json", Json{{"file", "runs/<a>/001"},
                                      {"warnings", {"another tokenizer"}},
                                      {"groups",
                                       {{{"what", "words"},
                                         {"tensors", {"embedding.weight"}},
                                         {"copied", 12},
                                         {"moved", 2988},
                                         {"initialized", 1},
                                         {"how", "mean of the old rows"},
                                         {"dropped", 1},
                                         {"note", ""},
                                         {"new", {"<plot>"}},
                                         {"gone", {"story"}}}}}}
                                     .dump());
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("Weights at the start"));
  EXPECT_THAT(html,
              HasSubstr("<p>Before its first step the run took weights from runs/&lt;a&gt;/001. "));
  EXPECT_THAT(
      html,
      HasSubstr("<tr><td><bdi>words</bdi></td><td class=\"n\">12</td><td class=\"n\">2988</td><td "
                "class=\"n\">1</td><td class=\"n\">1</td><td>mean of the old rows; new: "
                "<bdi>&lt;plot&gt;</bdi>; dropped: <bdi>story</bdi></td></tr>"));
  EXPECT_THAT(html, HasSubstr("<p>another tokenizer</p>"));
  write(path + "/transfer.json", "{}");
  EXPECT_THAT(checked({path}), HasSubstr("<bdi>t/001</bdi>: transfer.json cannot be read</p>"));
}

TEST_F(Report, ShowsWhereTheTimeWent) {
  const auto path = run("l/001", {});
  write(path + "/events.jsonl",
        line("end", 40, {{"phase_seconds", {{"train", 30.0}, {"evaluation", 10.0}}}}));
  const auto html = checked({path});
  EXPECT_THAT(html,
              HasSubstr("<tr><td><bdi>the rest of training</bdi></td><td class=\"n\">30.0 s</td>"));
  EXPECT_THAT(
      html, HasSubstr("<tr><td><bdi>evaluation</bdi></td><td class=\"n\">10.0 s</td><td "
                      "class=\"n\"><svg class=\"bar\" viewBox=\"0 0 100 8\" "
                      "aria-hidden=\"true\"><rect class=\"whole\" width=\"100\" "
                      "height=\"8\"/><rect width=\"25.0\" height=\"8\"/></svg> 25.0 %</td></tr>"));
}

TEST_F(Report, OfASweepShowsItsTrialsAndTheBestRuns) {
  const auto html = checked({sweep("m/sweep-001")});
  EXPECT_THAT(html, HasSubstr("<title>m/sweep-001</title>"));
  EXPECT_THAT(html, HasSubstr("random, 12 trials, 480 optimizer steps"));
  EXPECT_THAT(html, HasSubstr("</svg> 62.5 %</td>"));
  EXPECT_THAT(
      html,
      HasSubstr("<path class=\"trial best\" d=\"M80.0 56.0L340.0 360.0L600.0 56.0\"><title>trial "
                "1: optimizer.lr 1e-1, model &lt;m1, valid/accuracy 1</title></path>"));
  EXPECT_THAT(html,
              HasSubstr("<title>trial 2: optimizer.lr 1e-2, model &lt;m2, valid/accuracy 0.5"));
  EXPECT_THAT(
      html,
      HasSubstr(
          "<p>1 trial not drawn: without a finite valid/accuracy, or behind the best 1000.</p>"));
  EXPECT_THAT(html,
              HasSubstr("<p>The sections below are of 8 runs, those of the best trials.</p>"));
  EXPECT_THAT(html, HasSubstr("<h2>Curves</h2>"));
}

TEST_F(Report, OfASweepThatHasNotEndedIsRefused) {
  const auto path = sweep("n/sweep-001");
  const auto message = [&](const std::vector<std::string>& folders) -> std::string {
    try {
      report_html(folders);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({path, path + "/1"}),
            "'" + path + "' is a sweep's folder; a report is of one sweep or of runs");
  write(path + "/trials.json", "{\"method\": 3}");
  EXPECT_EQ(message({path}), "'" + path + "/trials.json' cannot be read as the results of a sweep");
  fs::remove(path + "/trials.json");
  EXPECT_EQ(message({path}), "'" + path +
                                 "' has no trials.json yet: its sweep has not ended; the same "
                                 "'ddptrain sweep' resumes it");
}

}  // namespace
}  // namespace ddptrain
