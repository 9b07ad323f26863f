#include "sources/synthetic/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "base/error.h"
#include "base/files/files.h"
#include "sources/synthetic/shapes_image.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Shapes : public testing::Test {
 protected:
  Shapes() : folder_(fs::path(testing::TempDir()) / ("shapes-" + std::to_string(getpid()))) {}
  ~Shapes() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

constexpr ShapesOptions few{.seed = 3, .train = 2, .val = 1, .size = 48};

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".jpg") files.push_back(fs::relative(entry.path(), folder));
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(Shapes, MakesAFolderPerClassOfReadableImages) {
  EXPECT_TRUE(make_shapes(at("a"), few));
  const auto files = files_of(at("a"));
  EXPECT_EQ(files.size(), 10U * 3);
  EXPECT_EQ(files.front(), "train/arrow/0000.jpg");
  const std::string bytes = read_text(at("a/val/heart/0000.jpg"));
  const EncodedImage file{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "a"};
  EXPECT_EQ(image_size(file), (ImageSize{48, 48}));
}

TEST_F(Shapes, AreNotThereWhereTheDiskIsFull) {
  rlimit whole{};
  ::getrlimit(RLIMIT_FSIZE, &whole);
  const rlimit none{0, whole.rlim_max};
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  std::string message;
  ::setrlimit(RLIMIT_FSIZE, &none);
  try {
    make_shapes(at("a"), few);
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &whole);
  ::signal(SIGXFSZ, before);
  EXPECT_THAT(message, testing::StartsWith("cannot write '" + folder_.string()));
  EXPECT_THAT(message, testing::EndsWith("0000.jpg': is the disk full?"));
  EXPECT_FALSE(fs::exists(at("a")));
}

TEST_F(Shapes, TheSameSeedGivesTheSameBytes) {
  make_shapes(at("a"), few);
  make_shapes(at("b"), few);
  make_shapes(at("c"), {.seed = 4, .train = 2, .val = 1, .size = 48});
  int same = 0;
  for (const auto& file : files_of(at("a"))) {
    EXPECT_EQ(read_text(at("a/" + file)), read_text(at("b/" + file)));
    same += read_text(at("a/" + file)) == read_text(at("c/" + file));
  }
  EXPECT_EQ(same, 0);
}

TEST_F(Shapes, ASecondCallDoesNothing) {
  EXPECT_TRUE(make_shapes(at("a/"), few));
  const auto written = fs::last_write_time(at("a/train/arrow/0000.jpg"));
  EXPECT_FALSE(make_shapes(at("a"), few));
  EXPECT_EQ(fs::last_write_time(at("a/train/arrow/0000.jpg")), written);
}

TEST_F(Shapes, RefusesAFolderOfSomethingElse) {
  fs::create_directories(at("mine"));
  std::ofstream(at("mine/notes.txt")) << "mine";
  EXPECT_THROW(make_shapes(at("mine"), few), Error);
  EXPECT_TRUE(fs::exists(at("mine/notes.txt")));
  make_shapes(at("a"), few);
  EXPECT_THROW(make_shapes(at("a"), {}), Error);
}

double area(int shape) {
  int hits = 0;
  constexpr int n = 1000;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      hits += inside_shape(shape, (x + 0.5) / n * 2 - 1, (y + 0.5) / n * 2 - 1);
  return 4.0 * hits / (n * n);
}

int index_of(std::string_view name) {
  return int(std::find(shape_names.begin(), shape_names.end(), name) - shape_names.begin());
}

TEST(ShapeOutline, AreasAreThoseOfGeometry) {
  const double pi = std::numbers::pi;
  EXPECT_NEAR(area(index_of("circle")), pi * 0.85 * 0.85, 0.01);
  EXPECT_NEAR(area(index_of("ring")), pi * (0.92 * 0.92 - 0.58 * 0.58), 0.01);
  EXPECT_NEAR(area(index_of("square")), 1.4 * 1.4, 0.01);
  EXPECT_NEAR(area(index_of("cross")), 4 * 0.27 * 0.92 * 2 - 4 * 0.27 * 0.27, 0.01);
  EXPECT_NEAR(area(index_of("triangle")), 0.8227 * 1.425, 0.01);
  EXPECT_NEAR(area(index_of("hexagon")), 2 * std::sqrt(3) * 0.78 * 0.78, 0.01);
}

TEST(ShapeOutline, LiesWithinTheUnitCircle) {
  for (int shape = 0; shape < int(shape_names.size()); ++shape)
    for (int y = -120; y <= 120; ++y)
      for (int x = -120; x <= 120; ++x)
        EXPECT_FALSE(x * x + y * y > 102 * 102 && inside_shape(shape, x / 100.0, y / 100.0))
            << shape_names[shape];
}

}  // namespace
}  // namespace ddptrain
