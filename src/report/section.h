// A part of a report: one file, and a row in report/catalog.cpp.
#pragma once

#include <string>
#include <vector>

#include "report/report_run.h"
#include "runs/sweep_results.h"

namespace ddptrain {

using ReportRuns = std::vector<ReportRun>;  // one or more

/// `html` returns the section's content; empty where the runs have nothing for it, and the section
/// is left out.
struct Section {
  const char* id;     // of its anchor
  const char* title;  // a heading
  std::string (*html)(const ReportRuns& runs);
};

/// The same of a sweep as a whole; the sections of its best runs follow.
struct SweepSection {
  const char* id;
  const char* title;
  std::string (*html)(const SweepResults& sweep);
};

/// In the order of the page.
/// Whether a value says how many tokens or bytes a score is of ("valid/perplexity/tokens"), and is
/// no score itself.
bool is_count(const std::string& name);

const std::vector<Section>& sections();
const std::vector<SweepSection>& sweep_sections();

}  // namespace ddptrain
