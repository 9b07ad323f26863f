// The program's malloc is jemalloc. It keeps what a step has freed for the next one: glibc hands
// activations back to the kernel and faults them in again, which costs convolutional nets on the
// CPU 1.2 to 1.6 times their speed (bench/step), and configured to keep them it holds twice what is
// in use. MALLOC_CONF in the environment goes before these settings.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0";
}
