// The recipe as resolved, the files as written, and the command.
#include "base/text.h"
#include "recipe/run_folders.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostText = 100'000;  // bytes of a file

std::string file_html(const std::string& title, const std::string& text, bool open) {
  return std::string("<details") + (open ? " open" : "") + "><summary>" + title +
         "</summary>\n<pre>" + escaped(shown_lines(text.substr(0, kMostText))) +
         (text.size() > kMostText ? "\n..." : "") + "</pre></details>\n";
}

std::string recipe(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (run.recipe.empty() && run.command.empty()) continue;
    const bool alone = runs.size() == 1;
    if (!alone) html += "<h3>" + name_html(run.record.name) + "</h3>\n";
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
