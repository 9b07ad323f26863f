#include "sources/synthetic/shapes_image.h"

#include <algorithm>
#include <cmath>

namespace ddptrain {
namespace {

struct Color {
  std::array<double, 3> value{};
};

Color blend(const Color& a, const Color& b, double share_of_b) {
  Color mixed;
  for (int c = 0; c < 3; ++c) mixed.value[c] = a.value[c] + (b.value[c] - a.value[c]) * share_of_b;
  return mixed;
}

Color any_color(Stream& random) {
  Color color;
  for (double& value : color.value) value = random.uniform(20, 235);
  return color;
}

double brightness(const Color& c) {
  return 0.3 * c.value[0] + 0.59 * c.value[1] + 0.11 * c.value[2];
}

/// A color that differs visibly from another one.
Color contrasting(const Color& other, Stream& random) {
  for (int tries = 0; tries < 100; ++tries) {
    const Color color = any_color(random);
    if (std::abs(brightness(color) - brightness(other)) > 60) return color;
  }
  const double far = brightness(other) > 127 ? 20 : 235;
  return {{far, far, far}};
}

/// A direction without trigonometry: a point of the unit disc, put on its rim.
struct Direction {
  double x = 1, y = 0;
};

Direction any_direction(Stream& random) {
  for (;;) {
    const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    const double square = x * x + y * y;
    if (square > 1 || square < 1e-4) continue;
    const double length = std::sqrt(square);
    return {x / length, y / length};
  }
}

class Canvas {
 public:
  explicit Canvas(int size) : size_(size), pixels_(std::size_t(size) * size) {}
  int size() const { return size_; }
  Color& at(int x, int y) { return pixels_[std::size_t(y) * size_ + x]; }

  /// Blends `color` over every pixel by `cover(x, y)`, 0 .. 1, within a square around a center.
  template <class Cover, class Paint>
  void paint(double center_x, double center_y, double reach, Cover cover, Paint color) {
    const int left = std::max(0, int(center_x - reach) - 1);
    const int right = std::min(size_ - 1, int(center_x + reach) + 1);
    const int top = std::max(0, int(center_y - reach) - 1);
    const int bottom = std::min(size_ - 1, int(center_y + reach) + 1);
    for (int y = top; y <= bottom; ++y)
      for (int x = left; x <= right; ++x)
        if (const double share = cover(x, y); share > 0)
          at(x, y) = blend(at(x, y), color(x, y), share);
  }

 private:
  int size_;
  std::vector<Color> pixels_;
};

/// How much of a pixel lies inside, from 3 x 3 points.
template <class Inside>
double coverage(int x, int y, Inside inside) {
  int hits = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) hits += inside(x + (i + 0.5) / 3, y + (j + 0.5) / 3);
  return hits / 9.0;
}

/// Random values on a lattice, smooth in between, 0 .. 1.
class Noise {
 public:
  Noise(int cells, Stream& random) : cells_(cells), values_((cells + 2) * (cells + 2)) {
    for (double& value : values_) value = random.uniform();
  }
  /// x and y in 0 .. 1.
  double at(double x, double y) const {
    const double u = x * cells_, v = y * cells_;
    const int i = int(u), j = int(v);
    const double s = smooth(u - i), t = smooth(v - j);
    const double above = value(i, j) + (value(i + 1, j) - value(i, j)) * s;
    const double below = value(i, j + 1) + (value(i + 1, j + 1) - value(i, j + 1)) * s;
    return above + (below - above) * t;
  }

 private:
  static double smooth(double t) { return t * t * (3 - 2 * t); }
  double value(int i, int j) const { return values_[std::size_t(j) * (cells_ + 2) + i]; }
  int cells_;
  std::vector<double> values_;
};

/// A gradient, stripes or clouds between two colors of similar brightness around `base`.
void paint_background(Canvas& canvas, const Color& base, Stream& random) {
  Color other = base;
  for (double& value : other.value) value = std::clamp(value + random.uniform(-45, 45), 0.0, 255.0);
  const auto kind = random.below(3);
  const Direction along = any_direction(random);
  const Noise clouds(3 + int(random.below(6)), random);
  const double period = random.uniform(0.08, 0.3);
  for (int y = 0; y < canvas.size(); ++y)
    for (int x = 0; x < canvas.size(); ++x) {
      const double u = (x + 0.5) / canvas.size(), v = (y + 0.5) / canvas.size();
      const double place = 0.5 + 0.7 * ((u - 0.5) * along.x + (v - 0.5) * along.y);
      double share = std::clamp(place, 0.0, 1.0);
      if (kind == 1) share = std::fmod(place + 1, period) < period / 2 ? 1 : 0;
      if (kind == 2) share = clouds.at(u, v);
      canvas.at(x, y) = blend(base, other, share);
    }
}

void paint_blob(Canvas& canvas, const Color& color, Stream& random) {
  const double size = canvas.size();
  const double radius = random.uniform(0.012, 0.045) * size;
  const double center_x = random.uniform() * size, center_y = random.uniform() * size;
  const auto inside = [&](double x, double y) {
    return (x - center_x) * (x - center_x) + (y - center_y) * (y - center_y) < radius * radius;
  };
  canvas.paint(
      center_x, center_y, radius, [&](int x, int y) { return coverage(x, y, inside); },
      [&](int, int) { return color; });
}

void paint_stroke(Canvas& canvas, const Color& color, Stream& random) {
  const double size = canvas.size();
  const double half = random.uniform(0.1, 0.4) * size, thick = random.uniform(0.006, 0.018) * size;
  const double center_x = random.uniform() * size, center_y = random.uniform() * size;
  const Direction along = any_direction(random);
  const auto inside = [&](double x, double y) {
    const double dx = x - center_x, dy = y - center_y;
    return std::abs(dx * along.x + dy * along.y) < half &&
           std::abs(dy * along.x - dx * along.y) < thick;
  };
  canvas.paint(
      center_x, center_y, half + thick, [&](int x, int y) { return coverage(x, y, inside); },
      [&](int, int) { return color; });
}

void paint_clutter(Canvas& canvas, int count, Stream& random) {
  for (int i = 0; i < count; ++i) {
    const Color color = any_color(random);
    if (random.below(2) == 0)
      paint_blob(canvas, color, random);
    else
      paint_stroke(canvas, color, random);
  }
}

/// Any place and turn, a size and a little squeeze.
ShapePose any_pose(double size, double least, double most, Stream& random) {
  ShapePose pose;
  pose.radius = random.uniform(least, most) * size;
  pose.x = random.uniform(pose.radius, size - pose.radius);
  pose.y = random.uniform(pose.radius, size - pose.radius);
  pose.squeeze = random.uniform(0.82, 1.0);
  const auto turn = any_direction(random);
  pose.turn_x = turn.x;
  pose.turn_y = turn.y;
  return pose;
}

/// How much of a pixel a shape covers.
double shape_coverage(int shape, const ShapePose& pose, int x, int y) {
  return coverage(x, y, [&](double at_x, double at_y) {
    const double dx = (at_x - pose.x) / pose.radius, dy = (at_y - pose.y) / pose.radius;
    return inside_shape(shape, dx * pose.turn_x + dy * pose.turn_y,
                        (dy * pose.turn_x - dx * pose.turn_y) / pose.squeeze);
  });
}

/// The fill is shaded from one color to another.
void paint_shape(Canvas& canvas, int shape, const ShapePose& pose, const Color& color,
                 Stream& random) {
  const Direction shade = any_direction(random);
  Color other = color;
  for (double& value : other.value) value = std::clamp(value + random.uniform(-30, 30), 0.0, 255.0);
  const auto paint = [&](int x, int y) {
    const double along = ((x - pose.x) * shade.x + (y - pose.y) * shade.y) / pose.radius;
    return blend(color, other, std::clamp(0.5 + 0.5 * along, 0.0, 1.0));
  };
  canvas.paint(
      pose.x, pose.y, pose.radius, [&](int x, int y) { return shape_coverage(shape, pose, x, y); },
      paint);
}

Image to_image(Canvas& canvas, Stream& random) {
  Image image;
  image.width = image.height = canvas.size();
  image.bytes.reserve(image.values());
  const double grain = random.uniform(2, 14);
  for (int y = 0; y < canvas.size(); ++y)
    for (int x = 0; x < canvas.size(); ++x)
      for (double value : canvas.at(x, y).value) {
        const std::uint32_t word = random.word();
        const double noise = (double(word >> 16) + double(word & 0xFFFF)) / 65536 - 1;
        image.bytes.push_back(
            static_cast<std::uint8_t>(std::clamp(value + grain * noise + 0.5, 0.0, 255.0)));
      }
  return image;
}

}  // namespace

Image draw_shape(int shape, int size, Stream& random) {
  Canvas canvas(size);
  const Color ground = any_color(random);
  paint_background(canvas, ground, random);
  paint_clutter(canvas, 3 + int(random.below(5)), random);
  const Color color = contrasting(ground, random);
  const auto pose = any_pose(size, 0.24, 0.42, random);
  paint_shape(canvas, shape, pose, color, random);
  paint_clutter(canvas, int(random.below(3)), random);
  return to_image(canvas, random);
}

Scene draw_scene(const std::vector<int>& shapes, int size, Stream& random) {
  Canvas canvas(size);
  const Color ground = any_color(random);
  paint_background(canvas, ground, random);
  paint_clutter(canvas, 2 + int(random.below(3)), random);
  Scene scene;
  scene.covered.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Color color = contrasting(ground, random);
    const auto pose = any_pose(size, 0.16, 0.3, random);
    paint_shape(canvas, shapes[i], pose, color, random);
    scene.poses.push_back(pose);
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        scene.covered[i].push_back(shape_coverage(shapes[i], pose, x, y));
  }
  scene.image = to_image(canvas, random);
  return scene;
}

}  // namespace ddptrain
