// The recipe as resolved, the files as written, and the command.
#include <fmt/format.h>

#include "base/text.h"
#include "recipe/run_folders.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostText = 100'000;  // bytes of a file

std::string file_html(const std::string& title, const std::string& text, bool open) {
  return fmt::format(
      "<details{}><summary>{}</summary>\n"
      "<pre>{}{}</pre></details>\n",
      open ? " open" : "", title, escaped(shown_lines(text.substr(0, kMostText))),
      text.size() > kMostText ? "\n..." : "");
}

std::string recipe(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (run.recipe.empty() && run.command.empty()) continue;
    const bool alone = runs.size() == 1;
    if (!alone) html += fmt::format("<h3>{}</h3>\n", name_html(run.record.name));
    if (!run.command.empty()) html += file_html("command", run.command, alone);
    for (const auto& [name, text] : run.sources)
      html += file_html(name_html(name) + ", as written", text, false);
    if (!run.recipe.empty())
      html += file_html(
          std::string(kRecipeYaml) + ", complete: what was <code>auto</code> is in a comment",
          run.recipe, alone);
  }
  return html;
}

}  // namespace

Section recipe_section() { return {"recipe", "Recipe", recipe}; }

}  // namespace ddptrain
