#include "sources/image/pose_file.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "sources/files/file_system.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestPose = 1 << 16;  // bytes

/// The first numbers of a text, apart by blanks and line breaks.
std::vector<double> numbers_in(const FileSystem& files, const std::string& path,
                               std::size_t wanted) {
  const auto text = read_text(files, path, kLongestPose);
  const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
  std::vector<double> numbers;
  for (auto at = text.begin(); numbers.size() < wanted;) {
    at = std::find_if_not(at, text.end(), is_blank);
    const auto end = std::find_if(at, text.end(), is_blank);
    const std::string word(at, end);
    const auto number = parse_number(word);
    if (!number)
      throw Error(Exit::data, "'{}' begins with {} numbers{}; {} are wanted", path, numbers.size(),
                  word.empty() ? "" : ", then '" + shown(word, 40) + "'", wanted);
    numbers.push_back(*number);
    at = end;
  }
  return numbers;
}

}  // namespace

Calibration read_calibration(const FileSystem& files, const std::string& path) {
  Calibration calibration;
  const auto numbers = numbers_in(files, path, calibration.size());
  std::copy(numbers.begin(), numbers.end(), calibration.begin());
  return calibration;
}

ImagePoint head_center(const FileSystem& files, const std::string& pose_path,
                       const Calibration& calibration) {
  const auto numbers = numbers_in(files, pose_path, 12);
  const double x = numbers[9], y = numbers[10], z = numbers[11];
  if (z <= 0)
    throw Error(Exit::data, "'{}': the head is {} mm in front of the camera", pose_path,
                format_number(z));
  return {x * calibration[0] / z + calibration[2], y * calibration[4] / z + calibration[5]};
}

}  // namespace ddptrain
