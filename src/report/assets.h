// Files that are part of the program: what the report's page looks like and what draws its charts.
#pragma once

#include <string_view>

namespace ddptrain {

std::string_view report_style();
/// Chart.js, and what draws the page's charts with it.
std::string_view chart_script();
std::string_view report_script();

}  // namespace ddptrain
