# Language, warnings, sanitizers, ccache, and how many torch files may be compiled at once.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# No fused multiply-add that the source does not ask for: the same pixels and synthetic data on every machine.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# Files of a folder are compiled several at once, which takes a third of the time: most of it goes into headers. A name of
# an unnamed namespace is therefore to be the only one in its folder. OFF: one by one, for editors, and for clang-tidy.
option(DDPTRAIN_UNITY "Compile the files of a folder in batches" ON)
set(CMAKE_UNITY_BUILD ${DDPTRAIN_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)  # src/CMakeLists.txt has that of the folders
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Its collector would go through the precompiled headers, 0.4 GB, again and again.
  add_compile_options(--param=ggc-min-heapsize=1500000)
  if(CCACHE)
    add_compile_options(-fpch-preprocess)  # ccache keeps no file with a precompiled header without it
  endif()
endif()
if(NOT DDPTRAIN_UNITY)  # nor with headers that a file does not name
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# What most files include, compiled once for all targets that are compiled alike. The first one that is named makes it; its
# definitions are those of the others, and so is its optimization, whatever their own flags say.
set(DDPTRAIN_COMMON_HEADERS <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <unordered_map> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(DDPTRAIN_TORCH_HEADERS ${DDPTRAIN_COMMON_HEADERS} <ATen/core/Tensor.h> <ATen/TensorOperators.h>
    <ATen/core/dispatch/Dispatcher.h>)
function(ddptrain_precompiled target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
    get_target_property(type ${target} TYPE)
    get_target_property(owner_type ${owner} TYPE)
    if(type STREQUAL EXECUTABLE AND NOT owner_type STREQUAL EXECUTABLE)
      target_compile_options(${target} PRIVATE -fPIC)  # as the headers are, not -fPIE
    endif()
  endif()
endfunction()

# A torch file takes up to 1.4 GB: two at once, whatever -j says.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS torch=2)

# What __FILE__ says in checks and messages: a path within the repository, no folder of one machine.
# ccache compiles with paths that begin at the build folder (CCACHE_BASEDIR).
file(RELATIVE_PATH to_sources ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=${to_sources}=)

option(DDPTRAIN_TIDY "Run clang-tidy on the torch-free folders while compiling them" OFF)
set(DDPTRAIN_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")

# Warnings are errors in our own code.
function(ddptrain_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # its guesses about strings that + makes are wrong (GCC's bug 105651)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
  endif()
  if(DDPTRAIN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DDPTRAIN_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # its guesses are wrong in instrumented code
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${DDPTRAIN_SANITIZE})
  endif()
endfunction()

# Where a library in lib/ddptrain looks for others: in the folder `path` as it is built, next to itself as it is installed,
# and in the folders BELOW. Written by hand, since CMake ends a path that it is to change with ':', the current folder.
# After its install(TARGETS); further arguments are those of install(CODE).
function(ddptrain_library_path target path)
  cmake_parse_arguments(ARG "" "" BELOW ${ARGN})
  list(JOIN ARG_BELOW ":$ORIGIN/" below)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH TRUE)
  # With room for what is written when it is installed.
  target_link_options(${target} PRIVATE "LINKER:-rpath,${path}$<$<BOOL:${below}>::$ORIGIN/${below}>")
  ddptrain_installed_path(${target} ${ARGN})
endfunction()
function(ddptrain_installed_path target)
  cmake_parse_arguments(ARG "" "" BELOW ${ARGN})
  set(search "\\\$ORIGIN")
  foreach(folder IN LISTS ARG_BELOW)
    string(APPEND search ":\\\$ORIGIN/${folder}")
  endforeach()
  install(CODE "
    file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/ddptrain/lib${target}.so\"
         NEW_RPATH \"${search}\")" ${ARG_UNPARSED_ARGUMENTS})
endfunction()
