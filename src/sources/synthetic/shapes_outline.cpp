#include "sources/synthetic/shapes_image.h"

#include <cmath>
#include <span>

#include "base/error.h"

namespace ddptrain {
namespace {

struct Point {
  double x, y;
};

// y points down, as in images.
constexpr Point arrow[] = {{-0.95, -0.22}, {0.1, -0.22}, {0.1, -0.62}, {0.95, 0},
                           {0.1, 0.62},    {0.1, 0.22},  {-0.95, 0.22}};
constexpr Point triangle[] = {{0, -0.95}, {0.8227, 0.475}, {-0.8227, 0.475}};
constexpr Point star[] = {
    {0, -1},     {0.2245, -0.3090}, {0.9511, -0.3090}, {0.3633, 0.1180},   {0.5878, 0.8090},
    {0, 0.3820}, {-0.5878, 0.8090}, {-0.3633, 0.1180}, {-0.9511, -0.3090}, {-0.2245, -0.3090}};

/// Even-odd rule.
bool in_polygon(std::span<const Point> corners, double x, double y) {
  bool inside = false;
  Point last = corners.back();
  for (const Point& corner : corners) {
    if ((corner.y > y) != (last.y > y) &&
        x < (last.x - corner.x) * (y - corner.y) / (last.y - corner.y) + corner.x)
      inside = !inside;
    last = corner;
  }
  return inside;
}

bool in_circle(double x, double y, double radius) { return x * x + y * y < radius * radius; }

bool in_cross(double x, double y) {
  const double a = std::abs(x), b = std::abs(y);
  return (a < 0.27 && b < 0.92) || (b < 0.27 && a < 0.92);
}

/// (x^2 + y^2 - 1)^3 < x^2 y^3.
bool in_heart(double x, double y) {
  x *= 1.36;
  y = -1.36 * y + 0.1;
  const double a = x * x + y * y - 1;
  return a * a * a < x * x * y * y * y;
}

bool in_hexagon(double x, double y) {
  const double a = std::abs(x), b = std::abs(y);
  return b < 0.78 && 0.8660254 * a + 0.5 * b < 0.78;
}

}  // namespace

bool inside_shape(int shape, double x, double y) {
  switch (shape) {
    case 0:
      return in_polygon(arrow, x, y);
    case 1:
      return in_circle(x, y, 0.85);
    case 2:
      return in_circle(x, y, 0.95) && !in_circle(x - 0.45, y, 0.8);
    case 3:
      return in_cross(x, y);
    case 4:
      return in_heart(x, y);
    case 5:
      return in_hexagon(x, y);
    case 6:
      return in_circle(x, y, 0.92) && !in_circle(x, y, 0.58);
    case 7:
      return std::abs(x) < 0.7 && std::abs(y) < 0.7;
    case 8:
      return in_polygon(star, x, y);
    case 9:
      return in_polygon(triangle, x, y);
  }
  DDP_CHECK(false, "no such shape");
  return false;
}

}  // namespace ddptrain
