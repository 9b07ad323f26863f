# Imported targets for the LibTorch inside PyPI's torch wheel, which scripts/setup unpacks. Not find_package(Torch): it
# demands nvcc, and links every GPU library into the executable.
#   TORCH                                its version, one of scripts/libtorch/; default below
#   LIBTORCH (variable or environment)   a torch folder with lib/ and include/: site-packages/torch, or an unpacked wheel
#   DDPTRAIN_DEPS (environment)          where scripts/setup keeps it; default ~/.cache/ddptrain
#   LIBTORCH=OFF                         builds the program without its engine, libddptrain_engine.so
set(DDPTRAIN_TORCH_DEFAULT 2.11.0)
set(TORCH "" CACHE STRING "The version of LibTorch to build with; empty: ${DDPTRAIN_TORCH_DEFAULT}")
if(TORCH)
  set(DDPTRAIN_TORCH_VERSION ${TORCH} CACHE INTERNAL "")
else()
  set(DDPTRAIN_TORCH_VERSION ${DDPTRAIN_TORCH_DEFAULT} CACHE INTERNAL "")
endif()

if(DEFINED LIBTORCH AND NOT LIBTORCH)
  return()
endif()
if(LIBTORCH AND LIBTORCH STREQUAL "${DDPTRAIN_OWN_LIBTORCH}")  # of scripts/setup: another version may be meant now
  unset(LIBTORCH)
  unset(LIBTORCH CACHE)
endif()
if(NOT LIBTORCH AND DEFINED ENV{LIBTORCH})
  set(LIBTORCH "$ENV{LIBTORCH}")
endif()
if(NOT LIBTORCH)
  if(DEFINED ENV{DDPTRAIN_DEPS})
    set(deps "$ENV{DDPTRAIN_DEPS}")
  else()
    set(deps "$ENV{HOME}/.cache/ddptrain")
  endif()
  set(LIBTORCH "${deps}/libtorch-${DDPTRAIN_TORCH_VERSION}/torch")
  set(DDPTRAIN_OWN_LIBTORCH "${LIBTORCH}" CACHE INTERNAL "")
endif()
set(LIBTORCH "${LIBTORCH}" CACHE PATH "The torch folder to build with" FORCE)

if(NOT EXISTS "${LIBTORCH}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no LibTorch at ${LIBTORCH}: run 'make setup TORCH=${DDPTRAIN_TORCH_VERSION}', or set "
                      "LIBTORCH to a torch ${DDPTRAIN_TORCH_VERSION} folder")
endif()
file(STRINGS "${LIBTORCH}/version.py" version_line REGEX "^__version__")
if(NOT version_line MATCHES "'${DDPTRAIN_TORCH_VERSION}")
  message(FATAL_ERROR "LibTorch at ${LIBTORCH} is not version ${DDPTRAIN_TORCH_VERSION}: ${version_line}")
endif()

add_compile_options(-fmacro-prefix-map=${LIBTORCH}/include/=)  # in the checks of its headers

function(ddptrain_torch_library name file)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${LIBTORCH}/lib/${file}"
                        IMPORTED_NO_SONAME TRUE)
  set_target_properties(${name} PROPERTIES IMPORTED_NO_SONAME FALSE)
  target_include_directories(${name} SYSTEM BEFORE INTERFACE "${LIBTORCH}/include"
                             "${LIBTORCH}/include/torch/csrc/api/include")
endfunction()

ddptrain_torch_library(torch_c10 libc10.so)
ddptrain_torch_library(torch_cpu libtorch_cpu.so)
target_link_libraries(torch_cpu INTERFACE torch_c10)
target_compile_definitions(torch_cpu INTERFACE USE_DISTRIBUTED USE_C10D_GLOO USE_RPC USE_TENSORPIPE)
# LibTorch's headers then include single operators where they would include all 2,300 (a third of a file's time).
target_compile_definitions(torch_cpu INTERFACE AT_PER_OPERATOR_HEADERS)
target_link_options(torch_cpu INTERFACE "LINKER:--disable-new-dtags")
add_library(torch_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/torch_fmt.cpp)
target_include_directories(torch_fmt SYSTEM PRIVATE "${LIBTORCH}/include")
target_link_libraries(torch_cpu INTERFACE torch_fmt)
if(EXISTS "${LIBTORCH}/lib/libtorch_cuda.so")
  ddptrain_torch_library(torch_cuda libtorch_cuda.so)
  ddptrain_torch_library(torch_c10_cuda libc10_cuda.so)
  target_link_libraries(torch_cuda INTERFACE torch_c10_cuda torch_cpu)
  target_compile_definitions(torch_cuda INTERFACE USE_C10D_NCCL)
endif()
