// libcudnn.
#pragma GCC visibility push(default)
#include <cudnn.h>
#pragma GCC visibility pop

extern "C" {
size_t cudnnGetVersion() { return CUDNN_VERSION; }
size_t cudnnGetCudartVersion() { return 13000; }
}
