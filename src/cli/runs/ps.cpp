// `ps`: the runs that go on, on this machine.
#include <unistd.h>

#include <filesystem>

#include "base/json.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "cli/runs/run_row.h"
#include "cli/runs/running.h"
#include "cli/verb.h"

namespace ddptrain {
namespace {

constexpr Flag kPsFormat{"--format", "text|json", "how they are written (default text)"};

/// From the current folder where it is in there, else absolute.
std::string shown_path(const std::string& folder) {
  const auto path =
      std::filesystem::path(folder).lexically_proximate(std::filesystem::current_path());
  return path.string().starts_with("..") ? folder : path.string();
}

struct Going {
  RunningRun run;
  RunRow row;
};

std::vector<Going> all_going() {
  std::vector<Going> all;
  for (const auto& run : running_runs())
    for (auto& row : read_rows({shown_path(run.folder)}, true))
      all.push_back({run, std::move(row)});
  return all;
}

void print_json(const std::vector<Going>& all) {
  Json list = Json::array();
  for (const auto& [run, row] : all)
    list.push_back({{"process", run.process},
                    {"folder", run.folder},
                    {"step", row.record.progress.step},
                    {"total_steps", row.record.progress.total_steps},
                    {"seconds_left", row.record.progress.seconds_left}});
  print_exact(lossy_json_text(list, 2) + "\n");
}

int ps(const Arguments& arguments) {
  const auto all = all_going();
  if (arguments.chosen(kPsFormat) == 1) return print_json(all), 0;
  if (all.empty()) return print_lines("no run goes on here\n"), 0;
  std::vector<std::string> head{"process"};
  const std::vector<std::string> columns{"run", "state", "step", "time", "device", "ranks"};
  head.insert(head.end(), columns.begin(), columns.end());
  std::vector<std::vector<std::string>> lines{head};
  for (const auto& [run, row] : all) {
    lines.push_back({std::to_string(run.process)});
    for (const auto& column : columns) lines.back().push_back(cell_of(row, column).text);
  }
  for (const auto& line : table_lines(lines, terminal_columns(STDOUT_FILENO)))
    print_lines(line + "\n");
  return 0;
}

}  // namespace

Verb ps_verb() {
  return {.name = "ps",
          .usage = "",
          .summary = "the runs that go on, on this machine, a line each; 'stop' ends them",
          .flags = {kPsFormat},
          .max_words = 0,
          .run = ps};
}

}  // namespace ddptrain
