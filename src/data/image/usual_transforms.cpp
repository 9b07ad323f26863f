#include "data/image/usual_transforms.h"

#include <algorithm>

#include "base/error.h"
#include "sources/files/file_system.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {
namespace {

Node step(const std::string& type, const std::string& key, const std::string& value) {
  Node made = Node::map({{"type", {}, Node::scalar(type)}});
  made.set(key, Node::scalar(value));
  return made;
}

ImageSize size_in(const FileSystem& files, const std::string& path) {
  const auto bytes = read_text(files, path);
  return image_size({{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path});
}

}  // namespace

int usual_side(int middle) { return middle <= 96 ? 64 : 128; }

Node usual_transforms(int side) {
  const auto size = std::to_string(side);
  auto crop = step("random_resized_crop", "size", size);
  crop.set("scale", Node::list({Node::scalar("0.35"), Node::scalar("1")}));
  const auto normal = step("normalize", "preset", "imagenet");
  Node lists = Node::map();
  lists.set("train", Node::list({crop, Node::scalar("horizontal_flip"), normal}));
  lists.set("valid", Node::list({step("resize", "size", std::to_string(side * 9 / 8)),
                                 step("center_crop", "size", size), normal}));
  return lists;
}

Node usual_transforms_for(const FileSystem& files, const std::vector<std::string>& paths) {
  constexpr std::size_t looked_at = 64;
  std::vector<ImageSize> sizes;
  const auto every = std::max<std::size_t>(1, paths.size() / looked_at);
  for (std::size_t i = 0; i < paths.size(); i += every) try {
      sizes.push_back(size_in(files, paths[i]));
    } catch (const Error&) {  // reported when the sample is requested
    }
  const auto other = [&](const ImageSize& size) { return size != sizes.front(); };
  if (std::none_of(sizes.begin(), sizes.end(), other)) return {};
  std::vector<int> sides;
  for (const auto& size : sizes) sides.push_back(std::min(size.width, size.height));
  std::sort(sides.begin(), sides.end());
  return usual_transforms(usual_side(sides[sides.size() / 2]));
}

}  // namespace ddptrain
