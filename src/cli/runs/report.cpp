// `report RUN...`: report.html of a run, of several side by side, or of a sweep.
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "cli/verb.h"
#include "report/report.h"

namespace ddptrain {
namespace {

int report(const Arguments& arguments) {
  const auto& runs = arguments.words;
  const auto file =
      arguments.value("--output", runs.size() == 1 ? runs[0] + "/report.html" : "report.html");
  if (std::filesystem::is_directory(file))
    throw Error(Exit::recipe, "--output: '{}' is a folder; name a file in it", file);
  const auto html = report_html(runs);
  write_atomically(file, html);
  log::info("wrote {} ({})", file, format_bytes(static_cast<std::int64_t>(html.size())));
  return 0;
}

}  // namespace

Verb report_verb() {
  return {
      .name = "report",
      .usage = "RUN_FOLDER... | SWEEP_FOLDER",
      .summary =
          "one HTML file that shows a run, several side by side, or a sweep; it needs no network",
      .flags = {{"--output", "FILE",
                 "write there instead of FOLDER/report.html (of several: report.html)"}},
      .min_words = 1,
      .run = report};
}

}  // namespace ddptrain
