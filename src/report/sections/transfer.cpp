// Weights that the run started from: what was copied, moved, re-initialized and dropped.
#include <fmt/format.h>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

std::string names_html(const std::string& title, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string html = escaped(title) + ": ";
  for (std::size_t i = 0; i < names.size() && i < 8; ++i)
    html += (i == 0 ? "" : ", ") + name_html(names[i]);
  if (names.size() > 8) html += fmt::format(" and {} more", names.size() - 8);
  return html + "; ";
}

/// What the numbers of a row do not say.
std::string remarks(const TransferGroup& group) {
  auto html = group.note.empty() ? std::string() : escaped(group.note) + "; ";
  if (group.initialized > 0 && !group.how.empty()) html += escaped(group.how) + "; ";
  html += names_html("new", group.fresh_names) + names_html("dropped", group.dropped_names);
  if (html.ends_with("; ")) html.resize(html.size() - 2);
  return html;
}

std::string transfer_table(const Transfer& transfer) {
  HtmlTable table{{"rows by name", "copied", "moved", "re-initialized", "dropped", "remarks"},
                  {},
                  {false, true, true, true, true, false}};
  for (const auto& group : transfer.groups)
    table.rows.push_back({name_html(group.tensors.empty() ? "other " + group.what : group.what),
                          std::to_string(group.copied), std::to_string(group.moved),
                          std::to_string(group.initialized), std::to_string(group.dropped),
                          remarks(group)});
  return to_html(table);
}

std::string transfers(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (!run.transfer) continue;
    if (runs.size() > 1) html += fmt::format("<h3>{}</h3>\n", name_html(run.record.name));
    html += paragraph("Before its first step the run took weights from " + run.transfer->file +
                      ". Rows of embeddings and of the last layer are matched by name: copied "
                      "to the same number, moved to another one.");
    html += transfer_table(*run.transfer);
    for (const auto& warning : run.transfer->warnings) html += paragraph(warning);
  }
  return html;
}

}  // namespace

Section transfer_section() { return {"transfer", "Weights at the start", transfers}; }

}  // namespace ddptrain
