#include "cli/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "recipe/rules/rule_docs.h"

namespace ddptrain {
namespace {

constexpr std::size_t kWidth = 80;

constexpr std::string_view kPage = R"(# Problems

Written by `ddptrain help error --markdown`. `ddptrain help error ID` prints one of them.

A problem is printed as a compiler does: place, severity, the id of its kind in brackets, the option, what is wrong and what to write instead; then the line as
written, and where the file was reached through `extends`, how. All problems of all files come in one go.

```
base.yaml:3:24: error[unknown-key]: optimizer: 'lrr' is not an option of 'sgd'; did you mean 'lr'?
    3 | optimizer: {type: sgd, lrr: 0.1}
      |                        ^~~
top.yaml:1:10: note: extended from here
1 error; nothing was started
```

Lines and columns count characters from 1; `command line:2` is the second `key=value`. `ddptrain validate --format` gives the same to machines: `json` (one document, a list with an object for each problem), `jsonl` (an object a line
and problem), `github` (annotations of a workflow), `sarif` (2.1.0). Warnings are advice and leave the exit code 0; with `--strict` they are errors.
)";

/// Lines of at most `kWidth` characters, each behind two blanks.
std::string wrapped(std::string_view text) {
  std::string all, line;
  for (const auto& word : split(text, ' ')) {
    if (!line.empty() && line.size() + word.size() + 3 > kWidth) {
      all += fmt::format("  {}\n", line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return fmt::format("{}  {}\n", all, line);
}

std::vector<std::string> lines(std::string_view yaml) {
  if (yaml.ends_with('\n')) yaml.remove_suffix(1);
  return split(yaml, '\n');
}

std::string indented(std::string_view yaml) {
  std::string all;
  for (const auto& line : lines(yaml)) all += fmt::format("    {}\n", line);
  return all;
}

std::string block(std::string_view yaml) {
  return fmt::format("```yaml\n{}\n```\n", join(lines(yaml), "\n"));
}

}  // namespace

std::string error_list() {
  std::string text;
  for (const auto* rule : all_rule_docs()) {
    auto id = std::string(rule->id);
    id.resize(std::max<std::size_t>(id.size() + 1, 22), ' ');
    text += fmt::format("  {}{}\n", id, rule->summary);
  }
  return text + "\n'ddptrain help error ID' says why, with an example.\n";
}

std::string error_text(const std::string& id) {
  const auto* rule = find_rule_doc(id);
  if (!rule) {
    std::vector<std::string> ids;
    for (const auto* other : all_rule_docs()) ids.emplace_back(other->id);
    const auto near = nearest(id, ids);
    throw Error(Exit::recipe, "no kind of problem is called '{}'{}", id,
                did_you_mean(near, "; 'ddptrain help error' lists them"));
  }
  auto text = fmt::format("{}: {}\n\n{}", id, rule->summary, wrapped(rule->why));
  if (!rule->wrong.empty()) text += "\n  wrong:\n\n" + indented(rule->wrong);
  if (!rule->right.empty()) text += "\n  right:\n\n" + indented(rule->right);
  return text;
}

std::string error_page() {
  std::string page(kPage);
  for (const auto* rule : all_rule_docs()) {
    page += fmt::format("\n## {}\n\n{}\n\n{}\n", rule->id, rule->summary, rule->why);
    if (!rule->wrong.empty()) page += "\nWrong:\n\n" + block(rule->wrong);
    if (!rule->right.empty()) page += "\nRight:\n\n" + block(rule->right);
  }
  return page;
}

}  // namespace ddptrain
