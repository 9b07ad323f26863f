#include "report/svg.h"

#include <fmt/format.h>

#include "report/html.h"

namespace ddptrain {

std::string svg_number(double value) { return fmt::format("{:.1f}", value); }

std::string svg_step(char command, double x, double y) {
  return fmt::format("{}{:.1f} {:.1f}", command, x, y);
}

std::string svg_text(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)", x, y, style,
                     escaped(text));
}

}  // namespace ddptrain
