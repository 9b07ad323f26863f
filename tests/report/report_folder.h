// Folders of runs and sweeps, and the report of them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/quoting.h"
#include "report/report.h"
#include "support/where.h"

namespace ddptrain {

class Report : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "report-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A run of 40 steps with two evaluations, the second of which `last` adds to.
  std::string run(const std::string& name, const nlohmann::json& last,
                  const std::string& recipe = "seed: 1\n") {
    const auto path = folder_ + "/runs/" + name;
    std::filesystem::create_directories(path + "/source");
    write(path + "/run.json", nlohmann::json{{"result", "done"},
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
    std::filesystem::create_directories(path);
    write(path + "/sweep.json", "{}");
    nlohmann::json trials = nlohmann::json::array();
    for (int i = 1; i <= 12; ++i) {
      const auto number = std::to_string(i);
      trials.push_back({{"trial", i},
                        {"values", {{"optimizer.lr", "1e-" + number}, {"model", "<m" + number}}},
                        {"value", i < 12 ? nlohmann::json(1.0 / i) : nlohmann::json(nullptr)},
                        {"deviation", nullptr},
                        {"best", 0.9},
                        {"rung", 0},
                        {"steps", 40},
                        {"state", i < 12 ? "done" : "failed"},
                        {"runs", {number}},
                        {"error", ""}});
      if (i < 12) run(name + "/" + number, {{"valid/accuracy", 1.0 / i}});
    }
    write(path + "/trials.json",
          nlohmann::json{{"method", "random"},
                         {"metric", "valid/accuracy"},
                         {"mode", "max"},
                         {"keys", {"optimizer.lr", "model"}},
                         {"importance", {{"optimizer.lr", 0.625}, {"model", nullptr}}},
                         {"trials", trials}}
              .dump());
    return path;
  }

  static std::string line(const char* event, int step, const nlohmann::json& more) {
    nlohmann::json json{{"event", event}, {"step", step}};
    if (more.is_object()) json.update(more);
    return json.dump() + "\n";
  }

  static nlohmann::json confusion(const std::vector<std::string>& classes) {
    nlohmann::json cells = nlohmann::json::array();
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

}  // namespace ddptrain
