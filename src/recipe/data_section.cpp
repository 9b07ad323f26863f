#include "recipe/data_section.h"

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(Layout) {
  return kNameList<"global_batch", "contiguous", "interleaved", "round_robin", "split", "dispatch">;
}

void SourceSpec::fields(Fields& f) {
  f("url", url, {.doc = "Where to fetch the archive."});
  f("file", file, {.doc = "An archive on this machine.", .path = true});
  f("md5", md5, {.doc = "The archive's MD5 digest."});
  f("sha256", sha256, {.doc = "The archive's SHA-256 digest."});
  f("size", size,
    {.doc = "The archive's size, '98752094 B' or '1.5 GB': no more is fetched, disk space is "
            "looked at before, and another size is an error."});
}

void LoaderSpec::fields(Fields& f) {
  f("workers", workers,
    {.doc = "Loading threads per rank; 0 loads in the training thread, as auto does on the CPU for "
            "tables, whose rows are copied from memory. Otherwise auto takes train.threads.",
     .min = 0});
  f("prefetch", prefetch, {.doc = "Batches that are loaded ahead.", .min = 1, .unit = "batches"});
  f("drop_last", drop_last, {.doc = "Leave out the incomplete last global batch of an epoch."});
  f("shard", shard, {.doc = "How an epoch's order is dealt to ranks."});
  f("pad", pad,
    {.doc = "Layouts other than global_batch: repeat samples until all ranks have equally many "
            "(Accelerate's even_batches; not DistributedSampler's drop_last)."});
}

void DataSection::fields(Fields& f) {
  f("source", source, {.doc = "An archive to fetch and unpack where the data is missing."});
  f("store", store, {.doc = "How files behind an address are requested and kept."});
  f("sampler", sampler, {.doc = "In which order training samples are drawn."});
  f("mix", mix, {.doc = "Training samples become mixtures of two, as in mixup."});
  f("loader", loader, {.doc = "How batches are made."});
}

}  // namespace ddptrain
