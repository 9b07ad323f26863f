// Pieces of SVG that drawings of a report share.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// A coordinate in pixels, with one decimal.
std::string svg_number(double value);

/// A step of a path's "d" to a point, in pixels: "M" moves there, "L" draws a line.
std::string svg_step(char command, double x, double y);

/// One line of plain text at a point; `style` names its classes in report.css.
std::string svg_text(double x, double y, std::string_view style, std::string_view text);

}  // namespace ddptrain
