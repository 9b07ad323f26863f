// Problems for machines: scripts, the lines of a pull request, code scanning.
#pragma once

#include <string>
#include <vector>

#include "config/problem.h"

namespace ddptrain {

/// One JSON document, a list with an object for each problem: file, line, column, end_column (one
/// behind the last character), severity, rule, path, message, null where one is not known;
/// `suggestion` and `extended_from` where there are any.
std::string render_json(const Problems& problems);

/// These objects, one a line.
std::string render_jsonl(const Problems& problems);

/// A workflow command of GitHub Actions a line and problem, which it shows next to the line.
std::string render_github(const Problems& problems);

/// SARIF 2.1.0 (OASIS): one run, with the documents of those rules that were broken.
std::string render_sarif(const Problems& problems, const std::vector<const RuleDoc*>& documents);

}  // namespace ddptrain
