#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/quoting.h"
#include "report/section.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class Report : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "report-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A run of 40 steps with two evaluations, the second of which `last` adds to.
  std::string run(const std::string& name, const Json& last,
                  const std::string& recipe = "seed: 1\n") {
    const auto path = folder_ + "/runs/" + name;
    fs::create_directories(path + "/source");
    write(path + "/run.json", Json{{"result", "done"},
                                   {"exit_code", 0},
                                   {"began", "2026-01-01T00:00:00Z"},
                                   {"ended", "2026-01-01T00:01:30Z"},
                                   {"device", "cpu"}}
                                  .dump());
    write(path + "/recipe.yaml", recipe);
    std::string events = line("begin", 0, {});
    for (int step = 1; step <= 40; ++step)
      events += line("step", step, {{"train/loss", 4.0 / step}, {"train/lr", 0.1}});
    events += line("evaluation", 20, {{"valid/accuracy", 0.5}});
    write(path + "/events.jsonl", events + line("evaluation", 40, last));
    return path;
  }

  /// A sweep over two options of which the second is text; the last of its trials failed.
  std::string sweep(const std::string& name) {
    const auto path = folder_ + "/runs/" + name;
    fs::create_directories(path);
    write(path + "/sweep.json", "{}");
    Json trials = Json::array();
    for (int i = 1; i <= 12; ++i) {
      const auto number = std::to_string(i);
      trials.push_back({{"trial", i},
                        {"values", {{"optimizer.lr", "1e-" + number}, {"model", "<m" + number}}},
                        {"value", i < 12 ? Json(1.0 / i) : Json(nullptr)},
                        {"deviation", nullptr},
                        {"best", 0.9},
                        {"rung", 0},
                        {"steps", 40},
                        {"state", i < 12 ? "done" : "failed"},
                        {"runs", {number}},
                        {"error", ""}});
      if (i < 12) run(name + "/" + number, {{"valid/accuracy", 1.0 / i}});
    }
    write(path + "/trials.json", Json{{"method", "random"},
                                      {"metric", "valid/accuracy"},
                                      {"mode", "max"},
                                      {"keys", {"optimizer.lr", "model"}},
                                      {"importance", {{"optimizer.lr", 0.625}, {"model", nullptr}}},
                                      {"trials", trials}}
                                     .dump());
    return path;
  }

  static std::string line(const char* event, int step, const Json& more) {
    Json json{{"event", event}, {"step", step}};
    if (more.is_object()) json.update(more);
    return json.dump() + "\n";
  }

  static Json confusion(const std::vector<std::string>& classes) {
    Json cells = Json::array();
    for (std::size_t row = 0; row < classes.size(); ++row)
      cells.push_back(std::vector<double>(classes.size(), 3));
    return {{"valid/accuracy", 0.9},
            {"tables",
             {{{"name", "valid/confusion_matrix.confusion"},
               {"rows", classes},
               {"columns", classes},
               {"cells", cells}}}}};
  }

  static void write(const std::string& path, const std::string& text) {
    write_atomically(path, text);
  }

  /// The report, which a parser takes for well-formed and closed off from everything else.
  std::string checked(const std::vector<std::string>& folders) {
    const auto html = report_html(folders);
    const auto file = folder_ + "/report.html";
    write(file, html);
    const auto command =
        shell_line({"/usr/bin/python3", test::in_source("tests/support/report_check.py"), file});
    EXPECT_EQ(std::system(command.c_str()), 0);
    return html;
  }

  std::string folder_;
};

TEST_F(Report, ShowsMetricsCurvesRecipeAndIsClosedOff) {
  const auto html = checked({run("a/001", {{"valid/accuracy", 0.75}}, "seed: 1\nname: mine\n")});
  EXPECT_THAT(html, HasSubstr("<title>a/001</title>"));
  EXPECT_THAT(html,
              HasSubstr("<tr><td><bdi>valid/accuracy</bdi></td><td class=\"n\">0.75</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<b>1 min 30 s</b><span>from start to end</span>"));
  EXPECT_THAT(
      html, HasSubstr("{&quot;name&quot;:&quot;train/loss, smoothed&quot;,&quot;points&quot;:[["));
  EXPECT_THAT(html, HasSubstr("<path class=\"l c0 smooth\" d=\"M"));
  EXPECT_THAT(html, HasSubstr("seed: 1\nname: mine\n"));
  EXPECT_LT(html.size(), 400'000u);
}

TEST_F(Report, NamesFromDataStayText) {
  const std::string script = "<script>alert(1)</script>";
  const auto html = checked({run("b/001", confusion({script, "\"quoted' & </table>", "שלום",
                                                     "a\u202eb", std::string(10'000, 'y')}))});
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("<bdi>שלום</bdi>"));
  EXPECT_THAT(html, Not(HasSubstr("\u202e")));
}

TEST_F(Report, ShowsTextsNextToTheirScores) {
  const auto path = run("t/001", {{"valid/loss", 2.5}, {"valid/perplexity", 12.25}});
  auto events = read_text(path + "/events.jsonl");
  const Json text{{"weights", "valid"},
                  {"prompt", "<b>The</b> film"},
                  {"text", " was\n<script>alert(1)</script>\u202e & \x1b[31m"},
                  {"tokens", 4},
                  {"end", "length"}};
  for (const int step : {20, 40}) events += line("texts", step, {{"texts", {text}}});
  write(path + "/events.jsonl", events);
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("<h3><bdi class=\"text\">&lt;b&gt;The&lt;/b&gt; film</bdi></h3>"));
  EXPECT_THAT(html, HasSubstr("<th class=\"n\"><bdi>valid/loss</bdi></th>"
                              "<th class=\"n\"><bdi>valid/perplexity</bdi></th><th>text</th>"));
  EXPECT_THAT(html, HasSubstr("<tr><td class=\"n\">40</td><td class=\"n\">2.5</td>"
                              "<td class=\"n\">12.25</td><td><bdi class=\"text\"> was\n"
                              "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">20</td><td class=\"n\">–</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("\u202e")));
}

TEST_F(Report, OfManyEvaluationsShowsSomeTexts) {
  const auto path = run("m/001", {{"valid/loss", 2.5}});
  auto events = read_text(path + "/events.jsonl");
  for (int step = 1; step <= 500; ++step) {
    const auto number = std::to_string(step);
    const Json text{{"weights", "valid"}, {"prompt", "a"}, {"text", "text " + number + "."}};
    events += line("texts", step, {{"texts", {text}}});
  }
  write(path + "/events.jsonl", events);
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr(">text 1.<"));
  EXPECT_THAT(html, HasSubstr(">text 500.<"));
  EXPECT_THAT(html, Not(HasSubstr(">text 2.<")));
  EXPECT_THAT(html, HasSubstr("The texts of all 500 evaluations are in events.jsonl."));
}

TEST_F(Report, TwoHundredClassesWithLongNamesFitIntoTwoMebibytes) {
  std::vector<std::string> classes;
  for (int i = 0; i < 200; ++i) classes.push_back(std::to_string(i) + std::string(10'000, 'n'));
  const auto html = checked({run("c/001", confusion(classes))});
  EXPECT_THAT(html, HasSubstr("class=\"heat dense\""));
  EXPECT_LT(html.size(), std::size_t{2} << 20);
}

TEST_F(Report, OfThousandsOfClassesOnlyThePairsAreShown) {
  const auto html = checked({run("c/002", confusion(std::vector<std::string>(600, "same")))});
  EXPECT_THAT(html, HasSubstr("Of 600 classes, only the most confused pairs are shown"));
  EXPECT_LT(html.size(), std::size_t{2} << 20);
}

TEST_F(Report, MetricsThatAreNoNumbersAreNamed) {
  const auto html = checked({run("d/001", {{"valid/accuracy", nullptr}})});
  EXPECT_THAT(html, HasSubstr("1 metric of the last evaluation is not a finite number"));
}

TEST_F(Report, OfATornFolderShowsWhatIsThere) {
  const auto path = run("e/001", {{"valid/accuracy", 0.75}});
  fs::resize_file(path + "/events.jsonl", fs::file_size(path + "/events.jsonl") - 5);
  fs::resize_file(path + "/run.json", 7);
  fs::remove(path + "/recipe.yaml");
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("<bdi>e/001</bdi>: events.jsonl: 1 line cannot be read</p>"));
  EXPECT_THAT(html, HasSubstr("<bdi>e/001</bdi>: run.json cannot be read</p>"));
  EXPECT_THAT(html, HasSubstr("<bdi>e/001</bdi>: recipe.yaml is missing</p>"));
  EXPECT_THAT(html,
              HasSubstr("<tr><td><bdi>valid/accuracy</bdi></td><td class=\"n\">0.5</td></tr>"))
      << "the first evaluation";
}

TEST_F(Report, EveryTruncationOfTheEventsIsAReport) {
  const auto path = run("f/001", confusion({"a", "b"}));
  const auto events = read_text(path + "/events.jsonl");
  for (std::size_t size = 0; size < events.size(); size += 97) {
    write(path + "/events.jsonl", events.substr(0, size));
    EXPECT_THAT(report_html({path}), HasSubstr("</html>"));
  }
}

TEST_F(Report, SaysThatNoEvaluationWasMade) {
  const auto path = run("g/001", {});
  write(path + "/events.jsonl", line("begin", 0, {}) + line("step", 1, {{"train/loss", 2}}));
  EXPECT_THAT(checked({path}), HasSubstr("<p><bdi>g/001</bdi>: no evaluation was made.</p>"));
}

TEST_F(Report, StepsThatAResumedRunMadeAgainReplaceTheEarlierOnes) {
  const auto path = run("h/001", {});
  write(path + "/events.jsonl",
        line("evaluation", 10, {{"valid/a", 1}}) + line("evaluation", 20, {{"valid/a", 7}}) +
            line("resume", 10, {}) + line("evaluation", 20, {{"valid/a", 3}}));
  const auto html = checked({path});
  EXPECT_THAT(html, HasSubstr("&quot;points&quot;:[[10.0,1.0],[20.0,3.0]]}]}\">"));
}

TEST_F(Report, OfSeveralRunsGivesMeanAndDeviationOverSeeds) {
  const auto html =
      checked({run("s/001", {{"valid/accuracy", 0.8}}, "seed: 1\noptimizer: {lr: 1}\n"),
               run("s/002", {{"valid/accuracy", 0.9}}, "seed: 2\noptimizer: {lr: 1}\n"),
               run("s/003", {{"valid/accuracy", 0.1}}, "seed: 2\noptimizer: {lr: 2}\n")});
  // statistics.mean and statistics.stdev of [0.8, 0.9]
  EXPECT_THAT(html, HasSubstr("<tr><td><bdi>s/001</bdi>, <bdi>s/002</bdi></td><td class=\"n\">1, "
                              "2</td><td class=\"n\">0.85 ± 0.070711</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<code><bdi>optimizer.lr</bdi></code>"));
}

TEST_F(Report, CountsASeedOnceAndNamesWhatItLeavesOut) {
  const std::string one = "seed: 1\n", two = "seed: 2\n";
  const auto cut = run("t/003", {{"valid/accuracy", 0.1}}, "seed: 3\n");
  write(cut + "/run.json", R"({"result": "interrupted", "exit_code": 130})");
  const auto html = checked({run("t/001", {{"valid/accuracy", 0.8}}, one),
                             run("t/002", {{"valid/accuracy", 0.9}}, two), cut,
                             run("t/004", {{"valid/accuracy", 0.9}}, two)});
  EXPECT_THAT(html, HasSubstr("<tr><td><bdi>t/001</bdi>, <bdi>t/004</bdi>; 2 runs left out: t/002 "
                              "repeats seed 2, t/003 interrupted</td><td class=\"n\">1, 2</td><td "
                              "class=\"n\">0.85 ± 0.070711</td></tr>"));
  const auto alone = checked(
      {run("t/001", {{"valid/accuracy", 0.8}}, one), run("t/002", {{"valid/accuracy", 0.8}}, one)});
  EXPECT_THAT(alone, Not(HasSubstr("±")));
}

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

TEST_F(Report, RefusesWhatIsNoRunFolder) {
  for (const auto& folder : {folder_ + "/nowhere", folder_}) {
    try {
      report_html({folder});
      ADD_FAILURE() << folder;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      EXPECT_THAT(error.what(), HasSubstr(folder));
    }
  }
}

TEST(NamesOfScores, AreNoCounts) {
  EXPECT_TRUE(is_count("valid/perplexity/tokens"));
  EXPECT_TRUE(is_count("test/bits_per_byte/bytes"));
  EXPECT_FALSE(is_count("valid/perplexity"));
  EXPECT_FALSE(is_count("valid/accuracy/tokens of a class"));
}

}  // namespace
}  // namespace ddptrain
