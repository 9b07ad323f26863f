#include "sources/image/pose_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "sources/files/file_system.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

// rgb.cal and the first pose of the database, as its files are laid out.
constexpr const char* kCalibration =
    "517.679 0 320 \n0 517.679 240.5 \n0 0 1 \n\n0 0 0 0 \n\n"
    "0.999947 0.00432361 0.00929419 \n-0.00446314 0.999877 0.0150443 \n";
constexpr const char* kPose =
    "0.988397 -0.0273304 0.149410 \n0.0402364 0.995678 -0.0840471 \n-0.146467 0.0890835 "
    "0.985196 \n\n62.3638 96.2159 899.134 \n";

template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

// x * fx / z + cx: fastai's get_ctr.
TEST(PoseFile, GivesTheMiddleOfTheHeadInPixels) {
  const TemporaryFolder folder;
  const auto camera = read_calibration(local_files(), folder.write("rgb.cal", kCalibration));
  const auto center = head_center(local_files(), folder.write("a_pose.txt", kPose), camera);
  EXPECT_NEAR(center.x, 62.3638 * 517.679 / 899.134 + 320, 1e-9);
  EXPECT_NEAR(center.y, 96.2159 * 517.679 / 899.134 + 240.5, 1e-9);
}

TEST(PoseFile, IsNamedWhereItCannotBeRead) {
  const TemporaryFolder folder;
  const Calibration camera{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const auto refusal = [&](const char* text) {
    const auto path = folder.write("p.txt", text);
    return refusal_of([&] { head_center(local_files(), path, camera); });
  };
  const auto file = "'" + (folder / "p.txt") + "'";
  EXPECT_EQ(refusal("1 2 3\n4 five 6\n"),
            file + " begins with 4 numbers, then 'five'; 12 are wanted");
  EXPECT_EQ(refusal("1 2 3\n"), file + " begins with 3 numbers; 12 are wanted");
  EXPECT_EQ(refusal("1 0 0 0 1 0 0 0 1 5 5 0"), file + ": the head is 0 mm in front of the camera");
  EXPECT_NE(
      refusal_of([&] { read_calibration(local_files(), folder / "none"); }).find(folder / "none"),
      std::string::npos);
}

}  // namespace
}  // namespace ddptrain
