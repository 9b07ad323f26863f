#include "sources/synthetic/scenes.h"

#include <fmt/format.h>

#include "base/files/files.h"
#include "base/text.h"
#include "sources/synthetic/draw_all.h"
#include "sources/synthetic/made_folder.h"
#include "sources/synthetic/shapes_image.h"
#include "transforms/codecs/write.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> kMaskedShapes{1, 7, 8};  // of shape_names, as scene_classes has them
constexpr int kArrow = 0;
constexpr double kTip = 0.95;  // of the arrow along its axis
constexpr std::uint8_t kPartly = 255;

std::string description_of(const char* what, const ScenesOptions& options) {
  return fmt::format("{} 1: seed {}, train {}, val {}, size {}", what, options.seed, options.train,
                     options.val, options.size);
}

Stream stream_of(const char* what, const ScenesOptions& options, int split, int index) {
  const auto key = mix(options.seed, hash_text(what));
  return Stream(key, static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
}

/// Of shapes by their place in kMaskedShapes.
Image mask_of_scene(const Scene& scene, const std::vector<std::size_t>& shapes) {
  Image mask{scene.image.width, scene.image.height, 1, {}, {}};
  mask.bytes.assign(mask.values(), 0);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t at = 0; at < mask.bytes.size(); ++at) {
      const double share = scene.covered[i][at];
      if (share > 0)
        mask.bytes[at] = share < 1 ? kPartly : static_cast<std::uint8_t>(shapes[i] + 1);
    }
  return mask;
}

void write_masked(const fs::path& folder, int split, int index, const ScenesOptions& options) {
  auto random = stream_of("masks", options, split, index);
  std::vector<std::size_t> kinds;
  std::vector<int> shapes;
  for (auto left = 1 + random.below(3); left > 0; --left) {
    kinds.push_back(random.below(kMaskedShapes.size()));
    shapes.push_back(kMaskedShapes.at(kinds.back()));
  }
  const auto scene = draw_scene(shapes, options.size, random);
  const auto name = fs::path(split == 0 ? "train" : "val") / (file_number(index) + ".png");
  write_made_file(folder / "images" / name, encode_png(scene.image));
  write_made_file(folder / "masks" / name, encode_mask_png(mask_of_scene(scene, kinds)));
}

/// A row of points.csv.
std::string write_pointed(const fs::path& folder, int split, int index,
                          const ScenesOptions& options) {
  auto random = stream_of("points", options, split, index);
  const auto scene = draw_scene({kArrow}, options.size, random);
  const auto& pose = scene.poses.front();
  const auto name =
      fmt::format("images/{}_{}.png", split == 0 ? "train" : "val", file_number(index));
  write_made_file(folder / name, encode_png(scene.image));
  std::string row = name;
  for (const double place : {pose.x, pose.y, pose.x + kTip * pose.radius * pose.turn_x,
                             pose.y + kTip * pose.radius * pose.turn_y})
    row += "," + format_fixed(place, 2);
  return row + (split == 0 ? ",train\n" : ",valid\n");
}

/// Calls write(split, index) for each image.
template <class Write>
void draw_scenes(const ScenesOptions& options, const Write& write) {
  draw_all(static_cast<std::size_t>(options.train + options.val), [&](std::size_t at) {
    const auto i = static_cast<int>(at);
    if (i < options.train)
      write(0, i);
    else
      write(1, i - options.train);
  });
}

}  // namespace

bool make_masks(const std::string& folder, const ScenesOptions& options) {
  return make_folder(
      folder, {".masks", description_of("masks", options)}, [&](const fs::path& made) {
        for (const auto* kind : {"images", "masks"})
          for (const auto* split : {"train", "val"}) make_folders((made / kind / split).string());
        draw_scenes(options, [&](int split, int i) { write_masked(made, split, i, options); });
        std::string codes;
        for (const auto name : scene_classes) codes += std::string(name) + "\n";
        write_made_file(made / "codes.txt", codes);
      });
}

bool make_points(const std::string& folder, const ScenesOptions& options) {
  return make_folder(
      folder, {".points", description_of("points", options)}, [&](const fs::path& made) {
        make_folders((made / "images").string());
        std::array<std::vector<std::string>, 2> rows{
            std::vector<std::string>(static_cast<std::size_t>(options.train)),
            std::vector<std::string>(static_cast<std::size_t>(options.val))};
        draw_scenes(options, [&](int split, int i) {
          rows.at(static_cast<std::size_t>(split)).at(static_cast<std::size_t>(i)) =
              write_pointed(made, split, i, options);
        });
        write_made_file(made / "points.csv",
                        "path,x1,y1,x2,y2,split\n" + join(rows[0], "") + join(rows[1], ""));
      });
}

}  // namespace ddptrain
