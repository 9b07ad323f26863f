#include "train/build/image_device.h"

#include "accelerator/accelerator.h"
#include "distributed/world.h"
#include "train/training_plan.h"

namespace ddptrain {
namespace {

JpegDecoder jpeg_decoder_of(const Placement& placement, int local_rank) {
  const auto& devices = accelerator(placement.device);
  const int device = placement.on_cpu() ? 0 : static_cast<int>(placement.id(local_rank));
  const auto decode = devices.jpeg_decoder(device);
  return [decode](const EncodedImage& file, ImageSize size, int channels, std::uint8_t* pixels) {
    return decode({file.bytes, size.width, size.height, channels, pixels});
  };
}

}  // namespace

ImageDevice image_device(const TrainingPlan& plan, const World& world) {
  ImageDevice device{.takes_bytes = !plan.placement.on_cpu()};
  if (plan.trains)
    device.jpeg_decoder = [&placement = plan.placement, rank = world.local_rank] {
      return jpeg_decoder_of(placement, rank);
    };
  return device;
}

}  // namespace ddptrain
