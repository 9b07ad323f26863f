// libnccl: collectives as a log of calls in order, a file for each process. Nothing travels between
// processes: a collective ends when its stream reaches it.
#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include "cuda_stand_in/core/report.h"
#include "cuda_stand_in/runtime/launches.h"

namespace {

using ddptrain::stand_in::reads;
using ddptrain::stand_in::writes;

struct Communicator {
  std::string name;  // the same on all its ranks, and that of no other
  int rank, ranks;
};

Communicator& of(ncclComm_t handle) { return *reinterpret_cast<Communicator*>(handle); }

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

struct Collective {
  const char* name;
  std::size_t count;
  ncclDataType_t type;
  int root = -1;
};

ncclResult_t enqueue(const Collective& what, ncclComm_t handle, cudaStream_t stream,
                     std::vector<ddptrain::stand_in::MemoryAccess> accesses) {
  const auto& group = of(handle);
  ddptrain::stand_in::count(ddptrain::stand_in::Count::collectives);
  ddptrain::stand_in::add_line(
      "collectives", std::string(what.name) + " of group " + group.name + " of " +
                         std::to_string(group.ranks) + " ranks, " + std::to_string(what.count) +
                         " numbers of type " + std::to_string(what.type) +
                         (what.root < 0 ? "" : ", root " + std::to_string(what.root)));
  ddptrain::stand_in::library_kernel(what.name, stream, std::move(accesses));
  return ncclSuccess;
}

/// The process of rank 0, and its number there.
std::string new_name() {
  static std::atomic<int> made{0};
  return std::to_string(::getpid()) + "." + std::to_string(++made);
}

ncclResult_t make(ncclComm_t* to, int ranks, const std::string& name, int rank) {
  *to = reinterpret_cast<ncclComm_t>(new Communicator{name, rank, ranks});
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 0, sizeof *id);
  const auto name = new_name();
  std::memcpy(id->internal, name.data(), name.size());
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* to, int ranks, ncclUniqueId id, int rank) {
  return make(to, ranks, id.internal, rank);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* to, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t*) {
  return make(to, ranks, id.internal, rank);
}
ncclResult_t ncclCommInitAll(ncclComm_t* to, int ranks, const int*) {
  const auto name = new_name();
  for (int rank = 0; rank < ranks; ++rank) make(to + rank, ranks, name, rank);
  return ncclSuccess;
}
// Which ranks are in the part is known to all of them together alone.
ncclResult_t ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*) {
  return ncclInvalidUsage;
}
ncclResult_t ncclCommDestroy(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t group, int* count) {
  *count = of(group).ranks;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t group, int* rank) {
  *rank = of(group).rank;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "an error of the stand-in for NCCL"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t group, cudaStream_t stream) {
  const auto bytes = count * bytes_of(type);
  return enqueue({"ncclAllReduce", count, type}, group, stream,
                 {reads(from, bytes), writes(to, bytes)});
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t group, cudaStream_t stream) {
  const auto bytes = count * bytes_of(type);
  const auto source = of(group).rank == root ? bytes : 0;
  return enqueue({"ncclBroadcast", count, type, root}, group, stream,
                 {reads(from, source), writes(to, bytes)});
}
ncclResult_t ncclBcast(void* to, size_t count, ncclDataType_t type, int root, ncclComm_t group,
                       cudaStream_t stream) {
  return ncclBroadcast(to, to, count, type, root, group, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t,
                        int root, ncclComm_t group, cudaStream_t stream) {
  const auto bytes = count * bytes_of(type);
  return enqueue({"ncclReduce", count, type, root}, group, stream,
                 {reads(from, bytes), writes(to, of(group).rank == root ? bytes : 0)});
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t group, cudaStream_t stream) {
  const auto bytes = count * bytes_of(type);
  const auto ranks = static_cast<std::size_t>(of(group).ranks);
  return enqueue({"ncclAllGather", count, type}, group, stream,
                 {reads(from, bytes), writes(to, bytes * ranks)});
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t group, cudaStream_t stream) {
  const auto bytes = count * bytes_of(type);
  const auto ranks = static_cast<std::size_t>(of(group).ranks);
  return enqueue({"ncclReduceScatter", count, type}, group, stream,
                 {reads(from, bytes * ranks), writes(to, bytes)});
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t group, cudaStream_t stream) {
  return enqueue({"ncclSend", count, type, peer}, group, stream,
                 {reads(from, count * bytes_of(type))});
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t group,
                      cudaStream_t stream) {
  return enqueue({"ncclRecv", count, type, peer}, group, stream,
                 {writes(to, count * bytes_of(type))});
}
}
