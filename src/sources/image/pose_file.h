// The text files of the Biwi Kinect Head Pose Database (Fanelli et al., 2013).
#pragma once

#include <array>
#include <string>

#include "transforms/image.h"

namespace ddptrain {

class FileSystem;

/// The first three rows of rgb.cal: the camera's matrix, row after row.
using Calibration = std::array<double, 9>;

/// Errors (Exit::data) of both name the file: it cannot be read, or does not begin with so many
/// numbers.
Calibration read_calibration(const FileSystem& files, const std::string& path);

/// The center of the head in pixels of the image: of the turn (three rows of three numbers) and the
/// place (three numbers) in a file *_pose.txt, the place seen by the camera as
/// x * fx / z + cx, y * fy / z + cy.
ImagePoint head_center(const FileSystem& files, const std::string& pose_path,
                       const Calibration& calibration);

}  // namespace ddptrain
