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

}  // namespace

ImageRows::ImageRows(const TransformLists& lists, const PipelineOptions& options,
                     const DataContext& context, const Source& source)
    : channels_last_(context.channels_last),
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
                  "size " + std::to_string(wanted) +
                      " cannot be had by scaling sizes in data.transforms.train; "
                      "images would be " +
                      std::to_string(found.height) + " x " + std::to_string(found.width));
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
                                     PipelineOptions options, Split split, const Source& source) {
  if (split == Split::valid) options.mode = DecodeMode::exact;
  Pipeline pipeline(steps, options);
  auto extent = pipeline.output();
  if (!extent.fixed()) extent = pipeline.output(source(split));
  return {std::move(pipeline), extent};
}

Batch ImageRows::allocate(Split split, std::int64_t rows) const {
  return allocate(extent(split), rows);
}

Batch ImageRows::allocate_train(std::int64_t epoch, std::int64_t rows) const {
  return allocate(train_side(epoch).extent, rows);
}

Batch ImageRows::allocate(const Extent& size, std::int64_t rows) const {
  const auto format =
      channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  Batch batch;
  batch.rows = rows;
  batch.inputs.push_back(at::empty({rows, size.channels, size.height, size.width},
                                   at::TensorOptions(at::kFloat).memory_format(format)));
  batch.targets.push_back(at::empty({rows}, at::kLong));
  return batch;
}

// A row of either layout is one block of memory.
float* ImageRows::row_of(Batch& batch, std::int64_t row) const {
  auto& input = batch.inputs[0];
  return input.mutable_data_ptr<float>() + row * input.stride(0);
}

bool ImageRows::load(Split split, const EncodedImage& file, const Draw& draw, Batch& batch,
                     std::int64_t row) const {
  const auto& side = of(split, draw);
  return guarded([&] { side.pipeline.load(file, key_of(draw), side.extent, row_of(batch, row)); });
}

bool ImageRows::load(Split split, Image&& image, std::string_view name, const Draw& draw,
                     Batch& batch, std::int64_t row) const {
  const auto& side = of(split, draw);
  return guarded([&] {
    side.pipeline.load(std::move(image), name, key_of(draw), side.extent, row_of(batch, row));
  });
}

Image ImageRows::image(Split split, const Batch& batch, std::int64_t row) const {
  const auto values = batch.inputs[0][row].contiguous();
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
