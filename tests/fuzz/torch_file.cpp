// A .pth file as a whole: zip directory, pickle, calls, views, and the bytes of every storage.
#include "base/error.h"
#include "checkpoint/pytorch/pickle.h"
#include "checkpoint/pytorch/state_dict.h"
#include "checkpoint/pytorch/zip_file.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

void check(const SavedTensor& tensor, const SavedStorage& storage) {
  std::int64_t last = tensor.offset;
  bool empty = false;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    empty = empty || tensor.sizes[d] == 0;
    last += (tensor.sizes[d] - 1) * tensor.strides[d];
  }
  fuzz::claim(empty || (0 <= last && last < storage.elements), "views stay in their storage");
}

void read(const InputFile& file) {
  const ZipFile zip(file);
  if (!zip.contains("data.pkl")) return;
  const auto text = zip.read("data.pkl");
  std::size_t used = 0;
  const auto pickle =
      read_pickle({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "x", used);
  fuzz::claim(dangerous_calls(pickle).size() <= 10, "few calls are named");
  const auto state = read_state_dict(pickle, "x");
  for (const auto& [name, index] : state.names)
    fuzz::claim(index < state.tensors.size(), "names are those of tensors");
  for (const auto& tensor : state.tensors) check(tensor, state.storages.at(tensor.storage));
  for (const auto& storage : state.storages)
    if (const auto entry = "data/" + storage.key; zip.contains(entry))
      fuzz::claim(zip.read(entry).size() == zip.size(entry), "an entry has its size");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile input(fuzz::text_of(data, size));
  try {
    read(InputFile(input.path()));
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
  }
  return 0;
}
