// A curve drawn with characters.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// Points whose x are above 0 and rise; x is drawn logarithmically.
struct Plot {
  std::vector<double> x, y;
  std::string x_name, y_name;
};

/// 64 columns and 16 rows within axes, each line ended; empty where there is nothing to draw.
/// Points that are not finite are left out.
std::string plot(const Plot& points);

}  // namespace ddptrain
