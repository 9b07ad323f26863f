// The same with LibTorch's own allocator, streams and events between.
//   torch_faults NAME
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <functional>
#include <map>
#include <string>

namespace {

at::Tensor batch() { return at::ones({1024}).pin_memory(); }

at::Tensor copied_on(const c10::cuda::CUDAStream& stream, const at::Tensor& host) {
  const c10::cuda::CUDAStreamGuard guard(stream);
  return host.to(at::kCUDA, /*non_blocking=*/true);
}

// As a batch that is copied ahead and handed over.
void hand_over(bool waits, bool records) {
  const auto copies = c10::cuda::getStreamFromPool(), work = c10::cuda::getCurrentCUDAStream();
  const auto host = batch(), to = at::zeros({1024}, at::kCUDA);
  auto data = copied_on(copies, host);
  c10::Event event(at::kCUDA);
  event.record(copies.unwrap());
  if (waits) event.block(work.unwrap());
  if (records) data.record_stream(work.unwrap());
  to.copy_(data);
  data.reset();  // its memory is the copying stream's again
  copied_on(copies, host);
}

const std::map<std::string, std::function<void()>>& all() {
  static const std::map<std::string, std::function<void()>> faults{
      {"right", [] { hand_over(true, true); }},
      {"missing_wait", [] { hand_over(false, true); }},
      {"missing_record_stream", [] { hand_over(true, false); }}};
  return faults;
}

}  // namespace

int main(int, char** arguments) {
  all().at(arguments[1])();
  c10::cuda::getCurrentCUDAStream().synchronize();
  return 0;
}
