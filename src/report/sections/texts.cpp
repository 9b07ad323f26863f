// What a language model wrote at each evaluation, prompt by prompt, next to its scores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/events_jsonl.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostEvaluations = 40;  // of a run: the first, the last, and some between
constexpr std::size_t kMostOfText = 4000;     // bytes
constexpr std::size_t kMostPrompts = 50;

/// One of those that a run was given, and which weights continued it.
using PromptOfWeights = std::pair<std::string, std::string>;

std::vector<PromptOfWeights> prompts_in(const ReportRun& run) {
  std::vector<PromptOfWeights> prompts;
  for (const auto& at : run.history.texts)
    for (const auto& text : at.texts) {
      PromptOfWeights each{text.prompt, text.weights};
      if (std::find(prompts.begin(), prompts.end(), each) == prompts.end())
        prompts.push_back(std::move(each));
    }
  return prompts;
}

/// Whether the evaluation `index` of `count` is shown: the first, the last, and some between.
bool is_shown(std::size_t index, std::size_t count) {
  if (count <= kMostEvaluations) return true;
  const auto stretch = [&](std::size_t i) { return i * (kMostEvaluations - 1) / (count - 1); };
  return index == 0 || stretch(index) != stretch(index - 1);
}

double score_at(const ReportRun& run, const std::string& name, double step) {
  for (const auto& curve : run.history.evaluated) {
    if (curve.name != name) continue;
    for (std::size_t i = curve.points.x.size(); i-- > 0;)
      if (curve.points.x[i] == step) return curve.points.y[i];
  }
  return NAN;
}

bool has_scores(const ReportRun& run, const std::string& name) {
  const auto& curves = run.history.evaluated;
  return std::any_of(curves.begin(), curves.end(),
                     [&](const auto& curve) { return curve.name == name; });
}

/// UTF-8 text with its line breaks; control characters are shown, not obeyed.
std::string text_html(const std::string& text) {
  std::string html;
  for (const auto& line : split(text, '\n'))
    html += (html.empty() ? "" : "\n") + escaped(shown(line, kMostOfText));
  return fmt::format("<bdi class=\"text\">{}</bdi>", html);
}

std::vector<std::string> shown_scores(const ReportRun& run, const std::string& weights) {
  std::vector<std::string> names;
  for (const auto* metric : {"loss", "perplexity"})
    if (const auto name = weights + "/" + metric; has_scores(run, name)) names.push_back(name);
  return names;
}

std::string table_of(const ReportRun& run, const PromptOfWeights& prompt) {
  const auto scores = shown_scores(run, prompt.second);
  HtmlTable table{{"step"}, {}, {true}};
  for (const auto& name : scores) {
    table.head.push_back(name_html(name));
    table.numeric.push_back(true);
  }
  table.head.emplace_back("text");
  table.numeric.push_back(false);
  const auto& history = run.history.texts;
  for (std::size_t i = 0; i < history.size(); ++i)
    for (const auto& text : history[i].texts) {
      if (!is_shown(i, history.size()) || PromptOfWeights{text.prompt, text.weights} != prompt)
        continue;
      table.rows.push_back({fmt::format("{:.0f}", history[i].step)});
      for (const auto& name : scores)
        table.rows.back().push_back(number_html(score_at(run, name, history[i].step)));
      table.rows.back().push_back(text_html(text.text));
    }
  return to_html(table);
}

std::string written_texts(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    auto prompts = prompts_in(run);
    if (prompts.size() > kMostPrompts) prompts.resize(kMostPrompts);
    for (const auto& prompt : prompts) {
      html += "<h3>";
      if (runs.size() > 1) html += name_html(run.record.name) + ": ";
      html += text_html(prompt.first) + "</h3>\n";
      if (prompt.second != "valid")
        html += fmt::format("<p class=\"note\">{}</p>\n", name_html(prompt.second));
      html += table_of(run, prompt);
    }
    if (run.history.texts.size() > kMostEvaluations)
      html += paragraph(fmt::format("The texts of all {} evaluations are in {}.",
                                    run.history.texts.size(), kEventsJsonl));
  }
  return html;
}

}  // namespace

Section texts_section() { return {"texts", "Texts", written_texts}; }

}  // namespace ddptrain
