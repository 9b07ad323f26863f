#include "report/report.h"

#include "base/base64.h"
#include "base/files/digest.h"
#include "base/version.h"
#include "report/assets.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

/// The source expression of a content security policy for this very text.
std::string hash_source(const std::string& text) {
  const auto hex = sha256(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

std::string policy(const std::string& style, const std::string& script) {
  return "default-src 'none'; style-src " + hash_source(style) + "; script-src " +
         hash_source(script) + "; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string head(const std::string& title, const std::string& style, const std::string& script) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         policy(style, script) +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
}

std::string title_of(const ReportRuns& runs) {
  return runs.size() == 1 ? runs[0].record.name : std::to_string(runs.size()) + " runs";
}

std::string body(const ReportRuns& runs) {
  std::string navigation, content;
  for (const auto& section : sections()) {
    const auto html = section.html(runs);
    if (html.empty()) continue;
    const std::string id = section.id;
    navigation += "<a href=\"#" + id + "\">" + section.title + "</a> ";
    content +=
        "<section id=\"" + id + "\">\n<h2>" + section.title + "</h2>\n" + html + "</section>\n";
  }
  return "<header><h1>" + name_html(title_of(runs)) + "</h1>\n<nav>" + navigation +
         "</nav></header>\n<main>\n" + content + "</main>\n<footer class=\"quiet\"><p>" +
         "Written by ddptrain " + escaped(version()) +
         ". Charts by Chart.js (MIT licence).</p></footer>\n";
}

}  // namespace

std::string report_html(const std::vector<std::string>& folders) {
  ReportRuns runs;
  for (const auto& folder : folders) runs.push_back(read_report_run(folder));
  const std::string style(report_style());
  const auto script = std::string(chart_script()) + "\n" + std::string(report_script());
  return head(title_of(runs), style, script) + body(runs) + "<script>" + script +
         "</script>\n</body>\n</html>\n";
}

}  // namespace ddptrain
