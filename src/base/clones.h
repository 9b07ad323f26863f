// DDPTRAIN_CLONES before a function compiles it for several x86-64 instruction sets; the loader of
// the program picks one. Left out under sanitizers, whose run time is not ready that early.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define DDPTRAIN_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define DDPTRAIN_CLONES
#endif
