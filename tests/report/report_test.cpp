#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/section.h"
#include "report_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

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
