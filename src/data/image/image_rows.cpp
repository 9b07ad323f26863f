#include "data/image/image_rows.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/error.h"
#include "base/output/log.h"

namespace ddptrain {
namespace {

AugmentKey key_of(const Draw& draw) { return {draw.seed, draw.epoch, draw.position}; }

PipelineOptions reading(PipelineOptions options, const DataContext& context) {
  options.channels_last = context.channels_last;
  return options;
}

/// A row of a tensor whose rows are blocks of memory.
template <class T>
T* row_in(const at::Tensor& tensor, std::int64_t row) {
  return tensor.mutable_data_ptr<T>() + row * tensor.stride(0);
}

// A row of either layout is one block of memory.
PixelRow row_of(const Batch& batch, std::int64_t row) {
  const auto& input = batch.inputs[0];
  if (input.scalar_type() == at::kFloat) return row_in<float>(input, row);
  const bool boxes = batch.inputs.size() > 1;
  return {row_in<std::uint8_t>(input, row),
          boxes ? row_in<std::int32_t>(batch.inputs[1], row) : nullptr};
}

std::shared_ptr<const PixelScale> scale_of(const ByteEnding& ending, int channels) {
  auto made = std::make_shared<PixelScale>();
  made->factor.assign(ending.scale.factor.begin(), ending.scale.factor.begin() + channels);
  made->offset.assign(ending.scale.offset.begin(), ending.scale.offset.begin() + channels);
  made->fill = ending.fill;
  return made;
}

}  // namespace

ImageRows::ImageRows(const TransformLists& lists, const PipelineOptions& options,
                     const DataContext& context, const Source& source)
    : channels_last_(context.channels_last),
      as_bytes_(context.device.takes_bytes),
      skip_bad_(context.skip_bad_samples),
      sides_{make_side(lists.train, reading(options, context), Split::train, source),
             make_side(lists.valid, reading(options, context), Split::valid, source)} {
  add_stages(lists, reading(options, context), context, source);
}

void ImageRows::add_stages(const TransformLists& lists, const PipelineOptions& options,
                           const DataContext& context, const Source& source) {
  const auto ends = stage_ends(lists.progressive, context.epochs);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto wanted = lists.progressive[i].size;
    const auto steps = resized(lists.train, extent(Split::train), wanted);
    stages_.push_back({ends[i], make_side(steps, options, Split::train, source)});
    const auto& found = stages_.back().side.extent;
    if (std::min(found.height, found.width) != wanted)
      throw Error(Exit::recipe, Option{"data.transforms.progressive"},
                  "size {} cannot be reached by scaling sizes in data.transforms.train; images "
                  "would be {} x {}",
                  wanted, found.height, found.width);
  }
}

const ImageRows::Side& ImageRows::train_side(std::int64_t epoch) const {
  for (const auto& stage : stages_)
    if (epoch < stage.end) return stage.side;
  return of(Split::train);
}

const ImageRows::Side& ImageRows::of(Split split, const Draw& draw) const {
  if (draw.augment) return of(Split::train);
  if (draw.plain) return of(Split::valid);
  return split == Split::train ? train_side(draw.epoch) : of(split);
}

std::vector<std::int64_t> ImageRows::changes_of_shape() const {
  if (stages_.empty()) return {};
  std::vector<std::int64_t> begins{0};
  for (const auto& stage : stages_) begins.push_back(stage.end);
  return begins;
}

ImageRows::Side ImageRows::make_side(const std::vector<Choice<Transform>>& steps,
                                     PipelineOptions options, Split split,
                                     const Source& source) const {
  if (split == Split::valid) options.mode = DecodeMode::exact;
  Pipeline pipeline(steps, options);
  auto extent = pipeline.output();
  if (!extent.fixed()) extent = pipeline.output(source(split));
  Side made{std::move(pipeline), extent};
  if (!as_bytes_) return made;
  const auto ending = made.pipeline.byte_ending(extent.channels);
  if (!ending) return made;
  made.scale = scale_of(*ending, extent.channels);
  made.boxes = ending->boxes;
  return made;
}

Batch ImageRows::allocate(Split split, std::int64_t rows) const {
  return allocate(of(split), rows);
}

Batch ImageRows::allocate_train(std::int64_t epoch, std::int64_t rows) const {
  return allocate(train_side(epoch), rows);
}

Batch ImageRows::allocate(const Side& side, std::int64_t rows) const {
  const auto format =
      channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const auto& size = side.extent;
  const auto options = at::TensorOptions(side.scale ? at::kByte : at::kFloat);
  Batch batch;
  batch.rows = rows;
  batch.pixels = side.scale;
  batch.inputs.push_back(
      at::empty({rows, size.channels, size.height, size.width}, options.memory_format(format)));
  if (side.boxes > 0) batch.inputs.push_back(at::empty({rows, side.boxes, 4}, at::kInt));
  batch.targets.push_back(at::empty({rows}, at::kLong));
  return batch;
}

bool ImageRows::load(Split split, SourceImage& source, const Draw& draw, const BatchRow& into,
                     Image* targets) const {
  const auto& side = of(split, draw);
  return guarded([&] {
    side.pipeline.load(source, key_of(draw), side.extent, row_of(into.batch, into.row), targets);
  });
}

bool ImageRows::load(Split split, NamedImage&& source, const Draw& draw,
                     const BatchRow& into) const {
  const auto& side = of(split, draw);
  return guarded([&] {
    side.pipeline.load(std::move(source.image), source.name, key_of(draw), side.extent,
                       row_of(into.batch, into.row));
  });
}

Image ImageRows::image(Split split, const Batch& batch, std::int64_t row) const {
  std::vector<at::Tensor> inputs;
  for (const auto& input : batch.inputs) inputs.push_back(input.narrow(0, row, 1));
  if (batch.pixels) inputs = finished_pixels(inputs, *batch.pixels, at::kFloat);
  const auto values = inputs[0][0].contiguous();
  const auto& side = of(split);
  return side.pipeline.shown(values.const_data_ptr<float>(), side.extent);
}

bool ImageRows::guarded(const std::function<void()>& read) const {
  try {
    read();
    return true;
  } catch (const Error& error) {
    if (!skip_bad_ || error.code() != Exit::data) throw;
    log::warning(std::string("left out: ") + error.what());
    return false;
  }
}

}  // namespace ddptrain
