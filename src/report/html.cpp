#include "report/html.h"

#include <fmt/format.h>

#include <cmath>

#include "base/output/table_text.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostName = 120;  // bytes

bool is_numeric(const HtmlTable& table, std::size_t column) {
  return table.numeric.empty() ? column > 0 : table.numeric.at(column);
}

std::string row_html(const HtmlTable& table, const std::vector<std::string>& cells,
                     const char* tag) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    html += fmt::format("<{}{}{}</{}>", tag, is_numeric(table, i) ? " class=\"n\">" : ">", cells[i],
                        tag);
  return html + "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string name_html(std::string_view name) {
  return fmt::format("<bdi>{}</bdi>", escaped(shown(name, kMostName)));
}

std::string number_html(double value) {
  return std::isfinite(value) ? escaped(short_number(value)) : "–";
}

std::string share_html(double share) {
  const auto percent = format_fixed(100 * share, 1);
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 100 8\" aria-hidden=\"true\"><rect class=\"whole\" "
      "width=\"100\" height=\"8\"/><rect width=\"{}\" height=\"8\"/></svg> {} %",
      percent, percent);
}

std::string to_html(const HtmlTable& table) {
  std::string html = "<div class=\"scroll\"><table>\n";
  if (!table.head.empty()) html += "<thead>" + row_html(table, table.head, "th") + "</thead>\n";
  html += "<tbody>\n";
  for (const auto& row : table.rows) html += row_html(table, row, "td");
  return html + "</tbody></table></div>\n";
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", escaped(text)); }

std::string weights_html(const ScoredWeights& weights) {
  const auto text = to_text(weights);
  return text.empty() ? "–" : escaped(text);
}

std::string title_html(const NamedTable& table) {
  return name_html(table.name) + ": " + weights_html(table.weights);
}

}  // namespace ddptrain
