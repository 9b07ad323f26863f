// A curve drawn with characters.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// Points whose x rise; drawn logarithmically, x must be above 0.
struct Plot {
  std::vector<double> x, y;
  std::string x_name, y_name;
  bool log_x = true;
  int rows = 16;
};

/// 64 columns within axes, each line ended; empty where there is nothing to draw.
/// Points that are not finite are left out.
std::string plot(const Plot& points);

}  // namespace ddptrain
